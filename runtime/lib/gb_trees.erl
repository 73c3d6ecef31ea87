%% General balanced trees (A. Andersson, "General Balanced Trees", 1999):
%% {Size, Tree}, a tree being nil or {Key, Value, Smaller, Bigger}. Nothing is
%% stored for balancing: an insertion that goes too deep for the size rebuilds
%% the smallest subtree that is out of balance; deletions never rebuild.
-module(gb_trees).
-compile({no_auto_import, [size/1, get/1]}).

-export([empty/0, is_empty/1, size/1, lookup/2, is_defined/2, get/2, update/3,
         insert/3, enter/3, delete/2, delete_any/2, take/2, take_any/2,
         balance/1, from_orddict/1, keys/1, values/1, to_list/1, smallest/1,
         largest/1, smaller/2, larger/2, take_smallest/1, take_largest/1,
         iterator/1, iterator/2, iterator_from/2, iterator_from/3, next/1, map/2]).

empty() -> {0, nil}.

is_empty({0, nil}) -> true;
is_empty(_) -> false.

size({N, _}) when is_integer(N), N >= 0 -> N.

lookup(K, {_, T}) -> lookup_1(K, T).

lookup_1(K, {K1, _, S, _}) when K < K1 -> lookup_1(K, S);
lookup_1(K, {K1, _, _, B}) when K > K1 -> lookup_1(K, B);
lookup_1(_, {_, V, _, _}) -> {value, V};
lookup_1(_, nil) -> none.

is_defined(K, {_, T}) -> lookup_1(K, T) =/= none.

get(K, {_, T}) -> get_1(K, T).

get_1(K, {K1, _, S, _}) when K < K1 -> get_1(K, S);
get_1(K, {K1, _, _, B}) when K > K1 -> get_1(K, B);
get_1(_, {_, V, _, _}) -> V.

update(K, V, {N, T}) -> {N, update_1(K, V, T)}.

update_1(K, V, {K1, V1, S, B}) when K < K1 -> {K1, V1, update_1(K, V, S), B};
update_1(K, V, {K1, V1, S, B}) when K > K1 -> {K1, V1, S, update_1(K, V, B)};
update_1(K, V, {_, _, S, B}) -> {K, V, S, B}.

%% A node may lie as deep as its tree's Size * Size allows: the depth limit is
%% halved on the way down and reaches 0 where the path is too long. The
%% insertion below then answers {Subtree, Weight, Height} until an ancestor
%% whose weight is too small for its height has been rebuilt.
insert(K, V, {N, T}) when is_integer(N), N >= 0 ->
    N1 = N + 1,
    {N1, finished(insert_1(K, V, T, N1 * N1))}.

insert_1(K, V, {K1, V1, S, B}, Limit) when K < K1 ->
    case insert_1(K, V, S, Limit bsr 1) of
        {S1, Weight, Height} -> climb({K1, V1, S1, B}, Weight, Height, B);
        S1 -> {K1, V1, S1, B}
    end;
insert_1(K, V, {K1, V1, S, B}, Limit) when K > K1 ->
    case insert_1(K, V, B, Limit bsr 1) of
        {B1, Weight, Height} -> climb({K1, V1, S, B1}, Weight, Height, S);
        B1 -> {K1, V1, S, B1}
    end;
insert_1(K, V, nil, 0) -> {{K, V, nil, nil}, 1, 1};
insert_1(K, V, nil, _) -> {K, V, nil, nil};
insert_1(K, _, _, _) -> error({key_exists, K}).

%% Weight and Height are those of the child that grew, Other is its sibling.
climb(T, Weight, Height, Other) ->
    {OtherWeight, OtherHeight} = measure(Other),
    NodeHeight = 2 * max(Height, OtherHeight),
    NodeWeight = Weight + OtherWeight + 1,
    case NodeHeight > NodeWeight * NodeWeight of
        true -> rebuild(T, NodeWeight);
        false -> {T, NodeWeight, NodeHeight}
    end.

%% Number of nodes, and 2 to the power of the depth.
measure({_, _, nil, nil}) -> {1, 1};
measure({_, _, S, B}) ->
    {Ws, Hs} = measure(S),
    {Wb, Hb} = measure(B),
    {Ws + Wb + 1, 2 * max(Hs, Hb)};
measure(nil) -> {0, 1}.

finished({T, _, _}) -> T;
finished(T) -> T.

enter(K, V, T) ->
    case is_defined(K, T) of
        true -> update(K, V, T);
        false -> insert(K, V, T)
    end.

balance({N, T}) -> {N, rebuild(T, N)}.

rebuild(T, N) -> build(to_list_1(T, []), N).

from_orddict(L) ->
    N = length(L),
    {N, build(L, N)}.

build(L, N) ->
    {T, []} = build_1(L, N),
    T.

%% A perfectly balanced tree of the first N pairs, and the others. The smaller
%% side is never the lighter one.
build_1(L, 0) -> {nil, L};
build_1([{K, V} | L], 1) -> {{K, V, nil, nil}, L};
build_1(L, N) ->
    Ns = N div 2,
    {S, [{K, V} | L1]} = build_1(L, Ns),
    {B, L2} = build_1(L1, N - 1 - Ns),
    {{K, V, S, B}, L2}.

delete_any(K, T) ->
    case is_defined(K, T) of
        true -> delete(K, T);
        false -> T
    end.

delete(K, {N, T}) when is_integer(N), N >= 0 -> {N - 1, delete_1(K, T)}.

delete_1(K, {K1, V, S, B}) when K < K1 -> {K1, V, delete_1(K, S), B};
delete_1(K, {K1, V, S, B}) when K > K1 -> {K1, V, S, delete_1(K, B)};
delete_1(_, {_, _, S, B}) -> join(S, B).

join(S, nil) -> S;
join(nil, B) -> B;
join(S, B) ->
    {K, V, B1} = take_smallest_1(B),
    {K, V, S, B1}.

take_any(K, T) ->
    case is_defined(K, T) of
        true -> take(K, T);
        false -> error
    end.

take(K, {N, T}) when is_integer(N), N >= 0 ->
    {V, T1} = take_1(K, T),
    {V, {N - 1, T1}}.

take_1(K, {K1, V, S, B}) when K < K1 ->
    {X, S1} = take_1(K, S),
    {X, {K1, V, S1, B}};
take_1(K, {K1, V, S, B}) when K > K1 ->
    {X, B1} = take_1(K, B),
    {X, {K1, V, S, B1}};
take_1(_, {_, V, S, B}) -> {V, join(S, B)}.

take_smallest({N, T}) when is_integer(N), N >= 0 ->
    {K, V, T1} = take_smallest_1(T),
    {K, V, {N - 1, T1}}.

take_smallest_1({K, V, nil, B}) -> {K, V, B};
take_smallest_1({K, V, S, B}) ->
    {K1, V1, S1} = take_smallest_1(S),
    {K1, V1, {K, V, S1, B}}.

take_largest({N, T}) when is_integer(N), N >= 0 ->
    {K, V, T1} = take_largest_1(T),
    {K, V, {N - 1, T1}}.

take_largest_1({K, V, S, nil}) -> {K, V, S};
take_largest_1({K, V, S, B}) ->
    {K1, V1, B1} = take_largest_1(B),
    {K1, V1, {K, V, S, B1}}.

smallest({_, T}) -> smallest_1(T).

smallest_1({K, V, nil, _}) -> {K, V};
smallest_1({_, _, S, _}) -> smallest_1(S).

largest({_, T}) -> largest_1(T).

largest_1({K, V, _, nil}) -> {K, V};
largest_1({_, _, _, B}) -> largest_1(B).

smaller(K, {_, T}) -> smaller_1(K, T, none).

smaller_1(K, {K1, V, _, B}, _) when K > K1 -> smaller_1(K, B, {K1, V});
smaller_1(K, {_, _, S, _}, Best) -> smaller_1(K, S, Best);
smaller_1(_, nil, Best) -> Best.

larger(K, {_, T}) -> larger_1(K, T, none).

larger_1(K, {K1, V, S, _}, _) when K < K1 -> larger_1(K, S, {K1, V});
larger_1(K, {_, _, _, B}, Best) -> larger_1(K, B, Best);
larger_1(_, nil, Best) -> Best.

to_list({_, T}) -> to_list_1(T, []).

to_list_1({K, V, S, B}, L) -> to_list_1(S, [{K, V} | to_list_1(B, L)]);
to_list_1(nil, L) -> L.

keys({_, T}) -> keys_1(T, []).

keys_1({K, _, S, B}, L) -> keys_1(S, [K | keys_1(B, L)]);
keys_1(nil, L) -> L.

values({_, T}) -> values_1(T, []).

values_1({_, V, S, B}, L) -> values_1(S, [V | values_1(B, L)]);
values_1(nil, L) -> L.

%% An iterator is the list of the nodes on the path still to be visited; a
%% reversed one is tagged.
iterator({_, T}) -> path(T, []).

iterator(Tree, ordered) -> iterator(Tree);
iterator({_, T}, reversed) -> {reversed, path_r(T, [])}.

path({_, _, nil, _} = T, Path) -> [T | Path];
path({_, _, S, _} = T, Path) -> path(S, [T | Path]);
path(nil, Path) -> Path.

path_r({_, _, _, nil} = T, Path) -> [T | Path];
path_r({_, _, _, B} = T, Path) -> path_r(B, [T | Path]);
path_r(nil, Path) -> Path.

iterator_from(K, {_, T}) -> path_from(K, T, []).

iterator_from(K, Tree, ordered) -> iterator_from(K, Tree);
iterator_from(K, {_, T}, reversed) -> {reversed, path_from_r(K, T, [])}.

path_from(K, {K1, _, _, B}, Path) when K1 < K -> path_from(K, B, Path);
path_from(_, {_, _, nil, _} = T, Path) -> [T | Path];
path_from(K, {_, _, S, _} = T, Path) -> path_from(K, S, [T | Path]);
path_from(_, nil, Path) -> Path.

path_from_r(K, {K1, _, S, _}, Path) when K1 > K -> path_from_r(K, S, Path);
path_from_r(K, {_, _, _, B} = T, Path) -> path_from_r(K, B, [T | Path]);
path_from_r(_, nil, Path) -> Path.

next([{K, V, _, B} | Path]) -> {K, V, path(B, Path)};
next([]) -> none;
next({reversed, [{K, V, S, _} | Path]}) -> {K, V, {reversed, path_r(S, Path)}};
next({reversed, []}) -> none.

map(F, {N, T}) when is_function(F, 2) -> {N, map_1(F, T)}.

map_1(F, {K, V, S, B}) -> {K, F(K, V), map_1(F, S), map_1(F, B)};
map_1(_, nil) -> nil.
