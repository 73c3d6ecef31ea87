%% SPDX-License-Identifier: Apache-2.0
%% Sets (=:= decides). A set of version 2, the default since OTP 28, is a map of
%% its elements to []; one of version 1 is the same map with a tag, so that the
%% two remain different terms. An operation on two sets of the same version
%% gives that version; a mixed one gives the first argument's.
-module(sets).
-compile({no_auto_import, [size/1]}).

-export([new/0, new/1, is_set/1, size/1, is_empty/1, is_equal/2, to_list/1,
         from_list/1, from_list/2, is_element/2, add_element/2, del_element/2,
         union/2, union/1, intersection/2, intersection/1, is_disjoint/2,
         subtract/2, is_subset/2, fold/3, filter/2, map/2, filtermap/2]).

new() -> #{}.

new([{version, 2}]) -> #{};
new(Options) ->
    case proplists:get_value(version, Options, 2) of
        1 -> {set, #{}};
        2 -> #{}
    end.

from_list(L) -> maps:from_keys(L, []).

from_list(L, [{version, 2}]) -> maps:from_keys(L, []);
from_list(L, Options) -> like(new(Options), maps:from_keys(L, [])).

is_set({set, M}) when is_map(M) -> true;
is_set(S) -> is_map(S).

size(S) -> map_size(elements(S)).

is_empty(S) -> map_size(elements(S)) =:= 0.

is_equal(A, B) -> elements(A) =:= elements(B).

to_list(S) -> maps:keys(elements(S)).

is_element(X, S) -> is_map_key(X, elements(S)).

add_element(X, {set, M}) -> {set, M#{X => []}};
add_element(X, M) -> M#{X => []}.

del_element(X, {set, M}) -> {set, maps:remove(X, M)};
del_element(X, M) -> maps:remove(X, M).

union(A, B) -> like(A, maps:merge(elements(A), elements(B))).

union([A, B | T]) -> union([union(A, B) | T]);
union([S]) -> S;
union([]) -> new().

intersection(A, B) -> like(A, maps:intersect(elements(A), elements(B))).

intersection([A, B | T]) -> intersection([intersection(A, B) | T]);
intersection([S]) -> S.

is_disjoint(A, B) ->
    Ma = elements(A),
    Mb = elements(B),
    case map_size(Ma) =< map_size(Mb) of
        true -> none_in(maps:next(maps:iterator(Ma)), Mb);
        false -> none_in(maps:next(maps:iterator(Mb)), Ma)
    end.

none_in({X, _, Next}, M) -> not is_map_key(X, M) andalso none_in(maps:next(Next), M);
none_in(none, _) -> true.

subtract(A, B) ->
    Mb = elements(B),
    filter(fun(X) -> not is_map_key(X, Mb) end, A).

is_subset(A, B) ->
    Ma = elements(A),
    Mb = elements(B),
    map_size(Ma) =< map_size(Mb) andalso all_in(maps:next(maps:iterator(Ma)), Mb).

all_in({X, _, Next}, M) -> is_map_key(X, M) andalso all_in(maps:next(Next), M);
all_in(none, _) -> true.

fold(F, Acc, S) -> maps:fold(fun(X, _, A) -> F(X, A) end, Acc, elements(S)).

filter(P, S) -> like(S, maps:filter(fun(X, _) -> P(X) end, elements(S))).

map(F, S) -> like(S, maps:from_keys(lists:map(F, to_list(S)), [])).

filtermap(F, S) -> like(S, maps:from_keys(lists:filtermap(F, to_list(S)), [])).

elements({set, M}) -> M;
elements(M) when is_map(M) -> M.

like({set, _}, M) -> {set, M};
like(_, M) -> M.
