%% SPDX-License-Identifier: Apache-2.0
%% Byte queues of a fixed capacity, in C: see ring_buffer.c. The library is looked for in the folder that
%% NATIVE_DIR names.
-module(ring_buffer).
-export([new/1, push/2, pop/2, view/1, watch/2, alive/0]).
-nifs([new/1, push/2, pop/2, view/1, watch/2, alive/0]).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/ring_buffer", 0).

%% A ring for this many bytes; freed with the last reference to it.
new(_Capacity) -> erlang:nif_error(not_loaded).
%% {ok, BytesInRing}, or full.
push(_Ring, _Iodata) -> erlang:nif_error(not_loaded).
%% Up to Most bytes, oldest first, or empty.
pop(_Ring, _Most) -> erlang:nif_error(not_loaded).
%% The ring's memory as a binary, not copied.
view(_Ring) -> erlang:nif_error(not_loaded).
%% ok, or noproc. When Pid ends, the ring is emptied and the caller gets {ring_closed, Pid}.
watch(_Ring, _Pid) -> erlang:nif_error(not_loaded).
%% How many rings there are.
alive() -> erlang:nif_error(not_loaded).
