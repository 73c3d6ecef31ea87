%% Dictionaries as lists of {Key, Value} ordered by key (== decides).
-module(orddict).
-compile({no_auto_import, [size/1]}).

-export([new/0, is_key/2, to_list/1, from_list/1, size/1, is_empty/1, fetch/2,
         find/2, fetch_keys/1, erase/2, take/2, store/3, append/3,
         append_list/3, update/3, update/4, update_counter/3, fold/3, map/2,
         filter/2, merge/3]).

new() -> [].

is_key(K, [{K1, _} | _]) when K < K1 -> false;
is_key(K, [{K1, _} | T]) when K > K1 -> is_key(K, T);
is_key(_, [{_, _} | _]) -> true;
is_key(_, []) -> false.

to_list(D) -> D.

%% The last of several entries of a key wins.
from_list(L) -> lists:foldl(fun({K, V}, D) -> store(K, V, D) end, [], L).

size(D) -> length(D).

is_empty([]) -> true;
is_empty([_ | _]) -> false.

fetch(K, [{K1, _} | T]) when K > K1 -> fetch(K, T);
fetch(K, [{K1, V} | _]) when K == K1 -> V.

find(K, [{K1, _} | _]) when K < K1 -> error;
find(K, [{K1, _} | T]) when K > K1 -> find(K, T);
find(_, [{_, V} | _]) -> {ok, V};
find(_, []) -> error.

fetch_keys([{K, _} | T]) -> [K | fetch_keys(T)];
fetch_keys([]) -> [].

erase(K, [{K1, _} | _] = D) when K < K1 -> D;
erase(K, [{K1, _} = E | T]) when K > K1 -> [E | erase(K, T)];
erase(_, [{_, _} | T]) -> T;
erase(_, []) -> [].

take(K, D) ->
    case find(K, D) of
        {ok, V} -> {V, erase(K, D)};
        error -> error
    end.

store(K, V, [{K1, _} | _] = D) when K < K1 -> [{K, V} | D];
store(K, V, [{K1, _} = E | T]) when K > K1 -> [E | store(K, V, T)];
store(K, V, [{_, _} | T]) -> [{K, V} | T];
store(K, V, []) -> [{K, V}].

append(K, V, D) -> append_list(K, [V], D).

append_list(K, Vs, D) -> update(K, fun(Old) -> Old ++ Vs end, Vs, D).

update(K, F, [{K1, _} = E | T]) when K > K1 -> [E | update(K, F, T)];
update(K, F, [{K1, V} | T]) when K == K1 -> [{K, F(V)} | T].

update(K, _, Init, [{K1, _} | _] = D) when K < K1 -> [{K, Init} | D];
update(K, F, Init, [{K1, _} = E | T]) when K > K1 -> [E | update(K, F, Init, T)];
update(K, F, _, [{_, V} | T]) -> [{K, F(V)} | T];
update(K, _, Init, []) -> [{K, Init}].

update_counter(K, N, D) -> update(K, fun(V) -> V + N end, N, D).

fold(F, Acc, [{K, V} | T]) -> fold(F, F(K, V, Acc), T);
fold(F, Acc, []) when is_function(F, 3) -> Acc.

map(F, [{K, V} | T]) -> [{K, F(K, V)} | map(F, T)];
map(F, []) when is_function(F, 2) -> [].

filter(P, [{K, V} = E | T]) ->
    case P(K, V) of
        true -> [E | filter(P, T)];
        false -> filter(P, T)
    end;
filter(P, []) when is_function(P, 2) -> [].

merge(F, [{Ka, _} = A | As], [{Kb, _} | _] = Bs) when Ka < Kb -> [A | merge(F, As, Bs)];
merge(F, [{Ka, _} | _] = As, [{Kb, _} = B | Bs]) when Ka > Kb -> [B | merge(F, As, Bs)];
merge(F, [{K, Va} | As], [{_, Vb} | Bs]) -> [{K, F(K, Va, Vb)} | merge(F, As, Bs)];
merge(F, [], Bs) when is_function(F, 3) -> Bs;
merge(F, As, []) when is_function(F, 3) -> As.
