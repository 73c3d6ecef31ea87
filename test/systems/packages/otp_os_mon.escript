#!/usr/bin/env escript
%% packages: erlang-os-mon
%% Processors, memory and disks by programs behind ports.
-module(otp_os_mon_used).
-mode(compile).
main(_) ->
    ok = logger:set_primary_config(level, none),
    ok = application:start(sasl), ok = application:start(os_mon),
    io:format("~p~n", [[is_integer(cpu_sup:F()) || F <- [avg1, avg5, nprocs]]]),
    io:format("~p~n", [is_number(cpu_sup:util())]),
    {Total, Used, {Pid, _}} = memsup:get_memory_data(),
    io:format("~p~n", [{Total > Used, is_pid(Pid), lists:keymember(total_memory, 1,
        memsup:get_system_memory_data())}]),
    io:format("~p~n", [[is_integer(Size) || {_, Size, _} <- disksup:get_disk_data()] =/= []]),
    io:format("~p~n", [application:stop(os_mon)]).
