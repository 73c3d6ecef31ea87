%% SPDX-License-Identifier: Apache-2.0
%% Lists of properties: {Key, Value, ...} tuples, and atoms Key that stand for
%% {Key, true}. The first entry of a key is the one that counts. What rewrites whole lists by rules is an
%% installed OTP's.
-module(proplists).

-export([append_values/2, compact/1, delete/2, from_map/1,
         get_all_values/2, get_bool/2, get_keys/1, get_value/2, get_value/3,
         is_defined/2, lookup/2, lookup_all/2, property/1, property/2,
         to_map/1, unfold/1, '$handle_undefined_function'/2]).

'$handle_undefined_function'(Function, Arguments) -> installed_module:call(?MODULE, Function, Arguments).

property({Key, true}) when is_atom(Key) -> Key;
property(P) -> P.

property(Key, true) when is_atom(Key) -> Key;
property(Key, Value) -> {Key, Value}.

unfold([P | T]) when is_atom(P) -> [{P, true} | unfold(T)];
unfold([P | T]) -> [P | unfold(T)];
unfold([]) -> [].

compact(L) -> [property(P) || P <- L].

lookup(Key, [P | T]) ->
    if
        is_atom(P), P =:= Key -> {Key, true};
        tuple_size(P) >= 1, element(1, P) =:= Key -> P;
        true -> lookup(Key, T)
    end;
lookup(_, []) -> none.

lookup_all(Key, [P | T]) ->
    if
        is_atom(P), P =:= Key -> [{Key, true} | lookup_all(Key, T)];
        tuple_size(P) >= 1, element(1, P) =:= Key -> [P | lookup_all(Key, T)];
        true -> lookup_all(Key, T)
    end;
lookup_all(_, []) -> [].

is_defined(Key, L) -> lookup(Key, L) =/= none.

get_value(Key, L) -> get_value(Key, L, undefined).

%% A tuple that is not a pair hides later entries but has no value.
get_value(Key, [{Key, Value} | _], _) -> Value;
get_value(Key, [Key | _], _) when is_atom(Key) -> true;
get_value(Key, [P | _], Default) when tuple_size(P) >= 1, element(1, P) =:= Key -> Default;
get_value(Key, [_ | T], Default) -> get_value(Key, T, Default);
get_value(_, [], Default) -> Default.

get_all_values(Key, L) -> [V || {_, V} <- lookup_all(Key, L)].

append_values(Key, L) ->
    lists:append([if is_list(V) -> V; true -> [V] end || V <- get_all_values(Key, L)]).

get_bool(Key, L) ->
    case lookup(Key, L) of
        {_, true} -> true;
        _ -> false
    end.

get_keys(L) -> get_keys(L, #{}).

get_keys([P | T], Seen) when is_atom(P) -> get_keys(T, Seen#{P => []});
get_keys([P | T], Seen) when tuple_size(P) >= 1 -> get_keys(T, Seen#{element(1, P) => []});
get_keys([_ | T], Seen) -> get_keys(T, Seen);
get_keys([], Seen) -> maps:keys(Seen).

delete(Key, [P | T]) ->
    if
        is_atom(P), P =:= Key -> delete(Key, T);
        tuple_size(P) >= 1, element(1, P) =:= Key -> delete(Key, T);
        true -> [P | delete(Key, T)]
    end;
delete(_, []) -> [].

to_map(L) ->
    lists:foldr(fun({K, V}, Map) -> Map#{K => V};
                   (P, Map) when is_atom(P) -> Map#{P => true};
                   (P, Map) when tuple_size(P) >= 1 -> maps:remove(element(1, P), Map);
                   (_, Map) -> Map
                end, #{}, L).

from_map(Map) -> maps:to_list(Map).
