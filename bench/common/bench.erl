%% Measures one piece of work: prints its wall time in microseconds and its result, which must be the same everywhere.
-module(bench).
-export([run/1]).

run(Work) ->
    T0 = erlang:monotonic_time(),
    Result = Work(),
    T1 = erlang:monotonic_time(),
    io:format("~w ~w~n", [erlang:convert_time_unit(T1 - T0, native, microsecond), Result]).
