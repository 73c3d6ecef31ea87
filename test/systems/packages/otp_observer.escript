#!/usr/bin/env escript
%% packages: erlang-observer
%% What observer and others ask of a node; a trace by ttb.
-module(otp_observer_used).
-mode(compile).
main(_) ->
    io:format("~p~n", [lists:sort([K || {K, _} <- observer_backend:sys_info()])]),
    io:format("~p~n", [is_list(observer_backend:get_table_list(ets, [{unread_hidden, true}, {sys_hidden, false}]))]),
    {ok, _} = ttb:tracer(node(), [{file, {local, "trace"}}]),
    {ok, _} = ttb:p(self(), [call]),
    {ok, _} = ttb:tp(lists, nthtail, []),
    lists:nthtail(1, [a, b]), lists:nthtail(0, [c]),
    {stopped, Folder} = ttb:stop([{fetch_dir, "fetched"}, return_fetch_dir]),
    ok = ttb:format(Folder, [{out, "trace.txt"}, {handler, {fun(Fd, {trace_ts, _, call, Mfa, _}, _, N) -> io:format(Fd, "~p ~p~n", [N, Mfa]), N + 1; (Fd, end_of_trace, _, N) -> io:format(Fd, "end ~p~n", [N]), N; (_, _, _, N) -> N end, 1}}]),
    {ok, Text} = file:read_file("trace.txt"),
    io:put_chars(Text).
