%% SPDX-License-Identifier: Apache-2.0
%% Pseudo-random numbers of the generator that is used when none is named: exsss, S. Vigna's
%% Xorshift116** on 58-bit words. For a seed they are the very numbers of OTP (those of shuffle_s/2
%% are our own). A state is {Handler, Words}, where Handler is the map that OTP documents as
%% alg_handler(); that of a process is in its dictionary under rand_seed. Other generators,
%% distributions and seeds are those of an installed OTP's rand.
-module(rand).

-export([seed/1, seed/2, seed_s/1, seed_s/2, export_seed/0, export_seed_s/1, uniform/0, uniform/1,
         uniform_s/1, uniform_s/2, bytes/1, bytes_s/2, shuffle/1, shuffle_s/2]).
-export(['$handle_undefined_function'/2]).

-define(MASK58, 16#3FFFFFFFFFFFFFF).
-define(MASK64, 16#FFFFFFFFFFFFFFFF).
-define(TWO_POW_MINUS53, 1.1102230246251565e-16).
%% Bits that would leave the word are cut off before the shift, so that every result is a small integer.
-define(BSL58(X, N), (((X) band (?MASK58 bsr (N))) bsl (N))).
-define(ROTL58(X, N), (?BSL58(X, N) bor ((X) bsr (58 - (N))))).

'$handle_undefined_function'(Function, Arguments) -> installed_module:call(?MODULE, Function, Arguments).

%% Seeds: an integer, or three integers as erlang:now/0 once gave them.

seed(Alg) -> stored(seed_s(Alg)).

seed(Alg, Seed) -> stored(seed_s(Alg, Seed)).

stored(State) ->
    put(rand_seed, State),
    State.

seed_s({Handler, _} = State) when is_map(Handler) -> State;
seed_s({exsss, Words}) -> {handler(), Words};
seed_s({_, _} = Exported) -> installed_module:call(?MODULE, seed_s, [Exported]);
seed_s(Alg) ->
    seed_s(Alg, {erlang:phash2([{node(), self()}]), erlang:system_time(), erlang:unique_integer()}).

seed_s(default, Seed) -> seed_s(exsss, Seed);
seed_s(exsss, {A1, A2, A3}) when is_integer(A1), is_integer(A2), is_integer(A3) ->
    {_, X1} = word(A1),
    {S0, X2} = word(A2 bxor X1),
    {S1, _} = word(A3 bxor X2),
    {handler(), [S0 | S1]};
seed_s(exsss, Seed) when is_integer(Seed) ->
    {S0, X} = word(Seed),
    {S1, _} = word(X),
    {handler(), [S0 | S1]};
seed_s(Alg, Seed) -> installed_module:call(?MODULE, seed_s, [Alg, Seed]).

%% The funs belong to this version of the module: they stay when OTP's takes its place.
handler() -> #{type => exsss, bits => 58, next => fun exsss_next/1, jump => fun jump_exsss/1}.

%% The next word of the generator SplitMix64 that is not zero.
word(X0) ->
    X = (X0 + 16#9E3779B97F4A7C15) band ?MASK64,
    Z0 = ((X bxor (X bsr 30)) * 16#BF58476D1CE4E5B9) band ?MASK64,
    Z1 = ((Z0 bxor (Z0 bsr 27)) * 16#94D049BB133111EB) band ?MASK64,
    case (Z1 bxor (Z1 bsr 31)) band ?MASK58 of
        0 -> word(X);
        W -> {W, X}
    end.

exsss_next([S1 | S]) ->
    S0 = S band ?MASK58,
    A = (S1 band ?MASK58) bxor ?BSL58(S1, 24),
    V0 = (S0 + ?BSL58(S0, 2)) band ?MASK58,
    V1 = ?ROTL58(V0, 7),
    {(V1 + ?BSL58(V1, 3)) band ?MASK58, [S0 | A bxor S0 bxor (A bsr 11) bxor (S0 bsr 41)]}.

jump_exsss({Handler, Words}) -> {Handler, rand:exsp_jump(Words)}.

export_seed() ->
    case get(rand_seed) of
        {#{type := Alg}, Words} -> {Alg, Words};
        _ -> undefined
    end.

export_seed_s({#{type := Alg}, Words}) -> {Alg, Words}.

%% Values

uniform() -> drawn(fun uniform_s/1).

uniform(N) -> drawn(fun(State) -> uniform_s(N, State) end).

%% Runs Draw on the state of the process.
drawn(Draw) ->
    {X, State} = Draw(case get(rand_seed) of
                          undefined -> seed(exsss);
                          Given -> Given
                      end),
    put(rand_seed, State),
    X.

uniform_s({#{type := exsss, next := Next} = H, S0}) ->
    {V, S} = Next(S0),
    {(V bsr 5) * ?TWO_POW_MINUS53, {H, S}};
uniform_s(State) -> installed_module:call(?MODULE, uniform_s, [State]).

uniform_s(N, {#{type := exsss, next := Next} = H, S0}) when is_integer(N), N >= 1, N =< ?MASK58 + 1 ->
    {V, S} = Next(S0),
    in_range(N, H, Next, S, V, ?MASK58 + 1 - N);
uniform_s(N, State) when is_integer(N), N >= 1 -> installed_module:call(?MODULE, uniform_s, [N, State]).

%% Values of the incomplete last multiple of N are drawn again.
in_range(N, H, _, S, V, _) when V < N -> {V + 1, {H, S}};
in_range(N, H, Next, S, V, Spare) ->
    I = V rem N,
    if
        V - I =< Spare -> {I + 1, {H, S}};
        true ->
            {V1, S1} = Next(S),
            in_range(N, H, Next, S1, V1, Spare)
    end.

bytes(N) -> drawn(fun(State) -> bytes_s(N, State) end).

%% The highest seven bytes of each value
bytes_s(N, {#{type := exsss, next := Next} = H, S0}) when is_integer(N), N >= 0 ->
    {B, S} = bytes_s(N, Next, S0, <<>>),
    {B, {H, S}};
bytes_s(N, State) -> installed_module:call(?MODULE, bytes_s, [N, State]).

bytes_s(N, Next, S0, Acc) when N > 7 ->
    {V, S} = Next(S0),
    bytes_s(N - 7, Next, S, <<Acc/binary, (V bsr 2):56>>);
bytes_s(N, Next, S0, Acc) ->
    {V, S} = Next(S0),
    {<<Acc/binary, (V bsr (8 * (7 - N))):N/unit:8>>, S}.

shuffle(L) -> drawn(fun(State) -> shuffle_s(L, State) end).

%% Elements are ordered by random keys; equal keys are drawn again.
shuffle_s(L, {#{next := Next} = H, Words}) when is_list(L) ->
    {Keyed, Words1} = lists:mapfoldl(fun(X, S0) -> {V, S} = Next(S0), {{V, X}, S} end, Words, L),
    State = {H, Words1},
    Sorted = lists:keysort(1, Keyed),
    case has_equal_keys(Sorted) of
        true -> shuffle_s(L, State);
        false -> {[X || {_, X} <- Sorted], State}
    end.

has_equal_keys([{K, _}, {K, _} | _]) -> true;
has_equal_keys([_ | T]) -> has_equal_keys(T);
has_equal_keys([]) -> false.
