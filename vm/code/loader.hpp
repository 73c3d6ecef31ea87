#pragma once

#include "vm/code/beam_file.hpp"
#include "vm/code/module.hpp"

/// From generic instructions to the machine's own. See loader.cpp; used by the code server.
namespace vmrun {

/// A module ready to be published, or nullptr and the error.
Module* build_module(const BeamFile& file, BeamError* error);

/// A module whose native functions are part of the program. OTP has such modules in its runtime
/// system, which calls their on_load/0 when it starts; here they are loaded when they are first
/// needed, so an exported on_load/0 is their on_load function, unless an attribute names another.
/// Before the first process.
void add_native_module(Term name);
/// The first process will call their on_load/0, as OTP's does. Before the first process.
void forget_native_modules();

}  // namespace vmrun
