#!/usr/bin/env escript
%% packages: erlang-bear
%% Statistics.
-module(bear_used).
-mode(compile).
main(_) ->
    Values = [X * X rem 101 || X <- lists:seq(1, 100)],
    [io:format("~p~n", [P]) || P <- bear:get_statistics(Values)],
    io:format("~p~n", [bear:get_statistics(Values, lists:reverse(Values))]).
