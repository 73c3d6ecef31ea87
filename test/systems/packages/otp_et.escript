#!/usr/bin/env escript
%% packages: erlang-et
%% Events collected and filtered.
-module(otp_et_used).
-mode(compile).
main(_) ->
    {ok, C} = et_collector:start_link([{trace_global, false}]),
    [{ok, _} = et_collector:report_event(C, N, from, to, label, {n, N}) || N <- [10, 20, 30]],
    io:format("~p~n", [element(1, et_collector:report_event(C, 40, here, there, last, []))]),
    io:format("~p~n", [et_collector:iterate(C, first, infinity,
        fun(E, A) -> [{element(2, E), element(5, E), element(7, E)} | A] end, [])]),
    io:format("~p~n", [et_collector:iterate(C, last, -2, fun(E, A) -> [element(7, E) | A] end, [])]),
    io:format("~p~n", [et:trace_me(50, from, to, label, contents)]).
