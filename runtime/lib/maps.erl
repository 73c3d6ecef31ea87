%% SPDX-License-Identifier: Apache-2.0
%% Maps. Built into the machine: find/2, get/2, is_key/2, keys/1, values/1,
%% put/3, remove/2, take/2, update/3, merge/2, from_list/1, from_keys/2, and
%% erts_internal:map_next/3 and erts_internal:maps_to_list/2, which walk a map.
%%
%% An iterator is the improper list [Path | Map] (not started), the triple
%% {Key, Value, Rest}, or none. erts_internal:map_next(Path, Map, iterator)
%% answers one of the last two.
-module(maps).
-compile({no_auto_import, [size/1]}).
-define(ERRORS, [{error_info, #{module => erl_stdlib_errors}}]).  % who explains

-export([filter/2, filtermap/2, fold/3, foreach/2, get/3, groups_from_list/2,
         groups_from_list/3, intersect/2, intersect_with/3, iterator/1,
         iterator/2, is_iterator_valid/1, map/2, merge_with/3, new/0, next/1, size/1, to_list/1,
         update_with/3, update_with/4, with/2, without/2]).

new() -> #{}.

size(Map) when is_map(Map) -> map_size(Map);
size(Map) -> error({badmap, Map}, [Map], ?ERRORS).

get(Key, Map, Default) when is_map(Map) ->
    case Map of
        #{Key := Value} -> Value;
        #{} -> Default
    end;
get(Key, Map, Default) -> error({badmap, Map}, [Key, Map, Default], ?ERRORS).

to_list(Map) when is_map(Map) -> erts_internal:maps_to_list(Map, -1);
to_list(Iter) ->
    try iterated(next(Iter))
    catch error:_ -> error({badmap, Iter}, [Iter], ?ERRORS)
    end.

iterated({K, V, Next}) -> [{K, V} | iterated(next(Next))];
iterated(none) -> [].

update_with(Key, F, Map) when is_function(F, 1), is_map(Map) ->
    case Map of
        #{Key := Value} -> Map#{Key := F(Value)};
        #{} -> error({badkey, Key}, [Key, F, Map], ?ERRORS)
    end;
update_with(Key, F, Map) -> error(map_or_badarg(Map), [Key, F, Map], ?ERRORS).

update_with(Key, F, Init, Map) when is_function(F, 1), is_map(Map) ->
    case Map of
        #{Key := Value} -> Map#{Key := F(Value)};
        #{} -> Map#{Key => Init}
    end;
update_with(Key, F, Init, Map) -> error(map_or_badarg(Map), [Key, F, Init, Map], ?ERRORS).

with(Keys, Map) when is_list(Keys), is_map(Map) ->
    maps:from_list(with_pairs(Keys, Map));
with(Keys, Map) -> error(map_or_badarg(Map), [Keys, Map], ?ERRORS).

with_pairs([K | Ks], Map) ->
    case Map of
        #{K := V} -> [{K, V} | with_pairs(Ks, Map)];
        #{} -> with_pairs(Ks, Map)
    end;
with_pairs([], _) -> [].

without(Keys, Map) when is_list(Keys), is_map(Map) ->
    lists:foldl(fun maps:remove/2, Map, Keys);
without(Keys, Map) -> error(map_or_badarg(Map), [Keys, Map], ?ERRORS).

%% What a call with a wrong argument fails with.
map_or_badarg(Map) when is_map(Map) -> badarg;
map_or_badarg(Map) -> {badmap, Map}.

%% Iterators

iterator(Map) when is_map(Map) -> [0 | Map];
iterator(Map) -> error({badmap, Map}, [Map], ?ERRORS).

%% An ordered iterator holds the whole list of pairs as nested triples.
iterator(Map, undefined) -> iterator(Map);
iterator(Map, Order) when is_map(Map) ->
    chain(ordered(maps:to_list(Map), Order));
iterator(Map, Order) -> error({badmap, Map}, [Map, Order], ?ERRORS).

ordered(Pairs, ordered) -> lists:keysort(1, strict(Pairs));
ordered(Pairs, reversed) -> lists:reverse(ordered(Pairs, ordered));
ordered(Pairs, Le) when is_function(Le, 2) ->
    lists:sort(fun({A, _}, {B, _}) -> Le(A, B) end, Pairs).

%% Keys 1 and 1.0 compare equal; a map orders the integer first.
strict(Pairs) ->
    {Ints, Rest} = lists:partition(fun({K, _}) -> is_integer(K) end, Pairs),
    Ints ++ Rest.

chain([{K, V} | Rest]) -> {K, V, chain(Rest)};
chain([]) -> none.

next({_, _, _} = Triple) -> Triple;
next(none) -> none;
next([Path | Map]) when is_map(Map), (is_integer(Path) orelse is_list(Path)) ->
    erts_internal:map_next(Path, Map, iterator);
next(Iter) -> error(badarg, [Iter], ?ERRORS).

is_iterator_valid(Iter) -> not is_map(Iter) andalso start(Iter) =/= bad andalso is_next_valid(Iter).

is_next_valid({_, _, Next}) -> is_iterator_valid(Next);
is_next_valid(_) -> true.

%% The pairs a function of this module walks over: a map or an iterator.
start(Map) when is_map(Map) -> next([0 | Map]);
start(Iter) ->
    try next(Iter)
    catch error:badarg -> bad
    end.

%% Higher-order functions

fold(F, Acc, Map) when is_function(F, 3) ->
    case start(Map) of
        bad -> error({badmap, Map}, [F, Acc, Map], ?ERRORS);
        Next -> fold_loop(F, Acc, Next)
    end;
fold(F, Acc, Map) -> error(iter_or_badarg(Map), [F, Acc, Map], ?ERRORS).

fold_loop(F, Acc, {K, V, Next}) -> fold_loop(F, F(K, V, Acc), next(Next));
fold_loop(_, Acc, none) -> Acc.

foreach(F, Map) when is_function(F, 2) ->
    case start(Map) of
        bad -> error({badmap, Map}, [F, Map], ?ERRORS);
        Next -> foreach_loop(F, Next)
    end;
foreach(F, Map) -> error(iter_or_badarg(Map), [F, Map], ?ERRORS).

foreach_loop(F, {K, V, Next}) -> F(K, V), foreach_loop(F, next(Next));
foreach_loop(_, none) -> ok.

map(F, Map) when is_function(F, 2) ->
    case start(Map) of
        bad -> error({badmap, Map}, [F, Map], ?ERRORS);
        Next -> maps:from_list(map_loop(F, Next))
    end;
map(F, Map) -> error(iter_or_badarg(Map), [F, Map], ?ERRORS).

map_loop(F, {K, V, Next}) -> [{K, F(K, V)} | map_loop(F, next(Next))];
map_loop(_, none) -> [].

filter(P, Map) when is_function(P, 2) ->
    case start(Map) of
        bad -> error({badmap, Map}, [P, Map], ?ERRORS);
        Next -> maps:from_list(filter_loop(P, Next))
    end;
filter(P, Map) -> error(iter_or_badarg(Map), [P, Map], ?ERRORS).

filter_loop(P, {K, V, Next}) ->
    case P(K, V) of
        true -> [{K, V} | filter_loop(P, next(Next))];
        false -> filter_loop(P, next(Next))
    end;
filter_loop(_, none) -> [].

filtermap(F, Map) when is_function(F, 2) ->
    case start(Map) of
        bad -> error({badmap, Map}, [F, Map], ?ERRORS);
        Next -> maps:from_list(filtermap_loop(F, Next))
    end;
filtermap(F, Map) -> error(iter_or_badarg(Map), [F, Map], ?ERRORS).

filtermap_loop(F, {K, V, Next}) ->
    case F(K, V) of
        {true, V1} -> [{K, V1} | filtermap_loop(F, next(Next))];
        true -> [{K, V} | filtermap_loop(F, next(Next))];
        false -> filtermap_loop(F, next(Next))
    end;
filtermap_loop(_, none) -> [].

iter_or_badarg(Map) ->
    case start(Map) of
        bad -> {badmap, Map};
        _ -> badarg
    end.

%% Two maps

merge_with(F, A, B) when is_function(F, 3), is_map(A), is_map(B) ->
    case map_size(A) > map_size(B) of
        true -> merge_into(start(B), A, F);
        false -> merge_into(start(A), B, fun(K, Vb, Va) -> F(K, Va, Vb) end)
    end;
merge_with(F, A, B) -> error(badmap_of(A, B), [F, A, B], ?ERRORS).

merge_into({K, V, Next}, Big, F) ->
    case Big of
        #{K := W} -> merge_into(next(Next), Big#{K := F(K, W, V)}, F);
        #{} -> merge_into(next(Next), Big#{K => V}, F)
    end;
merge_into(none, Big, _) -> Big.

%% The values are those of B.
intersect(A, B) when is_map(A), is_map(B) ->
    case map_size(A) =< map_size(B) of
        true -> with(maps:keys(A), B);
        false -> filter(fun(K, _) -> is_map_key(K, A) end, B)
    end;
intersect(A, B) -> error(badmap_of(A, B), [A, B], ?ERRORS).

intersect_with(F, A, B) when is_function(F, 3), is_map(A), is_map(B) ->
    Pairs =
        case map_size(A) =< map_size(B) of
            true -> [{K, F(K, Va, map_get(K, B))} || {K, Va} <- to_list(A), is_map_key(K, B)];
            false -> [{K, F(K, map_get(K, A), Vb)} || {K, Vb} <- to_list(B), is_map_key(K, A)]
        end,
    maps:from_list(Pairs);
intersect_with(F, A, B) -> error(badmap_of(A, B), [F, A, B], ?ERRORS).

badmap_of(A, B) when is_map(A), is_map(B) -> badarg;
badmap_of(A, B) when is_map(A) -> {badmap, B};
badmap_of(A, _) -> {badmap, A}.

%% Grouping

groups_from_list(Key, L) when is_function(Key, 1) ->
    group(Key, fun(X) -> X end, safe_reverse(L, [Key, L]), #{});
groups_from_list(Key, L) -> error(badarg, [Key, L], ?ERRORS).

groups_from_list(Key, Value, L) when is_function(Key, 1), is_function(Value, 1) ->
    group(Key, Value, safe_reverse(L, [Key, Value, L]), #{});
groups_from_list(Key, Value, L) -> error(badarg, [Key, Value, L], ?ERRORS).

%% Walks the list from its end so that the groups keep its order.
group(Key, Value, [X | T], Groups) ->
    K = Key(X),
    V = Value(X),
    case Groups of
        #{K := Vs} -> group(Key, Value, T, Groups#{K := [V | Vs]});
        #{} -> group(Key, Value, T, Groups#{K => [V]})
    end;
group(_, _, [], Groups) -> Groups.

safe_reverse(L, Args) ->
    try lists:reverse(L)
    catch error:_ -> error(badarg, Args, ?ERRORS)
    end.
