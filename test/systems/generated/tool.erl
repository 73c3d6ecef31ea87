%% What random programs call: how they are run and what they print, and what keeps their values small.
-module(tool).
-export([main/1, run/2, id/1, few/1, small/1, bytes/1, caught/1, clean/1, elsewhere/1]).

%% The programs named, in that order. What a machine decides by itself (a stack trace, say) begins with "@".
main(Names) ->
    ok = io:setopts([{encoding, unicode}]),
    [begin io:format("== ~s~n", [Name]), (list_to_atom(Name)):main() end || Name <- Names],
    halt().

run(Name, Fun) ->
    {_, Ref} = spawn_monitor(fun() -> exit({result, outcome(Fun), lists:sort(get())}) end),
    receive
        {'DOWN', Ref, _, _, {result, {raised, Class, Reason, Stack}, Kept}} ->
            io:format("~s: ~p: ~ts~ts~n@ ~0p~n", [Name, Class, text("p", Reason), kept(Kept), places(Stack)]);
        {'DOWN', Ref, _, _, {result, {value, Value}, Kept}} ->
            io:format("~s: ~ts~ts~n", [Name, text("p", Value), kept(Kept)]);
        {'DOWN', Ref, _, _, Reason} -> io:format("~s: ended: ~ts~n", [Name, text("p", Reason)])
    end.

outcome(Fun) ->
    try {value, Fun()} catch Class:Reason:Stack -> {raised, Class, Reason, Stack} end.

%% Since OTP 26 the keys of small maps are in the order in which the system has met their atoms, but for ~kp.
text(Control, Term) ->
    Ordered = case erlang:system_info(otp_release) >= "26" of true -> "k"; false -> "" end,
    io_lib:format("~" ++ Ordered ++ "t" ++ Control, [clean(Term)]).

kept([]) -> "";
kept(Kept) -> [" kept ", text("w", Kept)].

%% Functions; arguments are of the compiler's making. That one which calls what is no fun stands twice in the
%% traces of a machine of native code.
places(Stack) -> once([{M, F, if is_list(A) -> length(A); true -> A end} || {M, F, A, _} <- Stack,
    is_program(atom_to_list(M))]).

once([F, F | More]) -> once([F | More]);
once([F | More]) -> [F | once(More)];
once([]) -> [].

%% The libraries are not the same ones.
is_program([$p, C | _]) -> C >= $0 andalso C =< $9;
is_program(_) -> false.

%% Without what differs from run to run.
clean(F) when is_function(F) -> {a_fun, element(2, erlang:fun_info(F, arity))};
clean(P) when is_pid(P) -> a_pid;
clean(R) when is_reference(R) -> a_reference;
clean([H | T]) -> [clean(H) | clean(T)];
clean(T) when is_tuple(T) -> list_to_tuple(clean(tuple_to_list(T)));
clean(M) when is_map(M) -> maps:from_list(clean(maps:to_list(M)));
clean(X) -> X.

id(X) -> X.

few(L) -> lists:sublist(L, 6).

small(N) when is_integer(N) -> N rem (1 bsl 130);
small(L) when is_list(L), length(L) > 20 -> lists:sublist(L, 20);
small(B) when bit_size(B) > 640 -> <<Small:640/bits, _/bits>> = B, Small;
small(X) -> X.

bytes(B) -> <<B/bits, 0:(-bit_size(B) band 7)>>.

caught({'EXIT', {Reason, Stack}}) when is_list(Stack) -> {'EXIT', Reason};
caught(X) -> X.

elsewhere(Fun) ->
    {_, Ref} = spawn_monitor(fun() -> exit({result, outcome(Fun)}) end),
    receive
        {'DOWN', Ref, _, _, {result, {value, Value}}} -> Value;
        {'DOWN', Ref, _, _, {result, {raised, Class, Reason, _}}} -> erlang:raise(Class, Reason, []);
        {'DOWN', Ref, _, _, Reason} -> {ended, Reason}
    end.
