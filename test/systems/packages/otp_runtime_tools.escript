#!/usr/bin/env escript
%% packages: erlang-runtime-tools
%% Tracing, the system's information, settings of a tracer.
-module(otp_runtime_tools_used).
-mode(compile).
main(_) ->
    Me = self(),
    {ok, _} = dbg:tracer(process, {fun(E, N) -> Me ! {N, setelement(2, E, pid)}, N + 1 end, 0}),
    {ok, _} = dbg:p(self(), [c]),
    {ok, _} = dbg:tp(lists, reverse, x),
    lists:reverse([1, 2]),
    receive {0, A} -> io:format("~p~n", [A]) end,
    receive {1, B} -> io:format("~p~n", [B]) end,
    dbg:stop_clear(),
    io:format("~p~n", [lists:sort([K || {K, _} <- system_information:report()])]),
    {ok, _} = application:ensure_all_started(runtime_tools),
    {scheduler_wall_time, Sample} = scheduler:sample(),
    io:format("~p~n", [is_list(Sample)]).
