%% SPDX-License-Identifier: Apache-2.0
%% Counting primes in C, without getting in the way of others: see primes.c. The library is looked for in the
%% folder that NATIVE_DIR names.
-module(primes).
-export([yielding/1, dirty_cpu/1, dirty_io/1, here/0, there_and_back/1, on_thread/1]).
-nifs([yielding/1, dirty_cpu/1, dirty_io/1, here/0, there_and_back/1, on_thread/1]).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/primes", 0).

%% {Primes, TimesCalled}: in pieces, others run in between.
yielding(_Limit) -> erlang:nif_error(not_loaded).
%% {Primes, KindOfThread}: on a dirty scheduler.
dirty_cpu(_Limit) -> erlang:nif_error(not_loaded).
dirty_io(_Limit) -> erlang:nif_error(not_loaded).
%% The kind of thread this runs on.
here() -> erlang:nif_error(not_loaded).
%% {Primes, dirty_cpu}: decides while it runs.
there_and_back(_Limit) -> erlang:nif_error(not_loaded).
%% A reference; {Ref, other, Primes} comes as a message.
on_thread(_Limit) -> erlang:nif_error(not_loaded).
