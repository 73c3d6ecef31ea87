// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Native functions of modules whose native part is linked into OTP's own machine: prim_buffer,
/// zlib, zstd, erl_tracer, prim_tty. Their Erlang part is OTP's. The functions follow those modules
/// (erts/preloaded/src, lib/kernel/src), through which programs see them.
namespace vmrun::preloaded {

/// Registers them for load_nif. Called before the first process runs.
void register_natives();

}  // namespace vmrun::preloaded
