%% SPDX-License-Identifier: Apache-2.0
%% What runs where there is no script: what the flags -user, -s, -run and -eval name, in this order: the
%% process `user` first, the others as they stand on the command line. The machine has compiled what -eval and
%% -e give: main/0 of a module evaluates it.
-module(init_flags).

-export([start/0, evaluate/1]).

-define(USER_MS, 10000).

start() ->
    case init:get_argument(user) of
        {ok, Given} -> start_user(list_to_atom(hd(lists:last(Given))));
        error -> ok
    end,
    init ! started,
    run_all(init:get_arguments(), 1).

%% N: of the next -eval
run_all([{eval, [_]} | Flags], N) ->
    (evaluation(N)):main(),
    run_all(Flags, N + 1);
run_all([{Flag, Values} | Flags], N) ->
    run(Flag, Values),
    run_all(Flags, N);
run_all([], _) -> ok.

evaluation(1) -> '-eval';
evaluation(N) -> list_to_atom("-eval " ++ integer_to_list(N)).

run(s, [M]) -> apply(list_to_atom(M), start, []);
run(s, [M, F]) -> apply(list_to_atom(M), list_to_atom(F), []);
run(s, [M, F | Args]) -> apply(list_to_atom(M), list_to_atom(F), [[list_to_atom(A) || A <- Args]]);
run(run, [M]) -> apply(list_to_atom(M), start, []);
run(run, [M, F]) -> apply(list_to_atom(M), list_to_atom(F), []);
run(run, [M, F | Args]) -> apply(list_to_atom(M), list_to_atom(F), [Args]);
run(Flag, []) when Flag =:= s; Flag =:= run; Flag =:= eval -> exit({missing_value, Flag});
run(_, _) -> ok.

%% What stands for a script.
evaluate([Last]) -> Last:main();
evaluate([Module | Modules]) ->
    Module:main(),
    evaluate(Modules).

%% The one that the system starts with makes room for it, and stands in for standard error only.
start_user(Module) ->
    First = whereis(user),
    unregister(user),
    Module:start(),
    case registered(user, ?USER_MS) of
        undefined -> exit({no_user, Module});
        User ->
            [group_leader(User, P) || P <- processes(), process_info(P, group_leader) =:= {group_leader,
                First}],
            ok
    end.

registered(_, Left) when Left =< 0 -> undefined;
registered(Name, Left) ->
    case whereis(Name) of
        undefined ->
            receive after 5 -> registered(Name, Left - 5) end;
        Pid -> Pid
    end.
