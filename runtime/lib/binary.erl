%% Searching, splitting and replacing in binaries. The rest of the module is
%% built into the machine (README.md has the list).
%%
%% A compiled pattern is {byte, C} for one byte, {one, Pattern} for one
%% pattern, or {any, Patterns} with the longest first: the earliest match wins,
%% and of matches at one place the longest.
-module(binary).

-export([compile_pattern/1, match/2, match/3, matches/2, matches/3, split/2, split/3,
         replace/3, replace/4, longest_common_prefix/1, longest_common_suffix/1,
         encode_hex/1, encode_hex/2, decode_hex/1, join/2]).

%% Patterns

compile_pattern(Pattern) ->
    try compiled(Pattern)
    catch error:_ -> error(badarg, [Pattern])
    end.

compiled({byte, _} = Compiled) -> Compiled;
compiled({one, _} = Compiled) -> Compiled;
compiled({any, _} = Compiled) -> Compiled;
compiled(<<C>>) -> {byte, C};
compiled(B) when is_binary(B), B =/= <<>> -> {one, B};
compiled([B]) -> compiled(B);
compiled([_ | _] = Bs) ->
    true = lists:all(fun(B) -> is_binary(B) andalso B =/= <<>> end, Bs),
    {any, lists:sort(fun(A, B) -> byte_size(A) >= byte_size(B) end, Bs)}.

%% {Start, Length} with Length not negative, within the binary.
scope(B, Options) -> scope(B, Options, {0, byte_size(B)}).

scope(B, [{scope, {Start, Len}} | Options], _) when is_integer(Start), is_integer(Len) ->
    {From, Count} = if Len < 0 -> {Start + Len, -Len}; true -> {Start, Len} end,
    true = From >= 0 andalso From + Count =< byte_size(B) andalso Start =< byte_size(B),
    scope(B, Options, {From, Count});
scope(_, [], Scope) -> Scope.

%% Searching

match(B, Pattern) ->
    try find(B, compiled(Pattern), 0, byte_size(B))
    catch error:_ -> error(badarg, [B, Pattern])
    end.

match(B, Pattern, Options) ->
    try
        {From, Count} = scope(B, Options),
        find(B, compiled(Pattern), From, From + Count)
    catch error:_ -> error(badarg, [B, Pattern, Options])
    end.

matches(B, Pattern) ->
    try find_all(B, compiled(Pattern), 0, byte_size(B))
    catch error:_ -> error(badarg, [B, Pattern])
    end.

matches(B, Pattern, Options) ->
    try
        {From, Count} = scope(B, Options),
        find_all(B, compiled(Pattern), From, From + Count)
    catch error:_ -> error(badarg, [B, Pattern, Options])
    end.

find_all(B, Pattern, From, End) ->
    case find(B, Pattern, From, End) of
        {At, Len} = Found -> [Found | find_all(B, Pattern, At + Len, End)];
        nomatch -> []
    end.

%% The first match that lies between From and End.
find(B, {byte, C}, From, End) ->
    <<_:From/binary, Rest/binary>> = B,
    find_byte(Rest, C, From, End);
find(B, {one, Pattern}, From, End) ->
    <<First, Tail/binary>> = Pattern,
    find_one(B, First, Tail, byte_size(Tail), From, End - byte_size(Tail));
find(B, {any, Patterns}, From, End) ->
    <<_:From/binary, Rest/binary>> = B,
    Firsts = maps:from_keys([binary:first(P) || P <- Patterns], []),
    find_any(Rest, B, Patterns, Firsts, From, End).

find_byte(_, _, At, End) when At >= End -> nomatch;
find_byte(<<C, _/binary>>, C, At, _) -> {At, 1};
find_byte(<<_, Rest/binary>>, C, At, End) -> find_byte(Rest, C, At + 1, End);
find_byte(<<>>, _, _, _) -> nomatch.

find_one(B, First, Tail, TailLen, From, End) when From < End ->
    <<_:From/binary, Rest/binary>> = B,
    case find_byte(Rest, First, From, End) of
        {At, 1} ->
            Behind = At + 1,
            case B of
                <<_:Behind/binary, Tail:TailLen/binary, _/binary>> -> {At, TailLen + 1};
                _ -> find_one(B, First, Tail, TailLen, Behind, End)
            end;
        nomatch -> nomatch
    end;
find_one(_, _, _, _, _, _) -> nomatch.

find_any(_, _, _, _, At, End) when At >= End -> nomatch;
find_any(<<C, Rest/binary>>, B, Patterns, Firsts, At, End) ->
    case is_map_key(C, Firsts) andalso longest_at(Patterns, B, At, End) of
        false -> find_any(Rest, B, Patterns, Firsts, At + 1, End);
        Len -> {At, Len}
    end;
find_any(<<>>, _, _, _, _, _) -> nomatch.

longest_at([P | Ps], B, At, End) ->
    Len = byte_size(P),
    case B of
        <<_:At/binary, P:Len/binary, _/binary>> when At + Len =< End -> Len;
        _ -> longest_at(Ps, B, At, End)
    end;
longest_at([], _, _, _) -> false.

%% Splitting

split(B, Pattern) -> split(B, Pattern, []).

split(B, Pattern, Options) ->
    try
        Scopes = [O || {scope, _} = O <- Options],
        true = lists:all(fun(O) -> lists:member(O, [global, trim, trim_all]) end, Options -- Scopes),
        {From, Count} = scope(B, Scopes),
        Compiled = compiled(Pattern),
        Found = case lists:member(global, Options) of
                    true -> find_all(B, Compiled, From, From + Count);
                    false ->
                        case find(B, Compiled, From, From + Count) of
                            nomatch -> [];
                            Match -> [Match]
                        end
                end,
        Parts = cut(B, Found, 0),
        case {lists:member(trim_all, Options), lists:member(trim, Options)} of
            {true, _} -> [P || P <- Parts, P =/= <<>>];
            {_, true} -> trim_end(Parts);
            _ -> Parts
        end
    catch error:_ -> error(badarg, [B, Pattern, Options])
    end.

cut(B, [{At, Len} | Found], From) ->
    [binary:part(B, From, At - From) | cut(B, Found, At + Len)];
cut(B, [], From) -> [binary:part(B, From, byte_size(B) - From)].

trim_end(Parts) ->
    lists:reverse(lists:dropwhile(fun(P) -> P =:= <<>> end, lists:reverse(Parts))).

%% Replacing

replace(B, Pattern, New) -> replace(B, Pattern, New, []).

replace(B, Pattern, New, Options) ->
    try
        true = is_binary(New) orelse is_function(New, 1),
        Scopes = [O || {scope, _} = O <- Options],
        Inserts = [I || {insert_replaced, I} <- Options],
        true = lists:all(fun({insert_replaced, _}) -> true; (O) -> O =:= global end, Options -- Scopes),
        {From, Count} = scope(B, Scopes),
        Compiled = compiled(Pattern),
        Found = case lists:member(global, Options) of
                    true -> find_all(B, Compiled, From, From + Count);
                    false ->
                        case find(B, Compiled, From, From + Count) of
                            nomatch -> [];
                            Match -> [Match]
                        end
                end,
        case Found of
            [] -> B;
            _ -> iolist_to_binary(replaced(B, Found, 0, replacement(New, lists:append([listed(I) || I <- Inserts]))))
        end
    catch error:_ -> error(badarg, [B, Pattern, New, Options])
    end.

listed(I) when is_list(I) -> I;
listed(I) -> [I].

%% A function from what was found to what replaces it.
replacement(New, []) when is_binary(New) -> fun(_) -> New end;
replacement(New, _) when is_function(New) -> New;
replacement(New, Positions) ->
    Pieces = insert_at(New, lists:sort(Positions), 0),
    fun(Old) -> [case P of insert -> Old; _ -> P end || P <- Pieces] end.

insert_at(New, [P | Ps], From) -> [binary:part(New, From, P - From), insert | insert_at(New, Ps, P)];
insert_at(New, [], From) -> [binary:part(New, From, byte_size(New) - From)].

replaced(B, [{At, Len} | Found], From, Replace) ->
    [binary:part(B, From, At - From), Replace(binary:part(B, At, Len)) | replaced(B, Found, At + Len, Replace)];
replaced(B, [], From, _) -> [binary:part(B, From, byte_size(B) - From)].

join(_, []) -> <<>>;
join(Separator, [_ | _] = Bs) when is_binary(Separator) -> iolist_to_binary(lists:join(Separator, Bs));
join(Separator, Bs) -> error(badarg, [Separator, Bs]).

%% Common ends

longest_common_prefix([B | Bs] = All) ->
    try lists:foldl(fun(X, N) -> common_prefix(X, B, 0, min(N, byte_size(X))) end, byte_size(B), Bs)
    catch error:_ -> error(badarg, [All])
    end;
longest_common_prefix(All) -> error(badarg, [All]).

common_prefix(A, B, I, Max) when I < Max ->
    case binary:at(A, I) =:= binary:at(B, I) of
        true -> common_prefix(A, B, I + 1, Max);
        false -> I
    end;
common_prefix(_, _, _, Max) -> Max.

longest_common_suffix([B | Bs] = All) ->
    try lists:foldl(fun(X, N) -> common_suffix(X, B, 0, min(N, byte_size(X))) end, byte_size(B), Bs)
    catch error:_ -> error(badarg, [All])
    end;
longest_common_suffix(All) -> error(badarg, [All]).

common_suffix(A, B, I, Max) when I < Max ->
    case binary:at(A, byte_size(A) - 1 - I) =:= binary:at(B, byte_size(B) - 1 - I) of
        true -> common_suffix(A, B, I + 1, Max);
        false -> I
    end;
common_suffix(_, _, _, Max) -> Max.

%% Hexadecimal

encode_hex(B) -> encode_hex(B, uppercase).

encode_hex(B, Case) when is_binary(B), (Case =:= uppercase orelse Case =:= lowercase) ->
    Letter = case Case of uppercase -> $A; lowercase -> $a end,
    << <<(hex(H, Letter)), (hex(L, Letter))>> || <<H:4, L:4>> <= B>>;
encode_hex(B, Case) -> error(badarg, [B, Case]).

hex(N, _) when N < 10 -> $0 + N;
hex(N, Letter) -> Letter + N - 10.

decode_hex(B) when is_binary(B), byte_size(B) rem 2 =:= 0 ->
    try << <<(digit(H)):4, (digit(L)):4>> || <<H, L>> <= B>>
    catch error:_ -> error(badarg, [B])
    end;
decode_hex(B) -> error(badarg, [B]).

digit(C) when C >= $0, C =< $9 -> C - $0;
digit(C) when C >= $A, C =< $F -> C - $A + 10;
digit(C) when C >= $a, C =< $f -> C - $a + 10.
