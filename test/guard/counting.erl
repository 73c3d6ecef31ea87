%% For who counts instructions: does something Count times between the first two marks, and twice as often
%% between the last two, so that the difference is what doing it Count times takes, with neither start nor
%% marks in it. It has been done before, so that code is loaded and memory there. A mark is a call of a
%% built-in function that nothing else here calls.
-module(counting).
-export([run/2]).

%% Work(N) does it N times.
run(Count, Work) ->
    warm(Count, Work),
    Work(Count),
    mark(),
    Work(Count),
    mark(),
    Work(2 * Count),
    mark(),
    io:format("~w~n", [Count]).

mark() -> os:getpid().

%% Where machine code is made, until what is hot has it.
warm(Count, Work) ->
    case proplists:get_value(made, erlang:system_info(hot_code)) of
        false ->
            Work(2 * Count);
        true ->
            erts_debug:set_internal_state(available_internal_state, true),
            warm(Count, Work, -1, 20)
    end.

warm(_, _, _, 0) -> ok;
warm(Count, Work, Compiled, Rounds) ->
    Work(2 * Count),
    ok = erts_debug:set_internal_state(wait, machine_code),
    case proplists:get_value(compiled, erlang:system_info(hot_code)) of
        Compiled -> ok;
        More -> warm(Count, Work, More, Rounds - 1)
    end.
