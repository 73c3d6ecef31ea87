#pragma once

#include "vm/include/erl_nif.h"

/// One function a module: its library, as nif_init would return it.
namespace vmrun::preloaded {

ErlNifEntry* prim_buffer();
ErlNifEntry* zlib();
ErlNifEntry* erl_tracer();

}  // namespace vmrun::preloaded
