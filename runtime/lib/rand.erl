%% SPDX-License-Identifier: Apache-2.0
%% Pseudo-random numbers: for a seed the very numbers of OTP (those of shuffle_s/2 are our own). A state is
%% {Handler, Words}, see rand_generator; that of a process is in its dictionary under rand_seed.
-module(rand).

-export([seed/1, seed/2, seed_s/1, seed_s/2, export_seed/0, export_seed_s/1, uniform/0, uniform/1,
         uniform_s/1, uniform_s/2, uniform_real/0, uniform_real_s/1, bytes/1, bytes_s/2, normal/0, normal/2,
         normal_s/1, normal_s/3, jump/0, jump/1, shuffle/1, shuffle_s/2]).
-export([splitmix64_next/1, seed58/2, exsp_next/1, exsp_jump/1, exro928_seed/1, exro928_next/1,
         exro928_next_state/1, exro928_jump_2pow20/1, exro928_jump_2pow512/1]).
-export([mwc59/1, mwc59_value32/1, mwc59_value/1, mwc59_float/1, mwc59_seed/0, mwc59_seed/1]).

-define(MASK32, 16#FFFFFFFF).
-define(MASK53, 16#1FFFFFFFFFFFFF).
-define(MASK58, 16#3FFFFFFFFFFFFFF).
-define(MASK59, 16#7FFFFFFFFFFFFFF).
-define(TWO_POW_MINUS53, 1.1102230246251565e-16).

%% Seeds

seed(Alg) -> stored(seed_s(Alg)).

seed(Alg, Seed) -> stored(seed_s(Alg, Seed)).

stored(State) ->
    put(rand_seed, State),
    State.

seed_s({Handler, _} = State) when is_map(Handler) -> State;
seed_s({Alg, Words}) when is_atom(Alg) -> {rand_generator:handler(Alg), Words};
seed_s(Alg) -> seed_s(Alg, unique_seed()).

unique_seed() -> {erlang:phash2([{node(), self()}]), erlang:system_time(), erlang:unique_integer()}.

seed_s(default, Seed) -> seed_s(exsss, Seed);
seed_s(Alg, Seed) -> {rand_generator:handler(Alg), rand_generator:seeded(Alg, Seed)}.

export_seed() ->
    case get(rand_seed) of
        {#{type := Alg}, Words} -> {Alg, Words};
        _ -> undefined
    end.

export_seed_s({#{type := Alg}, Words}) -> {Alg, Words}.

current() ->
    case get(rand_seed) of
        undefined -> seed(exsss);
        State -> State
    end.

%% Runs Draw on the state of the process.
drawn(Draw) ->
    {X, State} = Draw(current()),
    put(rand_seed, State),
    X.

jump() -> stored(jump(current())).

jump({#{jump := Jump}, _} = State) -> Jump(State);
jump({#{}, _}) -> error(not_implemented).

%% Values. Handlers with `max` instead of `bits` are of the old kind.

uniform() -> drawn(fun uniform_s/1).

uniform(N) -> drawn(fun(State) -> uniform_s(N, State) end).

uniform_s({#{uniform := Uniform}, _} = State) -> Uniform(State);
uniform_s({#{bits := Bits, next := Next} = H, S0}) ->
    {V, S} = Next(S0),
    {(V bsr (Bits - 53)) * ?TWO_POW_MINUS53, {H, S}};
uniform_s({#{max := Max, next := Next} = H, S0}) ->
    {V, S} = Next(S0),
    {V / (Max + 1), {H, S}}.

uniform_s(N, {#{uniform_n := Uniform}, _} = State) when is_integer(N), N >= 1 -> Uniform(N, State);
uniform_s(N, {#{bits := Bits, next := Next} = H, S0}) when is_integer(N), N >= 1 ->
    {V, S} = Next(S0),
    case (1 bsl Bits) - N of
        Spare when Spare >= 0 -> in_range(N, H, Next, S, V, Spare);
        _ -> in_large_range(N, H, Next, S, V, Bits)
    end;
uniform_s(N, {#{max := Max, next := Next} = H, S0}) when is_integer(N), N >= 1 ->
    {V, S} = Next(S0),
    if
        N =< Max -> {V rem N + 1, {H, S}};
        true -> {trunc(V / (Max + 1) * N) + 1, {H, S}}
    end.

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

%% Several values are put together; each replaces the weak low bits of the one before. Unless N is a power of
%% two there are at least two bits to spare, so that few are drawn again.
in_large_range(N, H, Next, S, V, Bits) ->
    Weak = maps:get(weak_low_bits, H, 0),
    case N band (N - 1) of
        0 ->
            {Wide, S1, _} = widened(N bsr Bits, Next, S, V, Weak, Bits - Weak, Bits),
            {(Wide band (N - 1)) + 1, {H, S1}};
        _ ->
            {Wide, S1, WideBits} = widened(N bsr (Bits - 2), Next, S, V, Weak, Bits - Weak, Bits),
            I = Wide rem N,
            if
                Wide - I =< (1 bsl WideBits) - N -> {I + 1, {H, S1}};
                true ->
                    {V2, S2} = Next(S1),
                    in_large_range(N, H, Next, S2, V2, Bits)
            end
    end.

widened(Missing, _, S, V, _, _, Bits) when Missing =< 1 -> {V, S, Bits};
widened(Missing, Next, S0, V0, Weak, Shift, Bits) ->
    {V, S} = Next(S0),
    widened(Missing bsr Shift, Next, S, ((V0 bsr Weak) bsl (Weak + Shift)) bor V, Weak, Shift, Bits + Shift).

%% Uniform in 0.0 =< X < 1.0 with full precision also near 0: leading zero bits are made up for by more bits.
uniform_real() -> drawn(fun uniform_real_s/1).

uniform_real_s(State0) ->
    {F, State} = fraction(State0),
    real(F, State, -56).

%% 56 bits of the next value
fraction({#{bits := Bits, next := Next} = H, S0}) ->
    {V, S} = Next(S0),
    {V bsr (Bits - 56), {H, S}};
fraction({#{next := Next} = H, S0}) ->
    {V, S} = Next(S0),
    {V band (1 bsl 56 - 1), {H, S}}.

%% F is to be scaled by 2 to the power of Exponent. Below the smallest float that has some precision it begins
%% anew.
real(F, State, Exponent) ->
    case bit_length(F, 56) of
        Length when Length >= 53 -> {(F bsr (Length - 53)) * math:pow(2.0, Exponent + Length - 53), State};
        0 when Exponent > -1064 ->
            {F1, State1} = fraction(State),
            real(F1, State1, Exponent - 56);
        Length when Exponent > -1064; Length >= 43 ->
            {F1, State1} = following(State),
            Missing = 53 - Length,
            {((F bsl Missing) bor (F1 bsr (56 - Missing))) * math:pow(2.0, Exponent - Missing), State1};
        _ -> uniform_real_s(State)
    end.

%% The bits after a fraction. OTP forgets to cut the values of its old generators here, and its numbers are to
%% be met.
following({#{bits := _}, _} = State) -> fraction(State);
following({#{next := Next} = H, S0}) ->
    {V, S} = Next(S0),
    {V, {H, S}}.

%% Of F, if it has at most N bits.
bit_length(_, 0) -> 0;
bit_length(F, N) when F bsr (N - 1) =/= 0 -> N;
bit_length(F, N) -> bit_length(F, N - 1).

bytes(N) -> drawn(fun(State) -> bytes_s(N, State) end).

%% The highest bytes of each value
bytes_s(N, {#{bits := Bits} = H, S}) when is_integer(N), N >= 0 ->
    bytes_s(N, H, S, Bits, maps:get(weak_low_bits, H, 0));
bytes_s(N, {#{max := Max} = H, S}) when is_integer(N), N >= 0, Max >= ?MASK58 -> bytes_s(N, H, S, 58, 2).

bytes_s(N, #{next := Next} = H, S0, Bits, Weak) ->
    Bytes = (Bits - Weak) bsr 3,
    {B, S} = bytes_s(N, Next, S0, Bytes, Bits - 8 * Bytes, <<>>),
    {B, {H, S}}.

bytes_s(N, Next, S0, Bytes, Shift, Acc) when N > Bytes ->
    {V, S} = Next(S0),
    bytes_s(N - Bytes, Next, S, Bytes, Shift, <<Acc/binary, (V bsr Shift):Bytes/unit:8>>);
bytes_s(N, Next, S0, Bytes, _, Acc) ->
    {V, S} = Next(S0),
    {<<Acc/binary, (V bsr (8 * (Bytes - N))):N/unit:8>>, S}.

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

%% Standard normal distribution, by the ziggurat method.
normal() -> drawn(fun normal_s/1).

normal(Mean, Variance) -> Mean + math:sqrt(Variance) * normal().

normal_s(Mean, Variance, State0) when Variance > 0 ->
    {X, State} = normal_s(State0),
    {Mean + math:sqrt(Variance) * X, State}.

normal_s({#{next := Next} = H, S0}) ->
    {V, S} = Next(S0),
    {Sign, R} = sign_and_fraction(V, H),
    Layer = R band 255,
    {Inside, Unit} = rand_ziggurat:layer(Layer),
    X = if Sign =:= 0 -> R * Unit; true -> -(R * Unit) end,
    if
        R < Inside -> {X, {H, S}};
        Layer =:= 0 -> normal_tail(Sign, {H, S});
        true -> normal_edge(Layer, X, {H, S})
    end.

%% A bit and 51 bits
sign_and_fraction(V, #{bits := Bits}) -> {V band (1 bsl (Bits - 52)), V bsr (Bits - 51)};
sign_and_fraction(V, _) -> {V band (1 bsl 51), V band (1 bsl 51 - 1)}.

%% Where a layer sticks out of the density
normal_edge(Layer, X, State0) ->
    {U, State} = uniform_s(State0),
    Outer = rand_ziggurat:density(Layer),
    case (rand_ziggurat:density(Layer - 1) - Outer) * U + Outer < math:exp(-0.5 * X * X) of
        true -> {X, State};
        false -> normal_s(State)
    end.

-define(TAIL, 3.654152885361009).

normal_tail(Sign, State0) ->
    {U, State1} = uniform_s(State0),
    {V, State} = uniform_s(State1),
    X = -(1 / ?TAIL) * math:log(U),
    Y = -math:log(V),
    if
        Y + Y > X * X, Sign =:= 0 -> {?TAIL + X, State};
        Y + Y > X * X -> {-?TAIL - X, State};
        true -> normal_tail(Sign, State)
    end.

%% Generators for direct use

splitmix64_next(X) -> rand_generator:splitmix64_next(X).
seed58(N, X) -> rand_generator:seed58(N, X).
exsp_next(Words) -> rand_generator:exsp_next(Words).
exsp_jump(Words) -> rand_generator:exsp_jump(Words).
exro928_seed(Seed) -> rand_generator:exro928_seed(Seed).
exro928_next(Ring) -> rand_generator:exro928_next(Ring).
exro928_next_state(Ring) -> rand_generator:exro928_next_state(Ring).
exro928_jump_2pow20(Ring) -> rand_generator:exro928_jump_2pow20(Ring).
exro928_jump_2pow512(Ring) -> rand_generator:exro928_jump_2pow512(Ring).

%% Multiply with carry, on small integers only: 32 bits of value below 27 of carry. The values are scrambled
%% by shifts.

mwc59(State) -> 16#7FA6502 * (State band ?MASK32) + ((State band ?MASK59) bsr 32).

mwc59_value32(State) ->
    X = State band ?MASK32,
    X bxor ((X bsl 8) band ?MASK32).

mwc59_value(State) -> scrambled(State band ?MASK59, ?MASK59).

mwc59_float(State) -> scrambled(State band ?MASK53, ?MASK53) * ?TWO_POW_MINUS53.

scrambled(X, Mask) ->
    Y = X bxor ((X band (Mask bsr 4)) bsl 4),
    Y bxor ((Y band (Mask bsr 27)) bsl 27).

mwc59_seed() ->
    {A, B, C} = unique_seed(),
    (hash58(A) bxor hash58(B) bxor hash58(C)) + 1.

mwc59_seed(Seed) when is_integer(Seed), Seed >= 0, Seed =< ?MASK58 -> hash58(Seed) + 1.

hash58(X0) ->
    X1 = X0 band ?MASK58,
    X2 = ((X1 bxor (X1 bsr 29)) * 16#351AFD7ED558CCD) band ?MASK58,
    X3 = ((X2 bxor (X2 bsr 29)) * 16#CEB9FE1A85EC53) band ?MASK58,
    X3 bxor (X3 bsr 29).
