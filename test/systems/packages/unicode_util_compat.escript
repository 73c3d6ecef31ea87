#!/usr/bin/env escript
%% packages: erlang-unicode-util-compat
%% Strings of Unicode by modules of their own.
-module(unicode_util_compat_used).
-mode(compile).
main(_) ->
    io:format("~p~n", [string_compat:to_graphemes("e\x{301}x")]),
    io:format("~p~n", [unicode_util_compat:gc([$e, 16#301, $x])]),
    io:format("~p~n", [string_compat:uppercase("straße")]),
    io:format("~p~n", [unicode_util_compat:nfd([16#e9])]).
