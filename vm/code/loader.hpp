// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/code/beam_file.hpp"
#include "vm/code/module.hpp"

/// Translates generic instructions to the machine's own. See loader.cpp. The code server uses it.
namespace vmrun {

/// Returns a module that is ready to be published, or nullptr and the error.
Module* build_module(const BeamFile& file, BeamError* error);

/// Adds a module whose native functions are part of the program. OTP has such modules in its
/// runtime system, which calls their on_load/0 when it starts. Here they are loaded when they are
/// first needed, so an exported on_load/0 is their on_load function, unless an attribute names
/// another. Called before the first process begins.
void add_native_module(Term name);
/// From now on the first process calls their on_load/0, as OTP's does. Called before it begins.
void forget_native_modules();

}  // namespace vmrun
