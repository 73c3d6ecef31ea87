#!/usr/bin/env escript
%% packages: erlang-p1-utils
%% Queues that live in files, trees, shapers.
-module(p1_utils_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(p1_utils),
    ok = p1_queue:start("queues"),
    Q = lists:foldl(fun p1_queue:in/2, p1_queue:new(file), lists:seq(1, 100)),
    {{value, First}, Q2} = p1_queue:out(Q),
    io:format("~p ~p ~p~n", [First, p1_queue:len(Q2), lists:sum(p1_queue:to_list(Q2))]),
    T = lists:foldl(fun(N, A) -> treap:insert(N rem 17, N, x, A) end, treap:empty(), lists:seq(1, 50)),
    io:format("~p~n", [treap:to_list(T)]),
    io:format("~p~n", [p1_time_compat:unique_integer([positive]) > 0]),
    io:format("~p~n", [p1_prof:module_info(module)]).
