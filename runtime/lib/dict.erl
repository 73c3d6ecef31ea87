%% Key-value dictionaries (=:= decides), here a tagged map.
-module(dict).
-compile({no_auto_import, [size/1]}).

-export([new/0, is_key/2, to_list/1, from_list/1, size/1, is_empty/1, fetch/2,
         find/2, fetch_keys/1, erase/2, take/2, store/3, append/3,
         append_list/3, update/3, update/4, update_counter/3, fold/3, map/2,
         filter/2, merge/3]).

new() -> {dict, #{}}.

is_key(K, {dict, M}) -> is_map_key(K, M).

to_list({dict, M}) -> maps:to_list(M).

from_list(L) -> {dict, maps:from_list(L)}.

size({dict, M}) -> map_size(M).

is_empty({dict, M}) -> map_size(M) =:= 0.

fetch(K, {dict, M}) ->
    case M of
        #{K := V} -> V;
        #{} -> error(badarg, [K, {dict, M}])
    end.

find(K, {dict, M}) -> maps:find(K, M).

fetch_keys({dict, M}) -> maps:keys(M).

erase(K, {dict, M}) -> {dict, maps:remove(K, M)}.

take(K, {dict, M}) ->
    case maps:take(K, M) of
        {V, M1} -> {V, {dict, M1}};
        error -> error
    end.

store(K, V, {dict, M}) -> {dict, M#{K => V}}.

append(K, V, D) -> append_list(K, [V], D).

append_list(K, Vs, D) -> update(K, fun(Old) -> Old ++ Vs end, Vs, D).

update(K, F, {dict, M} = D) ->
    case M of
        #{K := V} -> {dict, M#{K := F(V)}};
        #{} -> error(badarg, [K, F, D])
    end.

update(K, F, Init, {dict, M}) ->
    case M of
        #{K := V} -> {dict, M#{K := F(V)}};
        #{} -> {dict, M#{K => Init}}
    end.

update_counter(K, N, D) -> update(K, fun(V) -> V + N end, N, D).

fold(F, Acc, {dict, M}) -> maps:fold(F, Acc, M).

map(F, {dict, M}) -> {dict, maps:map(F, M)}.

filter(P, {dict, M}) -> {dict, maps:filter(P, M)}.

merge(F, {dict, A}, {dict, B}) -> {dict, maps:merge_with(F, A, B)}.
