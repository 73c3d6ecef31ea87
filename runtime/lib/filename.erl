%% SPDX-License-Identifier: Apache-2.0
%% File names, of Unix. A name is a string, an atom, a binary, or a list of
%% these; the result is a binary if the last or only name is one.
-module(filename).

-export([absname/1, absname/2, absname_join/2, append/2, basename/1, basename/2, dirname/1,
         extension/1, flatten/1, join/1, join/2, nativename/1, pathtype/1, rootname/1,
         rootname/2, split/1, validate/1, '$handle_undefined_function'/2]).

%% Where a system keeps an application's files is an installed OTP's.
'$handle_undefined_function'(Function, Arguments) -> installed_module:call(?MODULE, Function, Arguments).

flatten(Name) when is_binary(Name) -> Name;
flatten(Name) when is_atom(Name) -> atom_to_list(Name);
flatten(Name) when is_list(Name) -> flat(Name, []).

flat([C | T], Tail) when is_integer(C) -> [C | flat(T, Tail)];
flat([A | T], Tail) when is_atom(A) -> atom_to_list(A) ++ flat(T, Tail);
flat([L | T], Tail) when is_list(L) -> flat(L, flat(T, Tail));
flat([], Tail) -> Tail;
flat(A, Tail) when is_atom(A) -> atom_to_list(A) ++ Tail.  % also the end of a list

%% Works on strings and gives back what kind was given. A binary's bytes are taken as characters: what
%% matters in a name is ASCII, and the rest need not be text.
on_string(F, Name) when is_binary(Name) -> list_to_binary(F(binary_to_list(Name)));
on_string(F, Name) -> F(flatten(Name)).

string(Name) when is_binary(Name) -> binary_to_list(Name);
string(Name) -> flatten(Name).

to_binary(Name) when is_binary(Name) -> Name;
to_binary(Name) -> unicode:characters_to_binary(flatten(Name)).

%% Joining

join([Name]) -> join1(Name);
join([_ | _] = Names) ->
    case lists:any(fun is_binary/1, Names) of
        true -> list_to_binary(joined([binary_to_list(to_binary(Name)) || Name <- Names]));
        false -> joined([flatten(Name) || Name <- Names])
    end.

joined([First | Names]) -> normal(lists:foldl(fun(Name, Acc) -> join_strings(Acc, Name) end, First, Names)).

join1(Name) -> on_string(fun normal/1, Name).

join(A, B) -> join([A, B]).

join_strings(_, [$/ | _] = B) -> B;
join_strings(A, []) -> A;
join_strings(A, B) -> A ++ "/" ++ B.

%% Repeated and trailing slashes go.
normal([$/, $., $/ | T]) -> normal([$/ | T]);
normal([$/, $/ | T]) -> normal([$/ | T]);
normal([$/ | T]) -> [$/ | relative(T)];
normal(Name) -> relative(Name).

relative(Name) ->
    lists:reverse(drop_slashes(lists:reverse(single(Name)))).

single([$/, $/ | T]) -> single([$/ | T]);
single([$/, $., $/ | T]) -> single([$/ | T]);
single([C | T]) -> [C | single(T)];
single([]) -> [].

drop_slashes([$/ | T]) -> drop_slashes(T);
drop_slashes(Name) -> Name.

append(Dir, Name) when is_binary(Dir), is_binary(Name) -> <<Dir/binary, $/, Name/binary>>;
append(Dir, Name) when is_binary(Dir); is_binary(Name) -> append(to_binary(Dir), to_binary(Name));
append(Dir, Name) -> flatten(Dir) ++ "/" ++ flatten(Name).

split(Name) when is_binary(Name) -> [list_to_binary(Part) || Part <- split_string(binary_to_list(Name))];
split(Name) -> split_string(flatten(Name)).

split_string([$/ | T]) -> ["/" | string:tokens(T, "/")];
split_string(Name) -> string:tokens(Name, "/").

%% Parts

basename(Name) -> on_string(fun base/1, Name).

base(Name) ->
    lists:reverse(lists:takewhile(fun(C) -> C =/= $/ end, drop_slashes(lists:reverse(Name)))).

basename(Name, Ext) when is_binary(Ext), not is_binary(Name) -> basename(to_binary(Name), Ext);
basename(Name, Ext) ->
    E = same_kind(Ext, Name),
    on_string(fun(N) ->
                      case lists:suffix(E, N) of
                          true -> without_suffix(base(N), E);
                          false -> base(N)
                      end
              end, Name).

%% As on_string shows a name of the other one's kind
same_kind(Ext, Name) when is_binary(Name) -> binary_to_list(to_binary(Ext));
same_kind(Ext, _) -> flatten(Ext).

without_suffix(Name, Suffix) ->
    case length(Name) > length(Suffix) - 1 andalso lists:suffix(Suffix, Name) of
        true -> lists:sublist(Name, length(Name) - length(Suffix));
        false -> Name
    end.

dirname(Name) -> on_string(fun dir/1, Name).

dir(Name) ->
    case lists:dropwhile(fun(C) -> C =/= $/ end, lists:reverse(Name)) of
        [] -> ".";
        Rev ->
            case drop_slashes(Rev) of
                [] -> "/";
                Rev1 -> lists:reverse(Rev1)
            end
    end.

extension(Name) -> on_string(fun ext/1, Name).

%% A name that begins with its only dot has no extension.
ext(Name) ->
    Base = last_part(Name),
    case lists:splitwith(fun(C) -> C =/= $. end, lists:reverse(Base)) of
        {_, []} -> "";
        {_, [$.]} -> "";
        {Rev, _} -> [$. | lists:reverse(Rev)]
    end.

%% What follows the last slash, which may be nothing
last_part(Name) -> lists:reverse(lists:takewhile(fun(C) -> C =/= $/ end, lists:reverse(Name))).

rootname(Name) -> on_string(fun root/1, Name).

root(Name) ->
    Base = last_part(Name),
    case lists:member($., Base) of
        true ->
            case lists:dropwhile(fun(C) -> C =/= $. end, lists:reverse(Name)) of
                [$., $/ | _] -> Name;
                [$. | Rev] -> lists:reverse(Rev)
            end;
        false -> Name
    end.

rootname(Name, Ext) when is_binary(Ext), not is_binary(Name) -> rootname(to_binary(Name), Ext);
rootname(Name, Ext) ->
    E = same_kind(Ext, Name),
    on_string(fun(N) ->
                      case E =/= "" andalso length(last_part(N)) > length(E) andalso lists:suffix(E, N) of
                          true -> lists:sublist(N, length(N) - length(E));
                          false -> N
                      end
              end, Name).

pathtype(Name) ->
    case string(Name) of
        [$/ | _] -> absolute;
        _ -> relative
    end.

nativename(Name) -> join1(Name).

absname(Name) ->
    {ok, Cwd} = file:get_cwd(),
    absname(Name, Cwd).

absname(Name, Dir) ->
    case pathtype(Name) of
        absolute when is_binary(Dir) -> join1(to_binary(Name));
        absolute -> join1(Name);
        relative -> join(Dir, Name)
    end.

absname_join(Dir, Name) -> join(Dir, flatten(Name)).

validate(Name) ->
    try string(Name) of
        L -> L =/= [] andalso not lists:member(0, L)
    catch error:_ -> false
    end.
