#!/usr/bin/env escript
%% packages: erlang-base
%% Alarms, supervisors, releases.
-module(otp_sasl_used).
-mode(compile).
-behaviour(supervisor).
-export([init/1]).
main(_) ->
    ok = application:start(sasl),
    ok = logger:set_primary_config(level, none),
    alarm_handler:set_alarm({full, disk}),
    io:format("~p~n", [alarm_handler:get_alarms()]),
    {ok, Sup} = supervisor:start_link(?MODULE, []),
    io:format("~p~n", [supervisor:count_children(Sup)]),
    [{_, Pid, _, _}] = supervisor:which_children(Sup),
    Ref = monitor(process, Pid), exit(Pid, kill),
    receive {'DOWN', Ref, _, _, R} -> io:format("~p~n", [R]) end,
    io:format("~p~n", [release_handler:which_releases()]),
    io:format("~p~n", [systools_lib:module_info(module)]).
init(_) -> {ok, {#{}, [#{id => w, start => {gen_event, start_link, []}}]}}.
