%% Measures one piece of work: prints its wall time in microseconds and its result, which must be the same
%% everywhere.
%%
%% A workload has a size, a list of integers: the words of its command line, or else what its module says in
%% the attribute -size([…]). It knows its result by another way than the work itself, and fails when the two
%% differ.
-module(bench).
-export([measured/4, measured/5, measured_with_files/5, size/2, run/1]).

measured(Module, Arguments, Work, Expected) -> measured(Module, Arguments, fun(Size) -> Size end, Work,
    Expected).

%% Prepare(Size) is not measured, and what it returns is given to Work. Expected(Size) is the result.
measured(Module, Arguments, Prepare, Work, Expected) ->
    Size = size(Module, Arguments),
    Prepared = Prepare(Size),
    report(Module, timed(fun() -> Work(Prepared) end), Expected(Size)).

%% The same with a directory of its own, which is taken away afterwards: Prepare(Dir, Size).
measured_with_files(Module, Arguments, Prepare, Work, Expected) ->
    Size = size(Module, Arguments),
    Dir = "/tmp/vmrun_bench_" ++ os:getpid(),
    ok = file:make_dir(Dir),
    Timed = try
        Prepared = Prepare(Dir, Size),
        timed(fun() -> Work(Prepared) end)
    after
        file:del_dir_r(Dir)
    end,
    report(Module, Timed, Expected(Size)).

report(_, {Micros, Result}, Result) -> io:format("~w ~w~n", [Micros, Result]);
report(Module, {_, Result}, Other) -> fail(Module, "result ~0p, expected ~0p", [Result, Other]).

run(Work) ->
    {Micros, Result} = timed(Work),
    io:format("~w ~w~n", [Micros, Result]).

timed(Work) ->
    T0 = erlang:monotonic_time(),
    Result = Work(),
    T1 = erlang:monotonic_time(),
    {erlang:convert_time_unit(T1 - T0, native, microsecond), Result}.

%% The size of a run: for a workload that prepares itself in a way of its own and then calls run/1.
size(Module, Arguments) ->
    Default = proplists:get_value(size, Module:module_info(attributes)),
    case [catch list_to_integer(A) || A <- Arguments] of
        [] -> Default;
        Size when length(Size) =:= length(Default) ->
            lists:all(fun is_integer/1, Size) orelse fail(Module, "a size is made of integers, not ~0p",
                [Arguments]),
            Size;
        _ -> fail(Module, "a size is ~w integers, such as ~0p", [length(Default), Default])
    end.

fail(Module, Text, Values) ->
    io:format(standard_error, "bench: ~s: " ++ Text ++ "~n", [Module | Values]),
    halt(1).
