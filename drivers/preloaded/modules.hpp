// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/include/erl_nif.h"

/// One function for each module: it returns the module's library, as nif_init would.
namespace vmrun::preloaded {

ErlNifEntry* prim_buffer();
ErlNifEntry* prim_tty();
ErlNifEntry* zlib();
ErlNifEntry* zstd();  // if the library is there
ErlNifEntry* erl_tracer();

}  // namespace vmrun::preloaded
