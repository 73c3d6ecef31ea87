%% Loads modules of runtime/lib under another name (lists as vx_lists) into a
%% stock Erlang, so that they can be compared with the originals side by side.
%% A call between two of our modules is renamed too, but only if ours exports
%% the function: the rest (built into the machine) goes to the original.

libload(Dir, Modules) ->
    Forms = [{M, parse(Dir, M)} || M <- Modules],
    Exports = maps:from_list([{M, exports(Fs)} || {M, Fs} <- Forms]),
    [load(M, Fs, Exports) || {M, Fs} <- Forms],
    ok.

parse(Dir, M) ->
    {ok, Forms} = epp:parse_file(filename:join(Dir, atom_to_list(M) ++ ".erl"), []),
    Forms.

exports(Forms) -> lists:append([Es || {attribute, _, export, Es} <- Forms]).

vx(M) -> list_to_atom("vx_" ++ atom_to_list(M)).

load(M, Forms, Exports) ->
    case compile:forms([rename(F, Exports) || F <- Forms, keep(F)], [return_errors, nowarn_nif_inline,
        {error_location, line}]) of
        {ok, Name, Code} -> {module, Name} = code:load_binary(Name, "libload", Code);
        Other -> io:format("~p: ~p~n", [M, Other]), halt(1)
    end.

keep({attribute, _, What, _}) -> lists:member(What, [module, export, compile, record, behaviour, on_load]);
keep(_) -> true.

rename({attribute, L, module, M}, _) -> {attribute, L, module, vx(M)};
rename({attribute, _, _, _} = A, _) -> A;
rename({call, L, {remote, L1, {atom, L2, M}, {atom, _, F} = Fa}, Args}, Exports) ->
    {call, L, {remote, L1, {atom, L2, target(M, F, length(Args), Exports)}, Fa},
     [rename(A, Exports) || A <- Args]};
rename({'fun', L, {function, {atom, L2, M}, {atom, _, F} = Fa, {integer, _, N} = Na}}, Exports) ->
    {'fun', L, {function, {atom, L2, target(M, F, N, Exports)}, Fa, Na}};
rename({tuple, L, Es}, Exports) -> {tuple, L, [rename(E, Exports) || E <- Es]};
rename(T, Exports) when is_tuple(T) -> list_to_tuple([rename(E, Exports) || E <- tuple_to_list(T)]);
rename([H | T], Exports) -> [rename(H, Exports) | rename(T, Exports)];
rename(X, _) -> X.

target(erts_internal, maps_to_list, 2, _) -> libload_shim;
target(M, F, N, Exports) ->
    case Exports of
        #{M := Es} -> case lists:member({F, N}, Es) of true -> vx(M); false -> M end;
        #{} -> M
    end.
