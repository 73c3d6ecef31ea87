%% Sets as general balanced trees: {Size, Tree}, a tree being nil or
%% {Element, Smaller, Bigger}. See gb_trees for how balance is kept.
-module(gb_sets).
-compile({no_auto_import, [size/1]}).

-export([empty/0, new/0, is_empty/1, size/1, singleton/1, is_member/2,
         is_element/2, insert/2, add/2, add_element/2, delete/2, delete_any/2,
         del_element/2, balance/1, union/2, union/1, intersection/2,
         intersection/1, is_equal/2, is_disjoint/2, difference/2, subtract/2, is_subset/2,
         to_list/1, from_list/1, from_ordset/1, smallest/1, largest/1,
         smaller/2, larger/2, take_smallest/1, take_largest/1, iterator/1,
         iterator/2, iterator_from/2, iterator_from/3, next/1, filter/2, fold/3,
         map/2, filtermap/2, is_set/1]).

empty() -> {0, nil}.
new() -> {0, nil}.

is_empty({0, nil}) -> true;
is_empty(_) -> false.

size({N, _}) -> N.

is_set({0, nil}) -> true;
is_set({N, {_, _, _}}) when is_integer(N), N >= 0 -> true;
is_set(_) -> false.

singleton(X) -> {1, {X, nil, nil}}.

is_element(X, Set) -> is_member(X, Set).

is_member(X, {_, T}) -> member(X, T).

member(X, {Y, S, _}) when X < Y -> member(X, S);
member(X, {Y, _, B}) when X > Y -> member(X, B);
member(_, {_, _, _}) -> true;
member(_, nil) -> false.

insert(X, {N, T}) ->
    N1 = N + 1,
    {N1, finished(insert_1(X, T, N1 * N1))}.

insert_1(X, {Y, S, B}, Limit) when X < Y ->
    case insert_1(X, S, Limit bsr 1) of
        {grown, S1, Weight, Height} -> climb({Y, S1, B}, Weight, Height, B);
        S1 -> {Y, S1, B}
    end;
insert_1(X, {Y, S, B}, Limit) when X > Y ->
    case insert_1(X, B, Limit bsr 1) of
        {grown, B1, Weight, Height} -> climb({Y, S, B1}, Weight, Height, S);
        B1 -> {Y, S, B1}
    end;
insert_1(X, nil, 0) -> {grown, {X, nil, nil}, 1, 1};
insert_1(X, nil, _) -> {X, nil, nil};
insert_1(X, _, _) -> error({key_exists, X}).

climb(T, Weight, Height, Other) ->
    {OtherWeight, OtherHeight} = measure(Other),
    NodeHeight = 2 * max(Height, OtherHeight),
    NodeWeight = Weight + OtherWeight + 1,
    case NodeHeight > NodeWeight * NodeWeight of
        true -> rebuild(T, NodeWeight);
        false -> {grown, T, NodeWeight, NodeHeight}
    end.

measure({_, nil, nil}) -> {1, 1};
measure({_, S, B}) ->
    {Ws, Hs} = measure(S),
    {Wb, Hb} = measure(B),
    {Ws + Wb + 1, 2 * max(Hs, Hb)};
measure(nil) -> {0, 1}.

finished({grown, T, _, _}) -> T;
finished(T) -> T.

balance({N, T}) -> {N, rebuild(T, N)}.

rebuild(T, N) -> build(to_list_1(T, []), N).

build(L, N) ->
    {T, []} = build_1(L, N),
    T.

build_1(L, 0) -> {nil, L};
build_1([X | L], 1) -> {{X, nil, nil}, L};
build_1(L, N) ->
    Ns = N div 2,
    {S, [X | L1]} = build_1(L, Ns),
    {B, L2} = build_1(L1, N - 1 - Ns),
    {{X, S, B}, L2}.

add_element(X, Set) -> add(X, Set).

add(X, Set) ->
    case is_member(X, Set) of
        true -> Set;
        false -> insert(X, Set)
    end.

from_list(L) -> from_ordset(lists:usort(L)).

from_ordset(L) ->
    N = length(L),
    {N, build(L, N)}.

del_element(X, Set) -> delete_any(X, Set).

delete_any(X, Set) ->
    case is_member(X, Set) of
        true -> delete(X, Set);
        false -> Set
    end.

delete(X, {N, T}) -> {N - 1, delete_1(X, T)}.

delete_1(X, {Y, S, B}) when X < Y -> {Y, delete_1(X, S), B};
delete_1(X, {Y, S, B}) when X > Y -> {Y, S, delete_1(X, B)};
delete_1(_, {_, S, B}) -> join(S, B).

join(S, nil) -> S;
join(nil, B) -> B;
join(S, B) ->
    {X, B1} = take_smallest_1(B),
    {X, S, B1}.

take_smallest({N, T}) ->
    {X, T1} = take_smallest_1(T),
    {X, {N - 1, T1}}.

take_smallest_1({X, nil, B}) -> {X, B};
take_smallest_1({X, S, B}) ->
    {Y, S1} = take_smallest_1(S),
    {Y, {X, S1, B}}.

take_largest({N, T}) ->
    {X, T1} = take_largest_1(T),
    {X, {N - 1, T1}}.

take_largest_1({X, S, nil}) -> {X, S};
take_largest_1({X, S, B}) ->
    {Y, B1} = take_largest_1(B),
    {Y, {X, S, B1}}.

smallest({_, T}) -> smallest_1(T).

smallest_1({X, nil, _}) -> X;
smallest_1({_, S, _}) -> smallest_1(S).

largest({_, T}) -> largest_1(T).

largest_1({X, _, nil}) -> X;
largest_1({_, _, B}) -> largest_1(B).

smaller(X, {_, T}) -> smaller_1(X, T, none).

smaller_1(X, {Y, _, B}, _) when X > Y -> smaller_1(X, B, {found, Y});
smaller_1(X, {_, S, _}, Best) -> smaller_1(X, S, Best);
smaller_1(_, nil, Best) -> Best.

larger(X, {_, T}) -> larger_1(X, T, none).

larger_1(X, {Y, S, _}, _) when X < Y -> larger_1(X, S, {found, Y});
larger_1(X, {_, _, B}, Best) -> larger_1(X, B, Best);
larger_1(_, nil, Best) -> Best.

to_list({_, T}) -> to_list_1(T, []).

to_list_1({X, S, B}, L) -> to_list_1(S, [X | to_list_1(B, L)]);
to_list_1(nil, L) -> L.

%% Two sets of similar size are merged as lists; a small one is worked into
%% (or looked up in) the big one.
union({N1, T1} = A, {N2, T2} = B) ->
    if
        N1 < N2, N1 * 10 < N2 -> lists:foldl(fun add/2, B, to_list(A));
        N2 < N1, N2 * 10 < N1 -> lists:foldl(fun add/2, A, to_list(B));
        true -> from_ordset(ordsets:union(to_list_1(T1, []), to_list_1(T2, [])))
    end.

union([A, B | T]) -> union([union(A, B) | T]);
union([A]) -> A;
union([]) -> empty().

intersection({N1, T1} = A, {N2, T2} = B) ->
    if
        N1 * 10 < N2 -> from_ordset([X || X <- to_list(A), member(X, T2)]);
        N2 * 10 < N1 -> from_ordset([X || X <- to_list(B), member(X, T1)]);
        true -> from_ordset(ordsets:intersection(to_list(A), to_list(B)))
    end.

intersection([A, B | T]) -> intersection([intersection(A, B) | T]);
intersection([A]) -> A.

is_equal({N, _} = A, {N, _} = B) -> to_list(A) == to_list(B);
is_equal(_, _) -> false.

is_disjoint({N1, T1} = A, {N2, T2} = B) ->
    if
        N1 * 10 < N2 -> not lists:any(fun(X) -> member(X, T2) end, to_list(A));
        N2 * 10 < N1 -> not lists:any(fun(X) -> member(X, T1) end, to_list(B));
        true -> ordsets:is_disjoint(to_list(A), to_list(B))
    end.

subtract(A, B) -> difference(A, B).

difference({N1, _} = A, {N2, T2} = B) ->
    if
        N2 * 10 < N1 -> lists:foldl(fun delete_any/2, A, to_list(B));
        N1 * 10 < N2 -> from_ordset([X || X <- to_list(A), not member(X, T2)]);
        true -> from_ordset(ordsets:subtract(to_list(A), to_list(B)))
    end.

is_subset({N1, _} = A, {N2, T2} = B) ->
    if
        N1 > N2 -> false;
        N1 * 10 < N2 -> lists:all(fun(X) -> member(X, T2) end, to_list(A));
        true -> ordsets:is_subset(to_list(A), to_list(B))
    end.

iterator({_, T}) -> path(T, []).

iterator(Set, ordered) -> iterator(Set);
iterator({_, T}, reversed) -> {reversed, path_r(T, [])}.

path({_, nil, _} = T, Path) -> [T | Path];
path({_, S, _} = T, Path) -> path(S, [T | Path]);
path(nil, Path) -> Path.

path_r({_, _, nil} = T, Path) -> [T | Path];
path_r({_, _, B} = T, Path) -> path_r(B, [T | Path]);
path_r(nil, Path) -> Path.

iterator_from(X, {_, T}) -> path_from(X, T, []).

iterator_from(X, Set, ordered) -> iterator_from(X, Set);
iterator_from(X, {_, T}, reversed) -> {reversed, path_from_r(X, T, [])}.

path_from(X, {Y, _, B}, Path) when Y < X -> path_from(X, B, Path);
path_from(_, {_, nil, _} = T, Path) -> [T | Path];
path_from(X, {_, S, _} = T, Path) -> path_from(X, S, [T | Path]);
path_from(_, nil, Path) -> Path.

path_from_r(X, {Y, S, _}, Path) when Y > X -> path_from_r(X, S, Path);
path_from_r(X, {_, _, B} = T, Path) -> path_from_r(X, B, [T | Path]);
path_from_r(_, nil, Path) -> Path.

next([{X, _, B} | Path]) -> {X, path(B, Path)};
next([]) -> none;
next({reversed, [{X, S, _} | Path]}) -> {X, {reversed, path_r(S, Path)}};
next({reversed, []}) -> none.

filter(P, Set) -> from_ordset([X || X <- to_list(Set), P(X)]).

map(F, Set) -> from_list(lists:map(F, to_list(Set))).

filtermap(F, Set) -> from_list(lists:filtermap(F, to_list(Set))).

fold(F, Acc, {_, T}) when is_function(F, 2) -> fold_1(F, Acc, T).

fold_1(F, Acc, {X, S, B}) -> fold_1(F, F(X, fold_1(F, Acc, S)), B);
fold_1(_, Acc, nil) -> Acc.
