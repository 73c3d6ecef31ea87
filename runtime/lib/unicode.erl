%% SPDX-License-Identifier: Apache-2.0
%% Byte order marks and normalisation. Conversion between encodings is built
%% into the machine: characters_to_list/1,2 and characters_to_binary/1,2,3.
-module(unicode).

-export([bom_to_encoding/1, encoding_to_bom/1]).
-export([characters_to_nfd_list/1, characters_to_nfd_binary/1, characters_to_nfkd_list/1,
         characters_to_nfkd_binary/1, characters_to_nfc_list/1, characters_to_nfc_binary/1,
         characters_to_nfkc_list/1, characters_to_nfkc_binary/1]).

-export([category/1, is_whitespace/1, is_id_start/1, is_id_continue/1]).

-type chardata() :: charlist() | unicode_binary().
-type charlist() :: maybe_improper_list(char() | unicode_binary() | charlist(), unicode_binary() | []).
-type unicode_binary() :: binary().
-export_type([chardata/0, charlist/0, unicode_binary/0]).

%% Byte order marks

bom_to_encoding(<<16#EF, 16#BB, 16#BF, _/binary>>) -> {utf8, 3};
bom_to_encoding(<<0, 0, 16#FE, 16#FF, _/binary>>) -> {{utf32, big}, 4};
bom_to_encoding(<<16#FF, 16#FE, 0, 0, _/binary>>) -> {{utf32, little}, 4};
bom_to_encoding(<<16#FE, 16#FF, _/binary>>) -> {{utf16, big}, 2};
bom_to_encoding(<<16#FF, 16#FE, _/binary>>) -> {{utf16, little}, 2};
bom_to_encoding(B) when is_binary(B) -> {latin1, 0}.

encoding_to_bom(E) when E =:= unicode; E =:= utf8 -> <<16#EF, 16#BB, 16#BF>>;
encoding_to_bom(E) when E =:= utf16; E =:= {utf16, big} -> <<16#FE, 16#FF>>;
encoding_to_bom({utf16, little}) -> <<16#FF, 16#FE>>;
encoding_to_bom(E) when E =:= utf32; E =:= {utf32, big} -> <<0, 0, 16#FE, 16#FF>>;
encoding_to_bom({utf32, little}) -> <<16#FF, 16#FE, 0, 0>>;
encoding_to_bom(latin1) -> <<>>.

%% Normalisation

characters_to_nfd_list(Data) -> normal_list(Data, fun unicode_util:nfd/1).
characters_to_nfkd_list(Data) -> normal_list(Data, fun unicode_util:nfkd/1).
characters_to_nfc_list(Data) -> normal_list(Data, fun unicode_util:nfc/1).
characters_to_nfkc_list(Data) -> normal_list(Data, fun unicode_util:nfkc/1).

characters_to_nfd_binary(Data) -> normal_binary(Data, fun unicode_util:nfd/1).
characters_to_nfkd_binary(Data) -> normal_binary(Data, fun unicode_util:nfkd/1).
characters_to_nfc_binary(Data) -> normal_binary(Data, fun unicode_util:nfc/1).
characters_to_nfkc_binary(Data) -> normal_binary(Data, fun unicode_util:nfkc/1).

normal_list(Data, Next) ->
    case collect(Data, Next, []) of
        {ok, L} -> L;
        {error, L, Rest} -> {error, L, Rest}
    end.

normal_binary(Data, Next) ->
    case collect(Data, Next, []) of
        {ok, L} -> unicode:characters_to_binary(L);
        {error, L, Rest} -> {error, unicode:characters_to_binary(L), Rest}
    end.

collect(Data, Next, Acc) ->
    case Next(Data) of
        [C | Rest] -> collect(Rest, Next, [C | Acc]);
        [] -> {ok, lists:flatten(lists:reverse(Acc))};
        {error, Rest} -> {error, lists:flatten(lists:reverse(Acc)), Rest}
    end.

%% Properties of a code point

-define(IS_CODE_POINT(C), (is_integer(C) andalso C >= 0 andalso C < 16#110000)).

category(C) when ?IS_CODE_POINT(C) -> unicode_util:category(C);
category(C) -> error(badarg, [C]).

is_whitespace(C) when ?IS_CODE_POINT(C) ->
    (C >= $\t andalso C =< $\r) orelse C =:= 16#85 orelse element(1, unicode_util:category(C)) =:= separator;
is_whitespace(C) -> error(badarg, [C]).

%% UAX 31: letters and numbers that are letters, but for the one letter that is punctuation.
is_id_start(C) when ?IS_CODE_POINT(C) ->
    case unicode_util:category(C) of
        {letter, _} -> C =/= 16#2E2F;
        {number, letter} -> true;
        _ -> unicode_util:is_other_id_start(C)
    end;
is_id_start(C) -> error(badarg, [C]).

is_id_continue(C) when ?IS_CODE_POINT(C) ->
    case unicode_util:category(C) of
        {mark, Kind} when Kind =/= enclosing -> true;
        {number, decimal} -> true;
        {punctuation, connector} -> true;
        _ -> is_id_start(C) orelse unicode_util:is_other_id_continue(C)
    end;
is_id_continue(C) -> error(badarg, [C]).
