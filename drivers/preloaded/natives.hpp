// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Native functions of modules that are preloaded in OTP's own machine: prim_buffer, zlib,
/// erl_tracer. Their Erlang part is OTP's. The functions follow those modules of OTP 25
/// (erts/preloaded/src), through which programs see them.
namespace vmrun::preloaded {

/// Registers them for load_nif. Called before the first process runs.
void register_natives();

}  // namespace vmrun::preloaded
