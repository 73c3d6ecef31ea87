#!/usr/bin/env escript
%% packages: erlang-cf
%% Colours of a terminal.
-module(cf_used).
-mode(compile).
main(_) ->
    io:format("~p~n", [lists:flatten(cf:format("~!rred ~!*bbold ~p~!! plain ~ts~n", [1, "text"]))]),
    cf:print("~!gok~n").
