#!/usr/bin/env escript
%% packages: erlang-erlware-commons
%% Versions, dates, lists in parallel.
-module(erlware_commons_used).
-mode(compile).
main(_) ->
    io:format("~p~n", [[ec_semver:parse(V) || V <- ["1.2.3", "1.2.3-alpha.1+build.5", "2"]]]),
    io:format("~p~n", [[ec_semver:pes("2.6.5", V) || V <- ["2.6", "2.5.9"]]]),
    io:format("~p~n", [ec_plists:map(fun(X) -> X * X end, lists:seq(1, 20))]),
    io:format("~p~n", [ec_lists:find(fun(X) -> X > 3 end, [1, 5, 2])]),
    io:format("~p~n", [lists:flatten(ec_date:format("Y-m-d H:i:s", {{2024, 2, 29}, {13, 5, 9}}))]),
    io:format("~p~n", [ec_date:parse("2024-02-29 13:05:09")]),
    D = ec_dictionary:add(key, 1, ec_dictionary:new(ec_rbdict)),
    io:format("~p~n", [ec_dictionary:to_list(D)]).
