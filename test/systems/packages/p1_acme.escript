#!/usr/bin/env escript
%% packages: erlang-p1-acme
%% Certificates by ACME.
-module(p1_acme_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(p1_acme),
    io:format("~p~n", [lists:sort(p1_acme:module_info(exports))]),
    Key = p1_acme:generate_key(ec),
    io:format("~p~n", [element(1, Key)]),
    io:format("~p~n", [catch p1_acme:issue("http://127.0.0.1:1/", Key, [<<"a.example">>],
        [{timeout, 2000}])]).
