%% SPDX-License-Identifier: Apache-2.0
%% Calls the functions of random programs (programs.py), and prints what they return or raise.
-module(cases).
-export([main/1, few/1, where/1]).

%% The programs named, in that order. Where an exception was raised stands in a line that begins with "@".
main(Names) ->
    ok = io:setopts([{encoding, unicode}]),
    [io:put_chars([<<"== ">>, Name, $\n, of_module(list_to_atom(Name)), <<"==\n">>]) || Name <- Names],
    halt().

of_module(Module) -> [of_case(Module, Case) || Case <- Module:cases()].

%% In a process of its own, whose mailbox and dictionary are empty.
of_case(Module, {Name, Args}) ->
    Run = fun() -> exit({result, outcome(Module, Name, copy(Args)), lists:sort(get())}) end,
    {_, Ref} = spawn_monitor(Run),
    receive
        {'DOWN', Ref, _, _, {result, Outcome, Kept}} ->
            [atom_to_list(Name), $:, $\s, text(Outcome), kept(Kept), $\n];
        {'DOWN', Ref, _, _, Reason} -> [atom_to_list(Name), <<": ended: ">>, write(Reason), $\n]
    end.

%% Terms on the heap, for half of the cases: literals are elsewhere.
copy(Args) when length(Args) rem 2 =:= 0 -> binary_to_term(term_to_binary(Args));
copy(Args) -> Args.

outcome(Module, Name, Args) ->
    try {value, apply(Module, Name, Args)} catch Class:Reason:Stack -> {Class, Reason, where(Stack)} end.

text({value, Value}) -> write(Value);
text({Class, Reason, Where}) -> [atom_to_list(Class), $\s, write(Reason), <<"\n@ ">>, write(Where)].

kept([]) -> [];
kept(Kept) -> [<<"\n@ kept ">>, write(Kept)].

write(Term) -> io_lib:write(clean(Term)).

%% Functions of random programs with the lines: how libraries raise is their own. One that calls what is no
%% fun stands twice in the traces of a machine of native code.
where(Stack) ->
    once([{F, A, proplists:get_value(line, Info, 0)} || {M, F, A, Info} <- Stack,
        is_program(atom_to_list(M))]).

once([F, F | More]) -> once([F | More]);
once([F | More]) -> [F | once(More)];
once([]) -> [].

is_program([$k, C | _]) -> C >= $0 andalso C =< $9;
is_program(_) -> false.

%% Without what differs from run to run, and large maps in an order.
clean(F) when is_function(F) -> {a_fun, element(2, erlang:fun_info(F, arity))};
clean(P) when is_pid(P) -> a_pid;
clean(R) when is_reference(R) -> a_reference;
clean([H | T]) -> [clean(H) | clean(T)];
clean(T) when is_tuple(T) -> list_to_tuple(clean(tuple_to_list(T)));
clean(M) when map_size(M) > 32 -> {large_map, clean(lists:sort(maps:to_list(M)))};
clean(M) when is_map(M) -> {map, clean(lists:sort(maps:to_list(M)))};
clean(X) -> X.

%% The first elements; a list may be improper.
few(L) -> few(L, 6).
few([H | T], N) when N > 0 -> [H | few(T, N - 1)];
few(T, _) when is_list(T) -> [];
few(T, _) -> T.
