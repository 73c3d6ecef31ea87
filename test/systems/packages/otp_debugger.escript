#!/usr/bin/env escript
%% packages: erlang-debugger
%% Modules that are interpreted, with breakpoints.
-module(otp_debugger_used).
-mode(compile).
-export([attached/2]).
main(_) ->
    ok = file:write_file("steps.erl",
        "-module(steps).\n-export([f/1]).\nf(0) -> done;\nf(N) ->\n    M = N - 1,\n    f(M).\n"),
    {ok, steps} = compile:file("steps.erl", [debug_info]),
    {module, steps} = int:i("steps"),
    io:format("~p ~p~n", [int:interpreted(), steps:f(5)]),
    ok = int:break(steps, 5),
    Me = self(),
    int:auto_attach([break], {?MODULE, attached, [Me]}),
    spawn(fun() -> Me ! {result, steps:f(1)} end),
    receive {stopped, Pid} -> ok end,
    io:format("~p~n", [[{S, I} || {P, {steps, f, [1]}, S, I} <- int:snapshot(), P =:= Pid]]),
    ok = int:continue(Pid),
    receive {result, R} -> io:format("~p~n", [R]) end.
attached(Pid, Who) ->
    {ok, Meta} = int:attached(Pid),
    Me = self(),
    receive {Meta, {break_at, steps, 5, _}} -> Who ! {stopped, Pid} end,
    receive {Meta, _} -> Me end.
