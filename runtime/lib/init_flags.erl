%% What runs where there is no script: what the flags -user, -s, -run and -eval name, in this order: the
%% process `user` first, the others as they stand on the command line.
-module(init_flags).

-export([start/0, evaluate/1]).

-define(USER_MS, 10000).

start() ->
    case init:get_argument(user) of
        {ok, Given} -> start_user(list_to_atom(hd(lists:last(Given))));
        error -> ok
    end,
    init ! started,
    [run(Flag, Values) || {Flag, Values} <- init:get_arguments()],
    ok.

run(s, [M]) -> apply(list_to_atom(M), start, []);
run(s, [M, F]) -> apply(list_to_atom(M), list_to_atom(F), []);
run(s, [M, F | Args]) -> apply(list_to_atom(M), list_to_atom(F), [[list_to_atom(A) || A <- Args]]);
run(run, [M]) -> apply(list_to_atom(M), start, []);
run(run, [M, F]) -> apply(list_to_atom(M), list_to_atom(F), []);
run(run, [M, F | Args]) -> apply(list_to_atom(M), list_to_atom(F), [Args]);
run(eval, [Text]) -> value_of(Text);
run(Flag, []) when Flag =:= s; Flag =:= run; Flag =:= eval -> exit({missing_value, Flag});
run(_, _) -> ok.

%% What stands for a script.
evaluate(Texts) -> lists:foreach(fun value_of/1, Texts).

value_of(Text) ->
    Whole = case lists:suffix(".", string:trim(Text, trailing)) of
                true -> Text ++ " ";
                false -> Text ++ ". "
            end,
    case erl_scan:string(Whole) of
        {ok, Tokens, _} ->
            case file_eval:evaluate(Tokens, #{}) of
                {value, _, _} -> ok;
                {error, {_, Module, Description}} -> exit(unicode:characters_to_list(Module:format_error(Description)))
            end;
        {error, {_, Module, Description}, _} -> exit(unicode:characters_to_list(Module:format_error(Description)))
    end.

%% The one that the system starts with makes room for it, and stands in for standard error only.
start_user(Module) ->
    First = whereis(user),
    unregister(user),
    Module:start(),
    case registered(user, ?USER_MS) of
        undefined -> exit({no_user, Module});
        User ->
            [group_leader(User, P) || P <- processes(), process_info(P, group_leader) =:= {group_leader, First}],
            ok
    end.

registered(_, Left) when Left =< 0 -> undefined;
registered(Name, Left) ->
    case whereis(Name) of
        undefined ->
            receive after 5 -> registered(Name, Left - 5) end;
        Pid -> Pid
    end.
