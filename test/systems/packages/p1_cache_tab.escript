#!/usr/bin/env escript
%% packages: erlang-p1-cache-tab
%% Caches in tables, by a NIF.
-module(p1_cache_tab_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(cache_tab),
    ok = ets_cache:new(cache, [{max_size, 100}, {life_time, infinity}]),
    io:format("~p~n", [[ets_cache:lookup(cache, N rem 5, fun() -> {ok, N * N} end)
        || N <- lists:seq(1, 10)]]),
    ok = ets_cache:delete(cache, 3),
    io:format("~p~n", [ets_cache:lookup(cache, 3)]),
    io:format("~p~n", [[{K, V} || {K, V} <- ets_cache:info(cache), K =:= max_size orelse K =:= life_time]]).
