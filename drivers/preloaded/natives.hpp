#pragma once

/// Native functions of the modules that OTP's own machine has in itself: prim_buffer, zlib,
/// erl_tracer. Their Erlang part is OTP's. What each function answers follows those modules of OTP
/// 25 (erts/preloaded/src), which are where programs see it.
namespace vmrun::preloaded {

/// Makes them known to load_nif. Before the first process.
void register_natives();

}  // namespace vmrun::preloaded
