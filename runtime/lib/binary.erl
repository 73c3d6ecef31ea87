%% SPDX-License-Identifier: Apache-2.0
%% Replacing in binaries, and hexadecimal text. The rest of the module is built
%% into the machine (README.md has the list).
-module(binary).
-define(ERRORS, [{error_info, #{module => erl_stdlib_errors}}]).  % who explains

-export([replace/3, replace/4, encode_hex/1, encode_hex/2, decode_hex/1, join/2]).

replace(B, Pattern, New) -> replace(B, Pattern, New, []).

replace(B, Pattern, New, Options) ->
    try
        true = is_binary(New) orelse is_function(New, 1),
        Scopes = [O || {scope, _} = O <- Options],
        Inserts = [I || {insert_replaced, I} <- Options],
        true = lists:all(fun({insert_replaced, _}) -> true; (O) -> O =:= global end, Options -- Scopes),
        Found = case lists:member(global, Options) of
                    true -> binary:matches(B, Pattern, Scopes);
                    false ->
                        case binary:match(B, Pattern, Scopes) of
                            nomatch -> [];
                            Match -> [Match]
                        end
                end,
        Replace = replacement(New, lists:append([listed(I) || I <- Inserts])),
        case Found of
            [] -> B;
            _ -> iolist_to_binary(replaced(B, Found, 0, Replace))
        end
    catch error:_ -> error(badarg, [B, Pattern, New, Options], ?ERRORS)
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
    [binary:part(B, From, At - From), Replace(binary:part(B, At, Len)) | replaced(B, Found, At + Len,
        Replace)];
replaced(B, [], From, _) -> [binary:part(B, From, byte_size(B) - From)].

join([], Separator) when is_binary(Separator) -> <<>>;
join([B | _] = Bs, Separator) when is_binary(B), is_binary(Separator) ->
    try iolist_to_binary(lists:join(Separator, binaries(Bs)))
    catch error:_ -> error(badarg, [Bs, Separator], ?ERRORS)
    end;
join(Bs, Separator) -> error(badarg, [Bs, Separator], ?ERRORS).

binaries([B | Bs]) when is_binary(B) -> [B | binaries(Bs)];
binaries([]) -> [].

%% Hexadecimal

encode_hex(B) -> encode_hex(B, uppercase).

encode_hex(B, Case) when is_binary(B), (Case =:= uppercase orelse Case =:= lowercase) ->
    Letter = case Case of uppercase -> $A; lowercase -> $a end,
    << <<(hex(H, Letter)), (hex(L, Letter))>> || <<H:4, L:4>> <= B>>;
encode_hex(B, Case) -> error(badarg, [B, Case], ?ERRORS).

hex(N, _) when N < 10 -> $0 + N;
hex(N, Letter) -> Letter + N - 10.

decode_hex(B) when is_binary(B), byte_size(B) rem 2 =:= 0 ->
    try << <<(digit(H)):4, (digit(L)):4>> || <<H, L>> <= B>>
    catch error:_ -> error(badarg, [B], ?ERRORS)
    end;
decode_hex(B) -> error(badarg, [B], ?ERRORS).

digit(C) when C >= $0, C =< $9 -> C - $0;
digit(C) when C >= $A, C =< $F -> C - $A + 10;
digit(C) when C >= $a, C =< $f -> C - $a + 10.
