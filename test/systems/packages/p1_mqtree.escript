#!/usr/bin/env escript
%% packages: erlang-p1-mqtree
%% Filters of topics, by a NIF with a resource.
-module(p1_mqtree_used).
-mode(compile).
main(_) ->
    T = mqtree:new(),
    [ok = mqtree:insert(T, P) || P <- [<<"a/b/c">>, <<"a/+/c">>, <<"a/#">>, <<"#">>, <<"x/+">>,
        <<"$sys/#">>]],
    [io:format("~p~n", [lists:sort(mqtree:match(T, P))]) || P <- [<<"a/b/c">>, <<"a">>, <<"x/y">>,
        <<"$sys/z">>, <<"q">>]],
    ok = mqtree:delete(T, <<"a/#">>),
    io:format("~p ~p~n", [lists:sort(mqtree:match(T, <<"a/b/c">>)), mqtree:size(T)]),
    io:format("~p~n", [mqtree:register(tree, T)]),
    io:format("~p ~p~n", [mqtree:registered(), mqtree:whereis(tree) =/= undefined]),
    mqtree:clear(T),
    io:format("~p ~p~n", [mqtree:is_empty(T), try mqtree:insert(T, nonsense) catch C:R -> {C, R} end]).
