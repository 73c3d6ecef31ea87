#!/usr/bin/env escript
%% packages: erlang-observer
%% What observer and others ask of a node; a trace by ttb.
-module(otp_observer_used).
-mode(compile).
main(_) ->
    io:format("~p~n", [lists:sort([K || {K, _} <- observer_backend:sys_info()])]),
    io:format("~p~n", [is_list(observer_backend:get_table_list(ets,
        [{unread_hidden, true}, {sys_hidden, false}]))]),
    {ok, _} = ttb:tracer(node(), [{file, "trace"}]),
    {ok, _} = ttb:p(self(), [call]),
    {ok, _} = ttb:tp(lists, nthtail, []),
    lists:nthtail(1, [a, b]), lists:nthtail(0, [c]),
    stopped = ttb:stop([nofetch]),
    ok = ttb:format("nonode@nohost-trace", [{out, "trace.txt"}, {handler, {fun told/4, 1}}]),
    {ok, Text} = file:read_file("trace.txt"),
    io:put_chars(Text).
told(Fd, {trace_ts, _, call, Mfa, _}, _, N) -> io:format(Fd, "~p ~p~n", [N, Mfa]), N + 1;
told(Fd, end_of_trace, _, N) -> io:format(Fd, "end ~p~n", [N]), N;
told(_, _, _, N) -> N.
