#!/usr/bin/env escript
%% packages: erlang-odbc
%% Databases by a program behind a port, where there is none.
-module(otp_odbc_used).
-mode(compile).
main(_) ->
    ok = logger:set_primary_config(level, none),
    ok = application:start(odbc),
    io:format("~p~n", [element(1, odbc:connect("DSN=nonesuch", []))]),
    io:format("~p~n", [application:stop(odbc)]).
