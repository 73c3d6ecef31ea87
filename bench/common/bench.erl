%% Measures one piece of work: prints its wall time in microseconds and its result, which must be the same everywhere.
-module(bench).
-export([run/1, run_with_files/2]).

run(Work) ->
    T0 = erlang:monotonic_time(),
    Result = Work(),
    T1 = erlang:monotonic_time(),
    io:format("~w ~w~n", [erlang:convert_time_unit(T1 - T0, native, microsecond), Result]).

%% In a directory of its own, prepared before time is taken
run_with_files(Prepare, Work) ->
    Dir = "/tmp/vmrun_bench_" ++ os:getpid(),
    ok = file:make_dir(Dir),
    try
        Prepared = Prepare(Dir),
        run(fun() -> Work(Dir, Prepared) end)
    after
        file:del_dir_r(Dir)
    end.
