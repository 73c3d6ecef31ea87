%% Lists of properties: {Key, Value, ...} tuples, and atoms Key that stand for
%% {Key, true}. The first entry of a key is the one that counts.
-module(proplists).

-export([append_values/2, compact/1, delete/2, expand/2, from_map/1,
         get_all_values/2, get_bool/2, get_keys/1, get_value/2, get_value/3,
         is_defined/2, lookup/2, lookup_all/2, normalize/2, property/1,
         property/2, split/2, substitute_aliases/2, substitute_negations/2,
         to_map/1, to_map/2, unfold/1]).

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

substitute_aliases(Aliases, L) -> [renamed(P, Aliases) || P <- L].

renamed(P, Aliases) ->
    case key_of(P) of
        none -> P;
        {key, Key} ->
            case lists:keyfind(Key, 1, Aliases) of
                {_, New} when is_atom(P) -> property(New, true);
                {_, New} -> property(setelement(1, P, New));
                false -> P
            end
    end.

substitute_negations(Negations, L) -> [negated(P, Negations) || P <- L].

negated(P, Negations) ->
    case key_of(P) of
        none -> P;
        {key, Key} ->
            case lists:keyfind(Key, 1, Negations) of
                {_, New} when is_atom(P) -> {New, false};
                {_, New} ->
                    case P of
                        {_, true} -> {New, false};
                        _ -> property(New, true)
                    end;
                false -> P
            end
    end.

key_of(P) when is_atom(P) -> {key, P};
key_of(P) when tuple_size(P) >= 1 -> {key, element(1, P)};
key_of(_) -> none.

%% What an expansion put in is not looked at by later expansions: it is kept
%% as {expanded, Terms} until the end.
expand(Expansions, L) -> expand_all(Expansions, L).

expand_all([{P, Terms} | Es], L) ->
    P1 = property(P),
    {key, Key} = key_of(P1),
    expand_all(Es, expand_first(Key, P1, Terms, L));
expand_all([], L) -> unwrap(L).

unwrap([{'$expanded', Terms} | T]) -> Terms ++ unwrap(T);
unwrap([P | T]) -> [P | unwrap(T)];
unwrap([]) -> [].

%% Only the first entry with the key counts; if it is the property itself then
%% the later entries of the key go away.
expand_first(Key, P, Terms, [E | T] = L) ->
    case key_of(E) of
        {key, Key} ->
            case property(E) of
                P -> [{'$expanded', Terms} | [X || X <- T, key_of(X) =/= {key, Key}]];
                _ -> L
            end;
        _ -> [E | expand_first(Key, P, Terms, T)]
    end;
expand_first(_, _, _, []) -> [].

normalize(L, [{aliases, As} | T]) -> normalize(substitute_aliases(As, L), T);
normalize(L, [{negations, Ns} | T]) -> normalize(substitute_negations(Ns, L), T);
normalize(L, [{expand, Es} | T]) -> normalize(expand(Es, L), T);
normalize(L, []) -> compact(L).

split(L, Keys) ->
    {Lists, Rest} = split(L, maps:from_keys(Keys, []), []),
    {[lists:reverse(map_get(K, Lists)) || K <- Keys], lists:reverse(Rest)}.

split([P | T], Lists, Rest) ->
    case key_of(P) of
        {key, K} when is_map_key(K, Lists) ->
            split(T, Lists#{K := [P | map_get(K, Lists)]}, Rest);
        {key, _} -> split(T, Lists, [P | Rest]);
        none -> split(T, Lists, [P | Rest])
    end;
split([], Lists, Rest) -> {Lists, Rest}.

to_map(L) ->
    lists:foldr(fun({K, V}, Map) -> Map#{K => V};
                   (P, Map) when is_atom(P) -> Map#{P => true};
                   (P, Map) when tuple_size(P) >= 1 -> maps:remove(element(1, P), Map);
                   (_, Map) -> Map
                end, #{}, L).

to_map(L, Stages) -> to_map(normalize(L, Stages)).

from_map(Map) -> maps:to_list(Map).
