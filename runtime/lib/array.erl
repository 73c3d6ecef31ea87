%% Functional arrays: {array, Size, Fixed, Default, Shift, Tree}. The tree has
%% nodes of 16 elements; a subtree in which nothing was set is [] . Shift tells
%% the root's level: it covers 16 bsl Shift indices.
-module(array).
-compile({no_auto_import, [size/1, get/2]}).

-export([new/0, new/1, new/2, is_array/1, set/3, get/2, size/1, sparse_size/1, default/1, reset/2, to_list/1,
         sparse_to_list/1, from_list/1, from_list/2, to_orddict/1, sparse_to_orddict/1, from_orddict/1,
         from_orddict/2, map/2, sparse_map/2, foldl/3, foldr/3, sparse_foldl/3, sparse_foldr/3, fix/1, relax/1,
         is_fix/1, resize/1, resize/2]).

-define(BITS, 4).
-define(WIDTH, 16).
-define(MASK, 15).
%% Stands for an element that was not set, inside the tree only.
-define(UNSET, '$array_unset').

new() -> {array, 0, false, undefined, 0, []}.

new(Options) -> options(if is_list(Options) -> Options; true -> [Options] end, 0, false, undefined).

new(Size, Options) when is_integer(Size), Size >= 0 ->
    options(if is_list(Options) -> Options; true -> [Options] end, Size, true, undefined);
new(Size, Options) -> error(badarg, [Size, Options]).

options([fixed | T], Size, _, D) -> options(T, Size, true, D);
options([{fixed, F} | T], Size, _, D) when is_boolean(F) -> options(T, Size, F, D);
options([{default, D} | T], Size, F, _) -> options(T, Size, F, D);
options([{size, N} | T], _, _, D) when is_integer(N), N >= 0 -> options(T, N, true, D);
options([N | T], _, _, D) when is_integer(N), N >= 0 -> options(T, N, true, D);
options([], Size, Fixed, D) -> {array, Size, Fixed, D, shift_for(Size, 0), []};
options(_, _, _, _) -> error(badarg).

shift_for(Size, Shift) when Size =< ?WIDTH bsl Shift -> Shift;
shift_for(Size, Shift) -> shift_for(Size, Shift + ?BITS).

is_array({array, Size, Fixed, _, _, _}) -> is_integer(Size) andalso is_boolean(Fixed);
is_array(_) -> false.

size({array, Size, _, _, _, _}) -> Size;
size(A) -> error(badarg, [A]).

default({array, _, _, D, _, _}) -> D;
default(A) -> error(badarg, [A]).

fix({array, Size, _, D, Shift, T}) -> {array, Size, true, D, Shift, T}.

relax({array, Size, _, D, Shift, T}) -> {array, Size, false, D, Shift, T}.

is_fix({array, _, Fixed, _, _, _}) -> Fixed.

%% Elements

get(I, {array, Size, Fixed, D, Shift, T} = A) when is_integer(I), I >= 0 ->
    if
        I < Size -> value(lookup(I, Shift, T), D);
        Fixed -> error(badarg, [I, A]);
        true -> D
    end;
get(I, A) -> error(badarg, [I, A]).

value(?UNSET, D) -> D;
value(X, _) -> X.

lookup(_, _, []) -> ?UNSET;
lookup(I, 0, T) -> element((I band ?MASK) + 1, T);
lookup(I, Shift, T) -> lookup(I, Shift - ?BITS, element(((I bsr Shift) band ?MASK) + 1, T)).

set(I, X, {array, Size, Fixed, D, Shift, T} = A) when is_integer(I), I >= 0 ->
    if
        I < Size -> {array, Size, Fixed, D, Shift, store(I, X, Shift, T)};
        Fixed -> error(badarg, [I, X, A]);
        true ->
            {Shift1, T1} = raised(I + 1, Shift, T),
            {array, I + 1, Fixed, D, Shift1, store(I, X, Shift1, T1)}
    end;
set(I, X, A) -> error(badarg, [I, X, A]).

raised(Size, Shift, T) when Size =< ?WIDTH bsl Shift -> {Shift, T};
raised(Size, Shift, []) -> raised(Size, Shift + ?BITS, []);
raised(Size, Shift, T) -> raised(Size, Shift + ?BITS, setelement(1, erlang:make_tuple(?WIDTH, []), T)).

store(I, X, 0, []) -> setelement((I band ?MASK) + 1, erlang:make_tuple(?WIDTH, ?UNSET), X);
store(I, X, 0, T) -> setelement((I band ?MASK) + 1, T, X);
store(I, X, Shift, []) -> store(I, X, Shift, erlang:make_tuple(?WIDTH, []));
store(I, X, Shift, T) ->
    At = ((I bsr Shift) band ?MASK) + 1,
    setelement(At, T, store(I, X, Shift - ?BITS, element(At, T))).

reset(I, {array, Size, Fixed, D, Shift, T} = A) when is_integer(I), I >= 0 ->
    if
        I < Size ->
            case lookup(I, Shift, T) of
                ?UNSET -> A;
                _ -> {array, Size, Fixed, D, Shift, store(I, ?UNSET, Shift, T)}
            end;
        Fixed -> error(badarg, [I, A]);
        true -> A
    end;
reset(I, A) -> error(badarg, [I, A]).

%% Size

resize(A) -> resize(sparse_size(A), A).

resize(Size, {array, Old, Fixed, D, Shift, T}) when is_integer(Size), Size >= Old ->
    {Shift1, T1} = raised(Size, Shift, T),
    {array, Size, Fixed, D, Shift1, T1};
resize(Size, {array, _, Fixed, D, _, _} = A) when is_integer(Size), Size >= 0 ->
    Kept = lists:takewhile(fun({I, _}) -> I < Size end, all_set(A)),
    lists:foldl(fun({I, X}, B) -> set(I, X, B) end, {array, Size, Fixed, D, shift_for(Size, 0), []}, Kept);
resize(Size, A) -> error(badarg, [Size, A]).

%% Up to the last element that is not the default
sparse_size({array, _, _, D, _, _} = A) ->
    lists:foldl(fun({_, X}, N) when X =:= D -> N;
                   ({I, _}, _) -> I + 1
                end, 0, all_set(A)).

%% Every {Index, Value} that was set, within the size, in order.
all_set({array, Size, _, _, Shift, T}) ->
    [E || {I, _} = E <- collect(T, Shift, 0, []), I < Size].

collect([], _, _, Acc) -> Acc;
collect(T, 0, Base, Acc) -> collect_leaf(T, ?WIDTH, Base, Acc);
collect(T, Shift, Base, Acc) -> collect_node(T, ?WIDTH, Shift, Base, Acc).

collect_leaf(_, 0, _, Acc) -> Acc;
collect_leaf(T, N, Base, Acc) ->
    case element(N, T) of
        ?UNSET -> collect_leaf(T, N - 1, Base, Acc);
        X -> collect_leaf(T, N - 1, Base, [{Base + N - 1, X} | Acc])
    end.

collect_node(_, 0, _, _, Acc) -> Acc;
collect_node(T, N, Shift, Base, Acc) ->
    Acc1 = collect(element(N, T), Shift - ?BITS, Base + ((N - 1) bsl Shift), Acc),
    collect_node(T, N - 1, Shift, Base, Acc1).

%% {Index, Value} of all, defaults where nothing was set.
everything({array, Size, _, D, _, _} = A) -> filled(0, Size, all_set(A), D).

filled(Size, Size, _, _) -> [];
filled(I, Size, [{I, _} = E | T], D) -> [E | filled(I + 1, Size, T, D)];
filled(I, Size, Es, D) -> [{I, D} | filled(I + 1, Size, Es, D)].

interesting({array, _, _, D, _, _} = A) -> [E || {_, X} = E <- all_set(A), X =/= D].

%% Conversions

to_list(A) -> [X || {_, X} <- everything(checked(A))].

sparse_to_list(A) -> [X || {_, X} <- interesting(checked(A))].

to_orddict(A) -> everything(checked(A)).

sparse_to_orddict(A) -> interesting(checked(A)).

checked(A) ->
    case is_array(A) of
        true -> A;
        false -> error(badarg, [A])
    end.

from_list(L) -> from_list(L, undefined).

from_list(L, D) when length(L) >= 0 -> from_pairs(lists:enumerate(0, L), new([{default, D}]));
from_list(L, D) -> error(badarg, [L, D]).

from_orddict(L) -> from_orddict(L, undefined).

from_orddict(L, D) when is_list(L) ->
    case disordered(L, -1) of
        [] -> from_pairs(L, new([{default, D}]));
        Rest -> error({badarg, Rest}, [L, D])
    end;
from_orddict(L, D) -> error(badarg, [L, D]).

%% From the first element on that does not belong where it is.
disordered([{I, _} | T], Last) when is_integer(I), I > Last -> disordered(T, I);
disordered(Rest, _) -> Rest.

from_pairs(Pairs, A) -> lists:foldl(fun({I, X}, B) -> set(I, X, B) end, A, Pairs).

%% Functions over arrays

map(F, {array, Size, Fixed, D, _, _} = A) when is_function(F, 2) ->
    from_pairs([{I, F(I, X)} || {I, X} <- everything(A)], {array, Size, Fixed, D, shift_for(Size, 0), []});
map(F, A) -> error(badarg, [F, A]).

sparse_map(F, {array, Size, Fixed, D, _, _} = A) when is_function(F, 2) ->
    from_pairs([{I, F(I, X)} || {I, X} <- interesting(A)], {array, Size, Fixed, D, shift_for(Size, 0), []});
sparse_map(F, A) -> error(badarg, [F, A]).

foldl(F, Acc, A) when is_function(F, 3) -> fold(F, Acc, everything(checked(A)));
foldl(F, Acc, A) -> error(badarg, [F, Acc, A]).

foldr(F, Acc, A) when is_function(F, 3) -> fold(F, Acc, lists:reverse(everything(checked(A))));
foldr(F, Acc, A) -> error(badarg, [F, Acc, A]).

sparse_foldl(F, Acc, A) when is_function(F, 3) -> fold(F, Acc, interesting(checked(A)));
sparse_foldl(F, Acc, A) -> error(badarg, [F, Acc, A]).

sparse_foldr(F, Acc, A) when is_function(F, 3) -> fold(F, Acc, lists:reverse(interesting(checked(A))));
sparse_foldr(F, Acc, A) -> error(badarg, [F, Acc, A]).

fold(F, Acc, [{I, X} | T]) -> fold(F, F(I, X, Acc), T);
fold(_, Acc, []) -> Acc.
