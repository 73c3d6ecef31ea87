#!/usr/bin/env escript
%% packages: erlang-p1-pam
%% Authentication by a program behind a port.
-module(p1_pam_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(epam),
    io:format("~p~n", [element(1, epam:authenticate(<<"other">>, <<"nobody at all">>, <<"wrong">>))]),
    ok = logger:set_primary_config(level, none),
    io:format("~p~n", [application:stop(epam)]).
