#pragma once

#include "vm/code/beam_file.hpp"
#include "vm/code/module.hpp"

/// From generic instructions to the machine's own. See loader.cpp; used by the code server.
namespace vmrun {

/// A module ready to be published, or nullptr and the error.
Module* build_module(const BeamFile& file, BeamError* error);

}  // namespace vmrun
