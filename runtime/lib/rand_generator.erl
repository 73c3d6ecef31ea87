%% SPDX-License-Identifier: Apache-2.0
%% The generators behind rand: how a state is made from a seed, stepped and jumped. A handler is the map that
%% OTP documents as alg_handler(), so that a program can bring one of its own.
%%   exsss      Xorshift116**       exro928ss  Xoroshiro928**       dummy  no random numbers at all
%%   exsp       Xorshift116+        exrop      Xoroshiro116+        (S. Vigna's, on 58-bit words)
%%   exs1024s   Xorshift1024*       exs64      Xorshift64*          (on 64-bit words)
%% exsplus and exs1024 are exsp and exs1024s with the older ways to make values of a range.
-module(rand_generator).

-export([handler/1, seeded/2, splitmix64_next/1, seed58/2, exsp_next/1, exsp_jump/1, exro928_seed/1,
         exro928_next/1, exro928_next_state/1, exro928_jump_2pow20/1, exro928_jump_2pow512/1]).
-export([exsss_next/1, exrop_next/1, exro928ss_next/1, exs1024_next/1, exs64_next/1, dummy_next/1,
         dummy_uniform/1, dummy_uniform/2, jump_exsp/1, jump_exrop/1, jump_exro928/1, jump_exs1024/1]).

-define(MASK21, 16#1FFFFF).
-define(MASK32, 16#FFFFFFFF).
-define(MASK58, 16#3FFFFFFFFFFFFFF).
-define(MASK64, 16#FFFFFFFFFFFFFFFF).
%% Bits that would leave the word are cut off before the shift: on 58 bits every intermediate result is a
%% small integer.
-define(BSL58(X, N), (((X) band (?MASK58 bsr (N))) bsl (N))).
-define(BSL64(X, N), (((X) band (?MASK64 bsr (N))) bsl (N))).
-define(ROTL58(X, N), (?BSL58(X, N) bor ((X) bsr (58 - (N))))).

handler(exsss) -> #{type => exsss, bits => 58, next => fun ?MODULE:exsss_next/1,
    jump => fun ?MODULE:jump_exsp/1};
handler(exsp) ->
    #{type => exsp, bits => 58, weak_low_bits => 1, next => fun ?MODULE:exsp_next/1,
        jump => fun ?MODULE:jump_exsp/1};
handler(exsplus) ->
    #{type => exsplus, max => ?MASK58, next => fun ?MODULE:exsp_next/1, jump => fun ?MODULE:jump_exsp/1};
handler(exrop) ->
    #{type => exrop, bits => 58, weak_low_bits => 1, next => fun ?MODULE:exrop_next/1,
        jump => fun ?MODULE:jump_exrop/1};
handler(exro928ss) ->
    #{type => exro928ss, bits => 58, next => fun ?MODULE:exro928ss_next/1,
        jump => fun ?MODULE:jump_exro928/1};
handler(exs1024s) ->
    #{type => exs1024s, bits => 64, weak_low_bits => 3, next => fun ?MODULE:exs1024_next/1,
      jump => fun ?MODULE:jump_exs1024/1};
handler(exs1024) ->
    #{type => exs1024, max => ?MASK64, next => fun ?MODULE:exs1024_next/1,
        jump => fun ?MODULE:jump_exs1024/1};
handler(exs64) -> #{type => exs64, max => ?MASK64, next => fun ?MODULE:exs64_next/1};
handler(dummy) ->
    #{type => dummy, bits => 58, next => fun ?MODULE:dummy_next/1, uniform => fun ?MODULE:dummy_uniform/1,
      uniform_n => fun ?MODULE:dummy_uniform/2}.

%% Seeds: a list of words, an integer, or three integers as erlang:now/0 once gave them.

seeded(exsss, {A1, A2, A3}) ->
    {_, X1} = seed58(A1),
    {S0, X2} = seed58(A2 bxor X1),
    {S1, _} = seed58(A3 bxor X2),
    [S0 | S1];
seeded(exrop, {A1, A2, A3}) ->
    {_, [_ | S]} = exrop_next([scattered(A1, 4294967197) | scattered(A2, 4294967231)]),
    {_, Words} = exrop_next([scattered(A3, 4294967279) | S]),
    Words;
seeded(Alg, {A1, A2, A3}) when Alg =:= exsp; Alg =:= exsplus ->
    {_, [_ | S]} = exsp_next([scattered(A1, 4294967197) | scattered(A2, 4294967231)]),
    {_, Words} = exsp_next([scattered(A3, 4294967279) | S]),
    Words;
seeded(Alg, Seed) when Alg =:= exsss; Alg =:= exsp; Alg =:= exsplus; Alg =:= exrop ->
    [S0, S1] = words(2, Seed, ?MASK58),
    [S0 | S1];
seeded(exro928ss, Seed) -> exro928_seed(Seed);
seeded(Alg, {A1, A2, A3}) when Alg =:= exs1024; Alg =:= exs1024s ->
    X = (mixed21(A1, 2097131) bsl 43) bor (mixed21(A2, 2097133) bsl 22) bor (mixed21(A3, 2097143) bsl 1)
        bor 1,
    {exs64_values(16, X, []), []};
seeded(Alg, Seed) when Alg =:= exs1024; Alg =:= exs1024s -> {words(16, Seed, ?MASK64), []};
seeded(exs64, {A1, A2, A3}) ->
    {V1, _} = exs64_next((A1 band ?MASK32) * 4294967197 + 1),
    {V2, _} = exs64_next((A2 band ?MASK32) * 4294967231 + 1),
    {V3, _} = exs64_next((A3 band ?MASK32) * 4294967279 + 1),
    (V1 * V2 * V3) rem (?MASK64 - 1) + 1;
seeded(exs64, Seed) ->
    [S] = words(1, Seed, ?MASK64),
    S;
seeded(dummy, {A1, A2, A3}) ->
    {_, X1} = splitmix64_next(A1),
    {_, X2} = splitmix64_next(A2 bxor X1),
    {Z, _} = splitmix64_next(A3 bxor X2),
    Z band ?MASK58;
seeded(dummy, Seed) when is_integer(Seed) ->
    {Z, _} = splitmix64_next(Seed),
    Z band ?MASK58;
seeded(dummy, [S | _] = Words) when not is_integer(S); tl(Words) =:= [] ->
    hd(checked(1, Words, ?MASK58));
seeded(dummy, [_ | _]) -> error(too_many_seed_integers);
seeded(dummy, []) -> error(zero_seed).

exro928_seed({A1, A2, A3}) ->
    {S0, X0} = seed58(A1),
    {S1, X1} = seed58(A2 bxor X0),
    {S2, X2} = seed58(A3 bxor X1),
    {[S0, S1, S2 | drawn(13, X2, ?MASK58)], []};
exro928_seed(Seed) -> {words(16, Seed, ?MASK58), []}.

scattered(A, Prime) -> (A * Prime + 1) band ?MASK58.

mixed21(A, Prime) -> (((A band ?MASK21) + 1) * Prime) band ?MASK21.

exs64_values(0, _, Acc) -> Acc;
exs64_values(N, X0, Acc) ->
    {V, X} = exs64_next(X0),
    exs64_values(N - 1, X, [V | Acc]).

words(N, Seed, Mask) when is_integer(Seed) -> drawn(N, Seed, Mask);
words(N, Seed, Mask) when is_list(Seed) ->
    Words = checked(N, Seed, Mask),
    case lists:all(fun(W) -> W =:= 0 end, Words) of
        true -> error(zero_seed);
        false -> Words ++ lists:duplicate(N - length(Words), 0)
    end.

checked(_, [], _) -> [];
checked(0, _, _) -> error(too_many_seed_integers);
checked(N, [W | Ws], Mask) when is_integer(W) -> [W band Mask | checked(N - 1, Ws, Mask)];
checked(_, _, _) -> error(non_integer_seed).

drawn(0, _, _) -> [];
drawn(N, X0, Mask) ->
    {W, X} = word(X0, Mask),
    [W | drawn(N - 1, X, Mask)].

seed58(X) -> word(X, ?MASK58).

seed58(N, X) -> drawn(N, X, ?MASK58).

%% The next that is not zero.
word(X0, Mask) ->
    {Z, X} = splitmix64_next(X0),
    case Z band Mask of
        0 -> word(X, Mask);
        W -> {W, X}
    end.

splitmix64_next(X0) ->
    X = (X0 + 16#9E3779B97F4A7C15) band ?MASK64,
    Z0 = ((X bxor (X bsr 30)) * 16#BF58476D1CE4E5B9) band ?MASK64,
    Z1 = ((Z0 bxor (Z0 bsr 27)) * 16#94D049BB133111EB) band ?MASK64,
    {Z1 bxor (Z1 bsr 31), X}.

%% Steps: {Value, State}

exsss_next([S1 | S0]) -> {starstar(S0 band ?MASK58), xorshift(S1, S0 band ?MASK58)}.

exsp_next([S1 | S0]) ->
    [Low | New] = Words = xorshift(S1, S0 band ?MASK58),
    {(Low + New) band ?MASK58, Words}.

xorshift(S1, S0) ->
    A = (S1 band ?MASK58) bxor ?BSL58(S1, 24),
    [S0 | A bxor S0 bxor (A bsr 11) bxor (S0 bsr 41)].

starstar(S) ->
    V0 = (S + ?BSL58(S, 2)) band ?MASK58,
    V1 = ?ROTL58(V0, 7),
    (V1 + ?BSL58(V1, 3)) band ?MASK58.

exrop_next([S1 | S0]) ->
    X = S0 bxor S1,
    {(S0 + S1) band ?MASK58, [?ROTL58(S1, 24) bxor X bxor ?BSL58(X, 2) | ?ROTL58(X, 35)]}.

%% A ring of 16 words: those ahead, and those passed, the latest first.
exro928ss_next(Ring) ->
    {{_, S0}, Ring1} = exro928_next(Ring),
    {starstar(S0), Ring1}.

exro928_next_state(Ring) ->
    {_, Ring1} = exro928_next(Ring),
    Ring1.

exro928_next({[S15, S0 | Ss], Rs}) ->
    Low = S0 band ?MASK58,
    X = (S15 band ?MASK58) bxor Low,
    {{S15, S0}, {[?ROTL58(X, 45) | Ss], [?ROTL58(Low, 44) bxor X bxor ?BSL58(X, 9) | Rs]}};
exro928_next({[S15], Rs}) -> exro928_next({[S15 | lists:reverse(Rs)], []}).

exs1024_next({[S0, S1 | Ss], Rs}) ->
    A = S1 bxor ?BSL64(S1, 31),
    New = A bxor (A bsr 11) bxor S0 bxor (S0 bsr 30),
    {(New * 1181783497276652981) band ?MASK64, {[New | Ss], [S0 | Rs]}};
exs1024_next({[S0], Rs}) -> exs1024_next({[S0 | lists:reverse(Rs)], []}).

exs64_next(X0) ->
    X1 = X0 bxor (X0 bsr 12),
    X2 = X1 bxor ?BSL64(X1, 25),
    X = X2 bxor (X2 bsr 27),
    {(X * 2685821657736338717) band ?MASK64, X}.

dummy_next(S) -> {S, S bxor ?MASK58}.

dummy_uniform({Handler, S}) -> {0.5, {Handler, S bxor ?MASK58}}.

dummy_uniform(_, {Handler, S}) -> {1, {Handler, S bxor ?MASK58}}.

%% Jumps: many steps at once. A step is linear over bits, so the state after 2^N steps is the sum (bxor) of
%% the states after those few steps whose bit is set in a polynomial.

jump_exsp({Handler, Words}) -> {Handler, exsp_jump(Words)}.

exsp_jump([S1 | S0]) ->
    Step = fun([A1, A0]) -> {_, [B1 | B0]} = exsp_next([A1 | A0]), [B1, B0] end,
    [J1, J0] = jumped([S1, S0], Step, 16#D174A83E17DE2302F8EA6BC32C797),
    [J1 | J0].

jump_exrop({Handler, [S1 | S0]}) ->
    Step = fun([A1, A0]) -> {_, [B1 | B0]} = exrop_next([A1 | A0]), [B1, B0] end,
    [J1, J0] = jumped([S1, S0], Step, 16#9863200F83FCD4A11293241FCB12A),
    {Handler, [J1 | J0]}.

jump_exro928({Handler, Ring}) -> {Handler, exro928_jump_2pow512(Ring)}.

exro928_jump_2pow512(Ring) ->
    {jumped(Ring, fun exro928_next_state/1,
            (16#B10773CBE19F5FC1A1504ACD bsl 832) bor
            (16#83F240C6007E76CEBCB3B7C4CC049C536E62A33CC2323831B45A3A8A3CEF3CC0F02F778573CF0F0A0657E19F00D4B3584DDD98EE bsl 416) bor
            16#4BE41E015AC26D5D20F9B49FA81B0090567FD9F0B83FE51A1EB3BE1910A1DE1D7D6813D2BA05381FDFD1490244085302F77130CA), []}.

exro928_jump_2pow20(Ring) ->
    {jumped(Ring, fun exro928_next_state/1,
            (16#CB3D181CA30BEBC15FEFCC78 bsl 832) bor
            (16#FF45EF33C82F3D48A480C5878C3549BD5BDEB1A5A90F2E6B06DF2EB1FEAF0FB690627C014098F4B6DC4D3AF15F8A4DFDC081A7BF bsl 416) bor
            16#148531FB8EBC73C700B8B091AF699C306D8E75664A426866BFAD3C77DA90F4A806C17E9E644807A56270CF78BDB966A3DAF905E6), []}.

jump_exs1024({Handler, {Ss, _} = Ring}) ->
    Words = jumped(Ring, fun(R0) -> {_, R} = exs1024_next(R0), R end,
                   (16#284600E3F30E38C3B99181F2D8F685CA bsl 896) bor
                   (16#047F7684E9FC949D0B5FC64563B3E2A87910C41D10A1E6A5691548C86C1BD5405EE975283D71C93BC4CB815590989B13AAC17D8EFA43CAB8 bsl 448) bor
                   16#3659132BB12FEA70DC2D9891FE68C0222FFEEB0A48316F404489AFFCE4F31A1E5B34A39F070B5837A3C65B8776F9685584242F96ECA9C41D),
    {Ahead, Passed} = lists:split(length(Ss), Words),
    {Handler, {Ahead, lists:reverse(Passed)}}.

jumped(State, Step, Polynomial) -> jumped(State, Step, Polynomial, [0 || _ <- flat(State)]).

jumped(_, _, 0, Sum) -> Sum;
jumped(State, Step, Polynomial, Sum) ->
    Sum1 = case Polynomial band 1 of
               1 -> lists:zipwith(fun erlang:'bxor'/2, Sum, flat(State));
               0 -> Sum
           end,
    jumped(Step(State), Step, Polynomial bsr 1, Sum1).

flat({Ss, Rs}) -> Ss ++ lists:reverse(Rs);
flat(Words) -> Words.
