%% For who counts instructions: does something Count times between the first two marks, and twice as often
%% between the last two, so that the difference is what doing it Count times takes, with neither start nor
%% marks in it. It has been done before, so that code is loaded and memory there. A mark is a call of a
%% built-in function that nothing else here calls.
-module(counting).
-export([run/2]).

%% Work(N) does it N times.
run(Count, Work) ->
    Compiled = proplists:get_value(made, erlang:system_info(hot_code)),
    Compiled andalso erts_debug:set_internal_state(available_internal_state, true),
    [begin Work(2 * Count), Compiled andalso compile() end || _ <- [1, 2]],
    Work(Count),
    mark(),
    Work(Count),
    mark(),
    Work(2 * Count),
    mark(),
    io:format("~w~n", [Count]).

%% What is hot has its machine code.
compile() -> ok = erts_debug:set_internal_state(wait, machine_code).

mark() -> os:getpid().
