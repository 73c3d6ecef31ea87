#!/usr/bin/env escript
%% Writes calls of built-in functions with what a stock Erlang answers: oracle.escript FILE SEED. The file is
%% the external form of a list of {Module, Function, Arguments, {ok, Result} | {Class, Reason}}. Module
%% '$bits' stands for matching and building bit strings.
-mode(compile).

main([File, Seed]) ->
    rand:seed(exsss, list_to_integer(Seed)),
    Cases = lists:append([many(400, fun arith/0), many(300, fun number_text/0),
        many(300, fun tuples_and_lists/0), many(250, fun maps_calls/0),
                          many(400, fun binaries/0), many(250, fun search/0), many(300, fun iodata/0),
                          many(300, fun unicode_calls/0),
                          many(300, fun external/0), many(1200, fun bits/0), many(100, fun math_calls/0),
                          fixed()]),
    ok = file:write_file(File, term_to_binary([answer(C) || C <- Cases])).

many(N, F) -> [F() || _ <- lists:seq(1, N)].

answer({'$bits', F, A}) -> {'$bits', F, A, bit_call(F, A)};
answer({M, F, A}) -> {M, F, A, try {ok, apply(M, F, A)} catch C:R -> {C, R} end}.

pick(L) -> lists:nth(rand:uniform(length(L)), L).
sign(N) -> case rand:uniform(2) of 1 -> N; 2 -> -N end.

int() ->
    case rand:uniform(6) of
        1 -> sign(rand:uniform(20) - 1);
        2 -> sign((1 bsl pick([8, 16, 31, 32, 53, 58, 59, 60, 63, 64, 65, 127, 128,
            192])) + rand:uniform(5) - 3);
        3 -> sign(rand:uniform(1 bsl 58));
        4 -> sign(wide(rand:uniform(400)));
        5 -> sign(wide(3000));
        6 -> sign(wide(64) bsl (rand:uniform(5) * 64))
    end.
wide(Bits) -> binary:decode_unsigned(rand:bytes(Bits div 8 + 1)).

float() ->
    case rand:uniform(6) of
        1 -> pick([0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 0.1, 1.0e22, 1.0e23, 1.7976931348623157e308, 5.0e-324,
            2.2250738585072014e-308,
                   9007199254740992.0, 4503599627370496.5, 1.0e-5, 0.0001, 123456789012345.0,
                   5.7646075230342349e17, 65504.0, 65519.0, 65520.0]);
        2 -> (rand:uniform() - 0.5) * 1000;
        3 -> sign(rand:uniform(100000)) / pick([10, 100, 1000, 10000]);
        4 -> float(sign(rand:uniform(1 bsl 62)));
        _ -> any_float()
    end.
any_float() ->
    case rand:bytes(8) of
        <<F/float>> -> F;
        _ -> any_float()
    end.

number() -> case rand:uniform(3) of 1 -> float(); _ -> int() end.
small() -> rand:uniform(12) - 3.
any() -> pick([fun int/0, fun float/0, fun atom/0, fun atom/0, fun bin/0, fun bitstr/0,
    fun() -> term(3) end]).
any_value() -> (any())().
atom() -> pick([a, b, c, ok, true, false, undefined, 'hello world', '', 'Ünicode', 'αβγ', [], {}]).
real_atom() -> pick([a, b, c, ok, true, false, undefined, 'hello world', '', 'Ünicode', 'αβγ']).
bin() -> rand:bytes(pick([0, 1, 2, 3, 5, 8, 17, 63, 64, 65, 100, 300])).
bitstr() ->
    B = rand:bytes(pick([1, 2, 9, 40, 80])),
    N = rand:uniform(bit_size(B)) - 1,
    S = rand:uniform(bit_size(B) - N) - 1,
    <<_:S, X:N/bits, _/bits>> = B,
    X.

term(0) -> pick([int(), float(), atom(), bin()]);
term(D) ->
    case rand:uniform(8) of
        1 -> [term(D - 1) || _ <- lists:seq(1, rand:uniform(5) - 1)];
        2 -> list_to_tuple([term(D - 1) || _ <- lists:seq(1, rand:uniform(5) - 1)]);
        3 -> maps:from_list([{term(D - 1), term(D - 1)} || _ <- lists:seq(1, rand:uniform(6) - 1)]);
        4 -> binary_to_list(bin());
        5 -> [term(D - 1) | term(D - 1)];
        6 -> bitstr();
        7 -> maps:from_list([{term(0), term(0)} || _ <- lists:seq(1, pick([20, 33, 70]))]);
        8 -> term(0)
    end.

arith() ->
    case rand:uniform(8) of
        1 -> {erlang, pick(['+', '-', 'bnot', abs]), [number()]};
        2 -> {erlang, pick(['bsl', 'bsr']), [int(), sign(rand:uniform(300) - 1)]};
        3 -> {erlang, pick([trunc, round, floor, ceil, float]), [number()]};
        4 -> {erlang, pick(['+', '-', '*', 'div', 'rem', '/', '==', '<']), [any_value(), number()]};
        5 -> X = int(), {erlang, pick(['-', 'bxor', 'div', 'rem', '==', '=:=', '<', '>=']),
            [X, X + rand:uniform(3) - 2]};
        _ -> {erlang, pick(['+', '-', '*', '/', 'div', 'rem', 'band', 'bor', 'bxor', '==', '/=', '=:=', '<',
            '=<', '>', '>=', max, min]),
              [number(), number()]}
    end.

number_text() ->
    case rand:uniform(12) of
        1 -> {erlang, pick([integer_to_list, integer_to_binary]), [int(), rand:uniform(37)]};
        2 -> {erlang, list_to_integer, [integer_to_list(int(), 16), pick([16, 17, 10])]};
        3 -> B = 1 + rand:uniform(35), {erlang, binary_to_integer, [integer_to_binary(int(), B), B]};
        4 -> {erlang, list_to_integer,
            [pick(["", "-", "+", "+12", "--1", "1 ", "00012", "-0", "12345678901234567890123", "a", [a],
                a])]};
        5 -> {erlang, float_to_list, [float(), [short]]};
        6 -> {erlang, float_to_list, [float(), [{decimals, rand:uniform(19)}, compact]]};
        7 -> {erlang, float_to_binary, [float(), [{decimals, rand:uniform(20) - 1}]]};
        8 -> {erlang, float_to_list, [float(), [{scientific, rand:uniform(25) - 1}]]};
        9 -> {erlang, float_to_list, [number()]};
        10 -> {erlang, list_to_float, [float_to_list(float(), [pick([short, {scientific, 17}])])]};
        11 -> {erlang, binary_to_float,
            [pick([<<"1">>, <<"1.">>, <<".5">>, <<"1.5e">>, <<"1.5e400">>, <<"1.0e-400">>, <<"-1.5E+2">>,
                <<" 1.0">>])]};
        12 -> {string, pick([list_to_integer, list_to_float]),
            [pick(["12abc", "1.5", "-3.25e2x", "", "+", "1e5", "x", a, [1, 2], "1.5e+"])]}
    end.

list() -> [any_value() || _ <- lists:seq(1, rand:uniform(6) - 1)].
numbers() -> [rand:uniform(6) || _ <- lists:seq(1, rand:uniform(30) - 1)].
improper() -> pick([list(), list(), [a | b], a]).
tuple() -> list_to_tuple(list()).
tuples_and_lists() ->
    case rand:uniform(14) of
        1 -> {erlang, element, [small(), pick([tuple(), tuple(), a])]};
        2 -> {erlang, setelement, [small(), tuple(), any_value()]};
        3 -> {erlang, pick([tuple_to_list, tuple_size, size]), [pick([tuple(), a, bin(), bitstr()])]};
        4 -> {erlang, list_to_tuple, [improper()]};
        5 -> {erlang, insert_element, [small(), tuple(), x]};
        6 -> {erlang, delete_element, [small(), tuple()]};
        7 -> {erlang, append_element, [tuple(), x]};
        8 -> {erlang, make_tuple, [small(), x, [{small(), y}]]};
        9 -> {erlang, pick([length, hd, tl]), [improper()]};
        10 -> {erlang, pick(['++', '--']), [improper(), improper()]};
        11 -> {erlang, '--', [numbers(), numbers()]};
        12 -> {lists, reverse, [improper(), any_value()]};
        13 -> {lists, member, [rand:uniform(6), pick([numbers(), [a | b]])]};
        14 -> {lists, pick([keyfind, keymember, keysearch]),
               [pick([1, 1.0, 2, a, <<"k">>]), pick([1, 1, 2, 0]),
                   [pick([{1}, {2.0, x}, {a, 1}, {<<"k">>}, {x, 2, a}, q])
                       || _ <- lists:seq(1, rand:uniform(5))]]}
    end.

key() -> pick([rand:uniform(60), float(rand:uniform(5)), real_atom(), <<"key">>, [rand:uniform(40)],
    {rand:uniform(9), x}, 1 bsl 70]).
map() -> maps:from_list([{key(), rand:uniform(100)}
    || _ <- lists:seq(1, pick([0, 1, 3, 10, 31, 33, 40, 80, 200]))]).
maps_calls() ->
    case rand:uniform(12) of
        1 -> {maps, pick([find, get, remove, take, is_key]), [key(), pick([map(), map(), map(), x])]};
        2 -> M = map(), {maps, pick([remove, take]), [case maps:keys(M) of [] -> k; Ks -> pick(Ks) end, M]};
        3 -> {maps, put, [key(), v, map()]};
        4 -> {maps, update, [key(), v, map()]};
        5 -> {maps, merge, [map(), map()]};
        6 -> {maps, from_list,
            [[{key(), rand:uniform(100)} || _ <- lists:seq(1, pick([1, 5, 32, 33, 50, 300]))]]};
        7 -> {maps, from_keys, [[key() || _ <- lists:seq(1, 40)], v]};
        8 -> {erlang, pick([map_get, is_map_key]), [key(), map()]};
        9 -> {erlang, map_size, [map()]};
        10 -> {maps, pick([keys, values]), [maps:from_list([{X, X} || X <- lists:seq(1, rand:uniform(32))])]};
        11 -> M = map(), {erlang, pick(['==', '=:=', '<']),
            [M, pick([map(), maps:merge(M, #{}), M#{1 => 1.0}, maps:remove(1, M)])]};
        12 -> {maps, merge, [maps:from_list([{X, 1} || X <- lists:seq(1, 30)]),
            maps:from_list([{X, 2} || X <- lists:seq(rand:uniform(20), 40)])]}
    end.

binaries() ->
    B = pick([bin(), bin(), bitstr(), a]),
    case rand:uniform(13) of
        1 -> {erlang, pick([byte_size, bit_size, size, binary_to_list, bitstring_to_list]), [B]};
        2 -> {erlang, binary_to_list, [B, small(), small()]};
        3 -> {erlang, split_binary, [B, small()]};
        4 -> {erlang, binary_part, [B, small(), small()]};
        5 -> {binary, at, [B, small()]};
        6 -> {binary, pick([first, last, copy]), [B]};
        7 -> {binary, copy, [B, small()]};
        8 -> {binary, encode_unsigned, [int(), pick([big, little, x])]};
        9 -> {binary, decode_unsigned, [B, pick([big, little])]};
        10 -> {binary, pick([longest_common_prefix, longest_common_suffix]),
            [[rand_ab(6) || _ <- lists:seq(1, rand:uniform(3))]]};
        11 -> {binary, bin_to_list, [B, small(), small()]};
        12 -> {erlang, pick([crc32, adler32, md5]), [pick([bin(), [bin(), 1, [bin()]], bitstr(), a])]};
        13 -> {erlang, pick([phash2]), [term(3)]}
    end.

rand_ab(N) -> << <<(pick("ab"))>> || _ <- lists:seq(1, rand:uniform(N)) >>.
search() ->
    S = rand_ab(30),
    P = pick([rand_ab(3), [rand_ab(4) || _ <- lists:seq(1, rand:uniform(4))], <<>>, [], a, [rand_ab(2) | x]]),
    Scope = [{scope, {rand:uniform(10) - 1, sign(rand:uniform(8) - 1)}}],
    case rand:uniform(5) of
        1 -> {binary, pick([match, matches]), [S, P]};
        2 -> {binary, pick([match, matches]), [S, P, Scope]};
        3 -> {binary, split, [S, P]};
        _ -> {binary, split, [S, P, [O || O <- [global, trim, trim_all], rand:uniform(2) =:= 1]
            ++ pick([[], [], Scope])]}
    end.

iolist(0) -> pick([rand:uniform(256) - 1, bin(), <<>>]);
iolist(D) -> pick([[iolist(D - 1) || _ <- lists:seq(1, rand:uniform(4) - 1)], [iolist(D - 1) | bin()],
    iolist(0), [], pick([bitstr(), 256, a, <<1>>, [7]])]).
iodata() -> {erlang, pick([iolist_size, iolist_to_binary, list_to_binary, list_to_bitstring]),
    [[iolist(3), iolist(2)]]}.

chars(0) -> pick([$a, 233, 8364, 16#1F600, 55296, <<"abc">>, <<"é€"/utf8>>,
    binary:part(<<"é€😀"/utf8>>, rand:uniform(5) - 1, rand:uniform(4)), <<255>>, <<226>>, <<130, 172>>]);
chars(D) -> pick([[chars(D - 1) || _ <- lists:seq(1, rand:uniform(4) - 1)], chars(0), [chars(D - 1) | "z"],
    "plain"]).
good_chars(0) -> pick([$a, 233, 8364, 16#1F600, <<"abc">>, <<"é€"/utf8>>, "text"]);
good_chars(D) -> [good_chars(D - 1) || _ <- lists:seq(1, rand:uniform(4) - 1)].
encoding() -> pick([latin1, utf8, unicode, utf16, {utf16, little}, utf32, {utf32, little}]).
unicode_calls() ->
    case rand:uniform(5) of
        1 -> {unicode, characters_to_list, [[chars(2)]]};
        2 -> {unicode, characters_to_binary, [[chars(2), chars(1)]]};
        3 -> {unicode, characters_to_binary, [[good_chars(2)], utf8, encoding()]};
        4 -> {unicode, characters_to_list, [bin(), encoding()]};
        5 -> {unicode, characters_to_binary, [pick(["abc", [233], <<"é"/utf8>>, [$a, 8364, $c]]),
            pick([utf8, latin1]), encoding()]}
    end.

external() ->
    T = pick([term(3), term(2), real_atom(), lists:seq(1, 300), {1.5, #{a => 1}}]),
    case rand:uniform(4) of
        1 -> {erlang, term_to_binary, [small_maps(T)]};
        2 -> {erlang, term_to_binary, [small_maps(T), [{minor_version, rand:uniform(3) - 1}]]};
        3 -> {erlang, term_to_binary,
            [small_maps(T), [pick([compressed, {compressed, rand:uniform(10) - 1}])]]};
        4 -> {erlang, binary_to_term, [pick([term_to_binary(T, [compressed]), spoil(term_to_binary(T))]),
            pick([[], [used], [safe, used]])]}
    end.
%% The order of large maps is nobody's business, and since OTP 26 that of atoms that are keys.
small_maps(M) when is_map(M), map_size(M) > 32 -> x;
small_maps(M) when is_map(M) ->
    Map = maps:from_list([{small_maps(K), small_maps(V)} || {K, V} <- maps:to_list(M)]),
    case [K || K <- maps:keys(Map), is_atom(K)] of
        [_, _ | _] -> case erlang:system_info(otp_release) of "25" -> Map; _ -> x end;
        _ -> Map
    end;
small_maps(T) when is_tuple(T) -> list_to_tuple(small_maps(tuple_to_list(T)));
small_maps([H | T]) -> [small_maps(H) | small_maps(T)];
small_maps(T) -> T.
spoil(B) -> N = rand:uniform(byte_size(B)) - 1, <<A:N/binary, _, C/binary>> = B, <<A/binary,
    (pick([97, 104, 106, 0, 255, 1])), C/binary>>.

math_calls() ->
    case rand:uniform(4) of
        1 -> {math, pick([fmod, pow, atan2]), [number(), pick([number(), 0, 2, a])]};
        _ -> {math, pick([sqrt, floor, ceil, log2, log, log10]), [pick([number(), 8, 1 bsl 40, a])]}
    end.

fixed() ->
    [{erlang, 'bsl', [1, 1 bsl 26]}, {erlang, 'bsl', [0, 1 bsl 70]}, {erlang, 'bsr', [-5, 1 bsl 70]},
        {erlang, 'bsr', [1, -(1 bsl 70)]},
     {erlang, 'and', [true, x]}, {erlang, 'or', [true, false]}, {erlang, 'xor', [true, true]},
     {erlang, 'not', [x]},
     {erlang, is_function, [x, -1]}, {erlang, is_record, [{x, 1}, x, 2]}, {erlang, is_record, [{x}, 1, 1]},
     {erlang, list_to_atom, [[$h | "é"]]}, {erlang, list_to_atom, [lists:duplicate(256, $a)]},
     {erlang, binary_to_atom, [<<255>>, latin1]},
     {erlang, binary_to_atom, [<<255>>, utf8]}, {erlang, atom_to_list, ['αβ']},
     {erlang, atom_to_binary, ['é', latin1]}, {erlang, atom_to_binary, ['α', latin1]},
     {erlang, list_to_pid, ["<0.12.0>"]}, {erlang, list_to_pid, ["<0.12>"]},
     {erlang, crc32_combine, [1234, 5678, 99]}, {erlang, adler32_combine, [1234, 5678, 99]},
     {erlang, '*', [wide(20000), wide(30000)]}, {erlang, 'div', [wide(60000), wide(20000)]},
     {erlang, 'rem', [-wide(60000), wide(20000)]},
     {erlang, integer_to_list, [wide(50000)]}, {erlang, list_to_integer, [integer_to_list(wide(50000))]}].

%% Bit syntax. Get: skip S bits, take N; put: S zero bits, then the value.
width() -> pick([0, 1, 3, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 55, 56, 57, 59, 60, 61, 63, 64, 65, 71,
    72, 100, 128, 129, 512, 513]).
bits() ->
    S = pick([0, 0, 1, 3, 8, 13]),
    case rand:uniform(8) of
        1 -> {'$bits', get_int, [rand:bytes(pick([1, 4, 9, 20, 80])), S, width(), pick([0, 2, 4, 6])]};
        2 -> {'$bits', get_int, [<<(-rand:uniform(100)):400>>, S, width(), pick([0, 2, 4, 6])]};
        3 -> {'$bits', put_int, [int(), S, width(), pick([0, 2])]};
        4 -> {'$bits', get_float, [<<0:S, (float()):64/float, 0:64>>, S, pick([16, 32, 64]), 0]};
        5 -> {'$bits', pick([put_float]), [pick([float(), rand:uniform(1 bsl 53)]), S, pick([16, 32, 64]),
            pick([0, 2])]};
        6 -> U = pick([0, 8]),  % no utf32: matching it crashes OTP 25.2 with JIT
             {'$bits', pick([get_utf8, get_utf16]),
                 [<<0:U, (pick([<<"é">>, <<"é€😀"/utf8>>, rand:bytes(4), <<216, 0, 220, 1>>, <<0, 0, 216, 0>>,
                     <<240, 159>>, <<0, 1, 0, 65>>]))/binary>>, U, 0, pick([0, 2])]};
        7 -> {'$bits', pick([put_utf8, put_utf16, put_utf32]),
            [pick([65, 233, 8364, 128512, 55296, 1114111, 1114112, -1]), S, 0, pick([0, 2])]};
        8 -> {'$bits', get_bits, [bitstr(), S, width(), 0]}
    end.

bit_call(F, [V, S, N, Flags]) ->
    try {ok, bit_value(F, V, S, N, Flags)}
    catch error:{badmatch, _} -> {ok, nomatch}; error:badarg -> {error, badarg}
    end.
bit_value(get_int, B, S, N, 0) -> <<_:S, X:N, _/bits>> = B, X;
bit_value(get_int, B, S, N, 2) -> <<_:S, X:N/little, _/bits>> = B, X;
bit_value(get_int, B, S, N, 4) -> <<_:S, X:N/signed, _/bits>> = B, X;
bit_value(get_int, B, S, N, 6) -> <<_:S, X:N/little-signed, _/bits>> = B, X;
bit_value(put_int, V, S, N, 0) -> <<0:S, V:N>>;
bit_value(put_int, V, S, N, 2) -> <<0:S, V:N/little>>;
bit_value(get_float, B, S, N, 0) -> <<_:S, X:N/float, _/bits>> = B, X;
bit_value(put_float, V, S, N, 0) -> <<0:S, V:N/float>>;
bit_value(put_float, V, S, N, 2) -> <<0:S, V:N/float-little>>;
bit_value(get_utf8, B, S, _, _) -> <<_:S, X/utf8, _/bits>> = B, X;
bit_value(get_utf16, B, S, _, 0) -> <<_:S, X/utf16, _/bits>> = B, X;
bit_value(get_utf16, B, S, _, 2) -> <<_:S, X/utf16-little, _/bits>> = B, X;
bit_value(put_utf8, V, S, _, _) -> <<0:S, V/utf8>>;
bit_value(put_utf16, V, S, _, 0) -> <<0:S, V/utf16>>;
bit_value(put_utf16, V, S, _, 2) -> <<0:S, V/utf16-little>>;
bit_value(put_utf32, V, S, _, 0) -> <<0:S, V/utf32>>;
bit_value(put_utf32, V, S, _, 2) -> <<0:S, V/utf32-little>>;
bit_value(get_bits, B, S, N, 0) -> <<_:S, X:N/bits, _/bits>> = B, X.
