%% SPDX-License-Identifier: Apache-2.0
%% Questions about files, and names found by patterns. Sources of compiled files, paths that lead nowhere out,
%% and folding over files are an installed OTP's.
-module(filelib).

-export([is_file/1, is_file/2, is_dir/1, is_dir/2, is_regular/1, is_regular/2, last_modified/1,
         last_modified/2, file_size/1, file_size/2, ensure_dir/1, ensure_path/1, wildcard/1, wildcard/2,
         wildcard/3, '$handle_undefined_function'/2]).

-include_lib("kernel/include/file.hrl").

'$handle_undefined_function'(Function, Arguments) -> installed_module:call(?MODULE, Function, Arguments).

%% Properties. The module that is asked may be another than file; it needs
%% read_file_info/1, read_link_info/1 and list_dir/1.

is_file(Name) -> is_file(Name, file).

is_file(Name, Module) ->
    case type(Name, Module) of
        regular -> true;
        directory -> true;
        _ -> false
    end.

is_dir(Name) -> is_dir(Name, file).

is_dir(Name, Module) -> type(Name, Module) =:= directory.

is_regular(Name) -> is_regular(Name, file).

is_regular(Name, Module) -> type(Name, Module) =:= regular.

type(Name, Module) when is_atom(Module) ->
    case Module:read_file_info(Name) of
        {ok, #file_info{type = Type}} -> Type;
        _ -> none
    end.

last_modified(Name) -> last_modified(Name, file).

last_modified(Name, Module) -> property(#file_info.mtime, Name, Module).

file_size(Name) -> file_size(Name, file).

file_size(Name, Module) -> property(#file_info.size, Name, Module).

property(Field, Name, Module) when is_atom(Module) ->
    case Module:read_file_info(Name) of
        {ok, Info} -> element(Field, Info);
        _ -> 0
    end.

%% The directories above Name
ensure_dir("/") -> ok;
ensure_dir(Name) -> ensure_path(filename:dirname(Name)).

%% Path itself, too. Somebody else may make one of them at the same time.
ensure_path("/") -> ok;
ensure_path(Path) ->
    case is_dir(Path) of
        true -> ok;
        false ->
            case filename:dirname(Path) of
                Path -> {error, einval};
                Parent ->
                    _ = ensure_path(Parent),
                    case file:make_dir(Path) of
                        {error, eexist} = Error ->
                            case is_dir(Path) of
                                true -> ok;
                                false -> Error
                            end;
                        Answer -> Answer
                    end
            end
    end.

%% Names by pattern. A pattern is a path whose parts are lists of
%%   Char | any | some (any number of characters) | {set, Chars} | {either, [Part]} (with what follows)
%% or the atom `deep` (**). Only the parts that are no plain names need directories to be listed.

wildcard(Pattern) when is_list(Pattern) -> wildcard(Pattern, ".", file).

wildcard(Pattern, Cwd) when is_list(Pattern), is_list(Cwd) -> wildcard(Pattern, Cwd, file);
wildcard(Pattern, Module) when is_list(Pattern), is_atom(Module) -> wildcard(Pattern, ".", Module).

wildcard(Pattern, Cwd, Module) when is_list(Pattern), is_list(Cwd), is_atom(Module) ->
    {Root, Names} = split_pattern(filename:flatten(Pattern)),
    Parts = [part(Name) || Name <- Names],
    lists:sort(find(Parts, Root, none, {Cwd, Module}, [])).

split_pattern(Pattern) ->
    Names = parts(unescaped(Pattern), [], []),
    case Pattern of
        [$/ | _] -> {"/", Names};
        _ when Names =:= [] -> error(function_clause, [Pattern]);
        _ -> {"", Names}
    end.

%% A character after a backslash means itself.
unescaped([$\\, C | T]) -> [{plain, C} | unescaped(T)];
unescaped([$\\]) -> [];
unescaped([C | T]) -> [C | unescaped(T)];
unescaped([]) -> [].

parts([$/ | T], [], Acc) -> parts(T, [], Acc);
parts([$/ | T], Name, Acc) -> parts(T, [], [lists:reverse(Name) | Acc]);
parts([C | T], Name, Acc) -> parts(T, [C | Name], Acc);
parts([], [], Acc) -> lists:reverse(Acc);
parts([], Name, Acc) -> lists:reverse(Acc, [lists:reverse(Name)]).

part("**") -> deep;
part(Name) ->
    {Part, []} = part(Name, outside, []),
    Part.

%% Up to the end, or inside of braces to a comma or the closing brace
part([C | _] = Rest, inside, Acc) when C =:= $,; C =:= $} -> {lists:reverse(Acc), Rest};
part([$? | T], Where, Acc) -> part(T, Where, [any | Acc]);
part([$*, $* | T], Where, Acc) when T =/= [] -> part(T, Where, [some | Acc]);
part([$* | T], Where, Acc) -> part(T, Where, [some | Acc]);
part([$[ | T], Where, Acc) ->
    case set(T) of
        {Set, Rest} -> part(Rest, Where, [Set | Acc]);
        none -> part(T, Where, [$[ | Acc])
    end;
part([${ | T], Where, Acc) ->
    {Choices, Rest} = choices(T, []),
    {After, Rest1} = part(Rest, Where, []),
    {lists:reverse(Acc, [{either, [Choice ++ After || Choice <- Choices]}]), Rest1};
part([{plain, C} | T], Where, Acc) -> part(T, Where, [C | Acc]);
part([C | T], Where, Acc) -> part(T, Where, [C | Acc]);
part([], inside, _) -> error({badpattern, missing_delimiter});
part([], outside, Acc) -> {lists:reverse(Acc), []}.

choices(T, Acc) ->
    case part(T, inside, []) of
        {Choice, [$, | Rest]} -> choices(Rest, [Choice | Acc]);
        {Choice, [$} | Rest]} -> {[Choice | Acc], Rest}
    end.

%% A closing bracket that comes first is one of the set.
set([$] | T]) -> set(T, [$]]);
set([]) -> none;
set(T) -> set(T, []).

set([$] | T], Acc) -> {{set, Acc}, T};
set([Low, $-, High | T], Acc) when is_integer(Low), is_integer(High), Low =< High ->
    set(T, [{Low, High} | Acc]);
set([{plain, C} | T], Acc) -> set(T, [C | Acc]);
set([C | T], Acc) -> set(T, [C | Acc]);
set([], _) -> none.

%% Found is what has been found so far, as it will be shown; Listed: its last part comes from a directory.
find([], Found, Listed, Where, Acc) ->
    case Listed =:= listed orelse exists(Found, Where) of
        true -> [Found | Acc];
        false -> Acc
    end;
find([deep | Parts], Found, _, Where, Acc) -> find_deep(Parts, Found, Where, Acc);
find([Part | Parts], Found, Listed, Where, Acc) ->
    case is_plain(Part) of
        true when Listed =:= none, Part =:= ".", Parts =/= [] -> find(Parts, Found, none, Where, Acc);
        true when Listed =:= none -> find(Parts, joined(Found, Part), none, Where, Acc);
        true when Part =:= "." -> Acc;
        true ->
            Next = joined(Found, Part),
            case exists(Next, Where) of
                true -> find(Parts, Next, listed, Where, Acc);
                false -> Acc
            end;
        false ->
            lists:foldl(fun(Name, A) ->
                                case matches(Part, Name) of
                                    true -> find(Parts, joined(Found, Name), listed, Where, A);
                                    false -> A
                                end
                        end, Acc, list_dir(Found, Where))
    end.

find_deep(Parts, Found, Where, Acc) ->
    lists:foldl(fun(Name, A0) ->
                        Next = joined(Found, Name),
                        A1 = find_deep(Parts, Next, Where, A0),
                        case Parts of
                            [] -> [Next | A1];
                            [deep | Rest] -> find(Rest, Next, listed, Where, A1);
                            [Part | Rest] ->
                                case matches(Part, Name) of
                                    true -> find(Rest, Next, listed, Where, A1);
                                    false -> A1
                                end
                        end
                end, Acc, list_dir(Found, Where)).

is_plain(Part) -> lists:all(fun is_integer/1, Part).

joined("", Name) -> Name;
joined("/", Name) -> [$/ | Name];
joined(Found, Name) -> Found ++ [$/ | Name].

full("", {Cwd, _}) -> Cwd;
full([$/ | _] = Found, _) -> Found;
full(Found, {".", _}) -> Found;
full(Found, {Cwd, _}) -> filename:join(Cwd, Found).

exists(Found, {_, Module} = Where) ->
    case Module:read_link_info(full(Found, Where)) of
        {ok, _} -> true;
        _ -> false
    end.

list_dir(Found, {_, Module} = Where) ->
    case Module:list_dir(full(Found, Where)) of
        {ok, Names} -> Names;
        _ -> []
    end.

matches([some], _) -> true;
matches([some | Part], Name) ->
    matches(Part, Name) orelse (Name =/= [] andalso matches([some | Part], tl(Name)));
matches([{either, Parts}], Name) -> lists:any(fun(Part) -> matches(Part, Name) end, Parts);
matches([any | Part], [_ | Name]) -> matches(Part, Name);
matches([{set, Set} | Part], [C | Name]) -> in_set(C, Set) andalso matches(Part, Name);
matches([C | Part], [C | Name]) -> matches(Part, Name);
matches([], []) -> true;
matches(_, _) -> false.

in_set(C, [{Low, High} | _]) when C >= Low, C =< High -> true;
in_set(C, [C | _]) -> true;
in_set(C, [_ | Set]) -> in_set(C, Set);
in_set(_, []) -> false.
