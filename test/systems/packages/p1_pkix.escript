#!/usr/bin/env escript
%% packages: erlang-p1-pkix
%% Certificates, sorted and checked.
-module(p1_pkix_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(pkix),
    ok = file:write_file("bad.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
    {error, Why} = pkix:read_file("bad.pem"),
    io:format("~p~n~s~n", [Why, pkix:format_error(Why)]),
    io:format("~p~n", [pkix:read_file("absent.pem")]).
