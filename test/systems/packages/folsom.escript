#!/usr/bin/env escript
%% packages: erlang-folsom
%% Counters and histograms of a running system.
-module(folsom_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(folsom),
    ok = folsom_metrics:new_counter(hits),
    [ok = folsom_metrics:notify({hits, {inc, N}}) || N <- lists:seq(1, 10)],
    ok = folsom_metrics:new_histogram(sizes, none, 100),
    [ok = folsom_metrics:notify({sizes, N}) || N <- lists:seq(1, 50)],
    ok = folsom_metrics:new_gauge(level),
    ok = folsom_metrics:notify({level, 7}),
    io:format("~p~n", [[folsom_metrics:get_metric_value(M) || M <- [hits, level]]]),
    io:format("~p~n", [lists:sublist(folsom_metrics:get_histogram_statistics(sizes), 5)]),
    io:format("~p~n", [lists:sort(folsom_metrics:get_metrics())]),
    io:format("~p~n", [lists:sort([K || {K, _} <- folsom_vm_metrics:get_memory()])]).
