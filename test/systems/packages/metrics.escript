#!/usr/bin/env escript
%% packages: erlang-metrics
%% One interface to several systems of metrics.
-module(metrics_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(metrics),
    io:format("~p~n", [metrics:backend()]),
    io:format("~p~n", [[metrics:new(T, [a, T]) || T <- [counter, gauge, histogram, nonesuch]]]),
    io:format("~p~n", [[metrics:update([a, counter], {c, 1}), metrics:update_or_create([b], 1, counter),
        metrics:delete([b])]]).
