%% Base 64 of RFC 4648. The decode functions pass over white space; the
%% mime_decode functions over every character that is not in the alphabet.
-module(base64).

-export([encode/1, encode/2, encode_to_string/1, encode_to_string/2, decode/1, decode/2, decode_to_string/1,
         decode_to_string/2, mime_decode/1, mime_decode/2, mime_decode_to_string/1, mime_decode_to_string/2]).

encode(Data) -> encode(Data, #{}).

encode(Data, Options) when is_binary(Data) -> encode_binary(Data, table(Options), padding(Options), <<>>);
encode(Data, Options) when is_list(Data) -> encode(list_to_binary(Data), Options).

encode_to_string(Data) -> binary_to_list(encode(Data)).

encode_to_string(Data, Options) -> binary_to_list(encode(Data, Options)).

table(#{mode := urlsafe}) -> <<"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_">>;
table(#{}) -> <<"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/">>.

padding(#{padding := Pad}) -> Pad;
padding(#{}) -> true.

encode_binary(<<A:6, B:6, C:6, D:6, Rest/binary>>, T, Pad, Acc) ->
    encode_binary(Rest, T, Pad, <<Acc/binary, (c(T, A)), (c(T, B)), (c(T, C)), (c(T, D))>>);
encode_binary(<<A:6, B:6, C:4>>, T, Pad, Acc) ->
    padded(<<Acc/binary, (c(T, A)), (c(T, B)), (c(T, C bsl 2))>>, "=", Pad);
encode_binary(<<A:6, B:2>>, T, Pad, Acc) ->
    padded(<<Acc/binary, (c(T, A)), (c(T, B bsl 4))>>, "==", Pad);
encode_binary(<<>>, _, _, Acc) -> Acc.

padded(Acc, Equals, true) -> <<Acc/binary, (list_to_binary(Equals))/binary>>;
padded(Acc, _, false) -> Acc.

c(Table, I) -> binary:at(Table, I).

decode(Data) -> decode(Data, #{}).

decode(Data, Options) when is_binary(Data) -> strict(Data, Options, <<>>);
decode(Data, Options) when is_list(Data) -> decode(list_to_binary(Data), Options).

decode_to_string(Data) -> binary_to_list(decode(Data)).

decode_to_string(Data, Options) -> binary_to_list(decode(Data, Options)).

strict(<<C, Rest/binary>>, O, Acc) when C =:= $\s; C =:= $\t; C =:= $\r; C =:= $\n -> strict(Rest, O, Acc);
strict(<<A, Rest/binary>>, O, Acc) -> strict1(Rest, O, value(A, O), Acc);
strict(<<>>, _, Acc) -> Acc.

strict1(<<C, Rest/binary>>, O, A, Acc) when C =:= $\s; C =:= $\t; C =:= $\r; C =:= $\n -> strict1(Rest, O, A, Acc);
strict1(<<B, Rest/binary>>, O, A, Acc) -> strict2(Rest, O, A bsl 6 bor value(B, O), Acc);
strict1(<<>>, _, _, _) -> error(missing_padding).

strict2(<<C, Rest/binary>>, O, AB, Acc) when C =:= $\s; C =:= $\t; C =:= $\r; C =:= $\n -> strict2(Rest, O, AB, Acc);
strict2(<<$=, Rest/binary>>, O, AB, Acc) -> closing(skip(Rest), <<Acc/binary, (AB bsr 4)>>, O);
strict2(<<>>, #{padding := false}, AB, Acc) -> <<Acc/binary, (AB bsr 4)>>;
strict2(<<C, Rest/binary>>, O, AB, Acc) -> strict3(Rest, O, AB bsl 6 bor value(C, O), Acc);
strict2(<<>>, _, _, _) -> error(missing_padding).

strict3(<<C, Rest/binary>>, O, ABC, Acc) when C =:= $\s; C =:= $\t; C =:= $\r; C =:= $\n -> strict3(Rest, O, ABC, Acc);
strict3(<<$=, Rest/binary>>, _, ABC, Acc) -> finished(skip(Rest), <<Acc/binary, (ABC bsr 2):16>>);
strict3(<<>>, #{padding := false}, ABC, Acc) -> <<Acc/binary, (ABC bsr 2):16>>;
strict3(<<D, Rest/binary>>, O, ABC, Acc) -> strict(Rest, O, <<Acc/binary, (ABC bsl 6 bor value(D, O)):24>>);
strict3(<<>>, _, _, _) -> error(missing_padding).

%% The second of two padding characters
closing(<<$=, Rest/binary>>, Acc, _) -> finished(skip(Rest), Acc);
closing(<<>>, _, _) -> error(missing_padding);
closing(_, _, _) -> error(badarg).

finished(<<>>, Acc) -> Acc;
finished(_, _) -> error(badarg).

skip(<<C, Rest/binary>>) when C =:= $\s; C =:= $\t; C =:= $\r; C =:= $\n -> skip(Rest);
skip(B) -> B.

value(C, O) ->
    case digit(C, O) of
        none -> error(badarg);
        V -> V
    end.

digit(C, _) when C >= $A, C =< $Z -> C - $A;
digit(C, _) when C >= $a, C =< $z -> C - $a + 26;
digit(C, _) when C >= $0, C =< $9 -> C - $0 + 52;
digit($-, #{mode := urlsafe}) -> 62;
digit($_, #{mode := urlsafe}) -> 63;
digit(_, #{mode := urlsafe}) -> none;
digit($+, _) -> 62;
digit($/, _) -> 63;
digit(_, _) -> none.

mime_decode(Data) -> mime_decode(Data, #{}).

%% Characters are gathered; a padding character counts only where one may be.
mime_decode(Data, Options) when is_list(Data) -> mime_decode(list_to_binary(Data), Options);
mime_decode(Data, Options) -> mime(Data, Options, [], <<>>).

mime_decode_to_string(Data) -> binary_to_list(mime_decode(Data)).

mime_decode_to_string(Data, Options) -> binary_to_list(mime_decode(Data, Options)).

%% Digits of the group so far, the last one first.
mime(<<$=, Rest/binary>>, O, [B, A], Acc) ->
    case next_mime(Rest, O) of
        {padding, Rest1} -> mime_end(Rest1, O, <<Acc/binary, (A bsl 2 bor (B bsr 4))>>);
        {digit, _, _} -> mime(Rest, O, [B, A], Acc);
        none -> error(missing_padding)
    end;
mime(<<$=, Rest/binary>>, O, [C, B, A], Acc) ->
    case next_mime(Rest, O) of
        {digit, _, _} -> mime(Rest, O, [C, B, A], Acc);
        _ -> <<Acc/binary, (((A bsl 6 bor B) bsl 6 bor C) bsr 2):16>>
    end;
mime(<<Char, Rest/binary>>, O, Group, Acc) ->
    case {digit(Char, O), Group} of
        {none, _} -> mime(Rest, O, Group, Acc);
        {D, [C, B, A]} -> mime(Rest, O, [], <<Acc/binary, A:6, B:6, C:6, D:6>>);
        {D, _} -> mime(Rest, O, [D | Group], Acc)
    end;
mime(<<>>, _, [], Acc) -> Acc;
mime(<<>>, #{padding := false}, [B, A], Acc) -> <<Acc/binary, (A bsl 2 bor (B bsr 4))>>;
mime(<<>>, #{padding := false}, [C, B, A], Acc) -> <<Acc/binary, (((A bsl 6 bor B) bsl 6 bor C) bsr 2):16>>;
mime(<<>>, _, _, _) -> error(missing_padding).

next_mime(<<$=, Rest/binary>>, _) -> {padding, Rest};
next_mime(<<C, Rest/binary>>, O) ->
    case digit(C, O) of
        none -> next_mime(Rest, O);
        D -> {digit, D, Rest}
    end;
next_mime(<<>>, _) -> none.

%% What follows complete padding is only looked at for more digits.
mime_end(_, _, Acc) -> Acc.
