%% Sets as ordered lists without duplicates (== decides).
-module(ordsets).
-compile({no_auto_import, [size/1]}).

-export([new/0, is_set/1, size/1, is_empty/1, to_list/1, from_list/1,
         is_element/2, add_element/2, del_element/2, union/2, union/1,
         intersection/2, intersection/1, is_disjoint/2, subtract/2,
         is_subset/2, fold/3, filter/2, map/2, filtermap/2, is_equal/2]).

new() -> [].

is_set([X | T]) -> is_set(T, X);
is_set([]) -> true;
is_set(_) -> false.

is_set([Y | T], X) when X < Y -> is_set(T, Y);
is_set([], _) -> true;
is_set(_, _) -> false.

size(S) -> length(S).

is_empty(S) -> S =:= [].

is_equal(A, B) when is_list(A), is_list(B) -> A == B.

to_list(S) -> S.

from_list(L) -> lists:usort(L).

is_element(X, [Y | T]) when X > Y -> is_element(X, T);
is_element(X, [Y | _]) when X < Y -> false;
is_element(_, [_ | _]) -> true;
is_element(_, []) -> false.

add_element(X, [Y | T]) when X > Y -> [Y | add_element(X, T)];
add_element(X, [Y | _] = S) when X < Y -> [X | S];
add_element(_, [_ | _] = S) -> S;
add_element(X, []) -> [X].

del_element(X, [Y | T]) when X > Y -> [Y | del_element(X, T)];
del_element(X, [Y | _] = S) when X < Y -> S;
del_element(_, [_ | T]) -> T;
del_element(_, []) -> [].

union([A | As], [B | _] = Bs) when A < B -> [A | union(As, Bs)];
union([A | _] = As, [B | Bs]) when A > B -> [B | union(As, Bs)];
union([_ | As], [B | Bs]) -> [B | union(As, Bs)];
union([], Bs) -> Bs;
union(As, []) -> As.

union(Sets) -> lists:umerge(Sets).

intersection([A | As], [B | _] = Bs) when A < B -> intersection(As, Bs);
intersection([A | _] = As, [B | Bs]) when A > B -> intersection(As, Bs);
intersection([_ | As], [B | Bs]) -> [B | intersection(As, Bs)];
intersection([], _) -> [];
intersection(_, []) -> [].

intersection([S]) -> S;
intersection([A, B | T]) -> intersection([intersection(A, B) | T]).

is_disjoint([A | As], [B | _] = Bs) when A < B -> is_disjoint(As, Bs);
is_disjoint([A | _] = As, [B | Bs]) when A > B -> is_disjoint(As, Bs);
is_disjoint([_ | _], [_ | _]) -> false;
is_disjoint([], _) -> true;
is_disjoint(_, []) -> true.

subtract([A | As], [B | _] = Bs) when A < B -> [A | subtract(As, Bs)];
subtract([A | _] = As, [B | Bs]) when A > B -> subtract(As, Bs);
subtract([_ | As], [_ | Bs]) -> subtract(As, Bs);
subtract([], _) -> [];
subtract(As, []) -> As.

is_subset([A | _], [B | _]) when A < B -> false;
is_subset([A | _] = As, [B | Bs]) when A > B -> is_subset(As, Bs);
is_subset([_ | As], [_ | Bs]) -> is_subset(As, Bs);
is_subset([], _) -> true;
is_subset(_, []) -> false.

fold(F, Acc, S) -> lists:foldl(F, Acc, S).

filter(P, S) -> lists:filter(P, S).

map(F, S) -> from_list(lists:map(F, S)).

filtermap(F, S) -> from_list(lists:filtermap(F, S)).
