#!/usr/bin/env escript
%% packages: erlang-reltool
%% What a release is made of.
-module(otp_reltool_used).
-mode(compile).
main(_) ->
    {ok, Server} = reltool:start_server([{config,
        {sys, [{boot_rel, "own"}, {rel, "own", "1", [kernel, stdlib, sasl]},
            {app, sasl, [{incl_cond, include}]}]}}]),
    {ok, {release, Name, _, Apps}} = reltool:get_rel(Server, "own"),
    io:format("~p ~p~n", [Name, [element(1, A) || A <- Apps]]),
    {ok, Script} = reltool:get_script(Server, "own"),
    io:format("~p ~p~n", [element(1, Script), element(2, Script)]),
    io:format("~p~n", [reltool:stop(Server)]).
