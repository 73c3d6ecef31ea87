%% Pseudo-random numbers, the generators of OTP with the same sequences (those of
%% normal_s/1 and shuffle_s/2 are our own):
%%   exsss     Xorshift116**, the default     exsp     Xorshift116+
%%   exrop     Xoroshiro116+                  exro928ss  Xoroshiro928**
%% (S. Vigna's generators on 58-bit words.) A state is {Generator, Words}; that
%% of a process is in its dictionary under rand_seed.
-module(rand).

-export([seed/1, seed/2, seed_s/1, seed_s/2, export_seed/0, export_seed_s/1, uniform/0,
         uniform/1, uniform_s/1, uniform_s/2, uniform_real/0, uniform_real_s/1, bytes/1,
         bytes_s/2, normal/0, normal/2, normal_s/1, normal_s/3, shuffle/1, shuffle_s/2,
         splitmix64_next/1, exsp_next/1]).

-define(MASK58, 16#3FFFFFFFFFFFFFF).
-define(MASK64, 16#FFFFFFFFFFFFFFFF).
-define(TWO_POW_MINUS53, 1.1102230246251565e-16).
%% Bits that would leave the 58 are cut off before the shift, so that every
%% intermediate result is a small integer.
-define(BSL58(X, N), (((X) band (?MASK58 bsr (N))) bsl (N))).
-define(ROTL58(X, N), (?BSL58(X, N) bor ((X) bsr (58 - (N))))).

%% Seeds

seed(Alg) -> stored(seed_s(Alg)).

seed(Alg, Seed) -> stored(seed_s(Alg, Seed)).

stored(State) ->
    put(rand_seed, State),
    State.

seed_s(default) -> seed_s(exsss);
seed_s({Alg, Words} = State) when is_atom(Alg), (is_list(Words) orelse is_tuple(Words)) -> State;
seed_s(Alg) when is_atom(Alg) ->
    seed_s(Alg, {erlang:phash2([{node(), self()}]), erlang:system_time(), erlang:unique_integer()}).

seed_s(default, Seed) -> seed_s(exsss, Seed);
seed_s(Alg, Seed) when Alg =:= exsss; Alg =:= exsp; Alg =:= exrop -> {Alg, words2(Alg, Seed)};
seed_s(exro928ss, Seed) -> {exro928ss, words16(Seed)};
seed_s(Alg, _) -> error({nif_error_or_unknown_algorithm, Alg}).

words2(_, [S0, S1]) when is_integer(S0), is_integer(S1) ->
    [S0 band ?MASK58 | S1 band ?MASK58];
words2(_, Seed) when is_integer(Seed) ->
    {W0, X} = seed58(Seed band ?MASK64),
    {W1, _} = seed58(X),
    [W0 | W1];
words2(exsp, {A1, A2, A3}) ->
    {_, [_ | S]} = exsp_next([scattered(A1, 4294967197) | scattered(A2, 4294967231)]),
    {_, Words} = exsp_next([scattered(A3, 4294967279) | S]),
    Words;
words2(exrop, {A1, A2, A3}) ->
    {_, {_, [_ | S]}} = next({exrop, [scattered(A1, 4294967197) | scattered(A2, 4294967231)]}),
    {_, {_, Words}} = next({exrop, [scattered(A3, 4294967279) | S]}),
    Words;
words2(exsss, {A1, A2, A3}) ->
    {_, X1} = seed58(A1 band ?MASK64),
    {S0, X2} = seed58((A2 band ?MASK64) bxor X1),
    {S1, _} = seed58((A3 band ?MASK64) bxor X2),
    [S0 | S1].

scattered(A, Prime) -> (A * Prime + 1) band ?MASK58.

words16(Seed) when is_integer(Seed) -> {seed58_list(16, Seed band ?MASK64), []};
words16({A1, A2, A3}) ->
    {S0, X0} = seed58(A1 band ?MASK64),
    {S1, X1} = seed58((A2 band ?MASK64) bxor X0),
    {S2, X2} = seed58((A3 band ?MASK64) bxor X1),
    {[S0, S1, S2 | seed58_list(13, X2)], []};
words16(Words) when length(Words) =:= 16 -> {[W band ?MASK58 || W <- Words], []}.

seed58_list(0, _) -> [];
seed58_list(N, X0) ->
    {W, X} = seed58(X0),
    [W | seed58_list(N - 1, X)].

%% A word that is not zero.
seed58(X0) ->
    {Z, X} = splitmix64_next(X0),
    case Z band ?MASK58 of
        0 -> seed58(X);
        W -> {W, X}
    end.

splitmix64_next(X0) ->
    X = (X0 + 16#9E3779B97F4A7C15) band ?MASK64,
    Z0 = ((X bxor (X bsr 30)) * 16#BF58476D1CE4E5B9) band ?MASK64,
    Z1 = ((Z0 bxor (Z0 bsr 27)) * 16#94D049BB133111EB) band ?MASK64,
    {Z1 bxor (Z1 bsr 31), X}.

export_seed() ->
    case get(rand_seed) of
        undefined -> undefined;
        State -> export_seed_s(State)
    end.

export_seed_s({_, _} = State) -> State.

current() ->
    case get(rand_seed) of
        undefined -> seed_s(exsss);
        State -> State
    end.

%% One step: {58-bit value, state}

next({exsss, [S1 | S0]}) ->
    V0 = (S0 + ?BSL58(S0, 2)) band ?MASK58,
    V1 = ?ROTL58(V0, 7),
    {(V1 + ?BSL58(V1, 3)) band ?MASK58, {exsss, xorshift(S1, S0)}};
next({exsp, Words}) ->
    {V, Words1} = exsp_next(Words),
    {V, {exsp, Words1}};
next({exrop, [S1 | S0]}) ->
    X = S0 bxor S1,
    {(S0 + S1) band ?MASK58,
     {exrop, [?ROTL58(S1, 24) bxor X bxor ?BSL58(X, 2) | ?ROTL58(X, 35)]}};
next({exro928ss, {[S15, S0 | Ss], Rs}}) -> exro928(S15, S0, Ss, Rs);
next({exro928ss, {[S15], Rs}}) ->
    [S0 | Ss] = lists:reverse(Rs),
    exro928(S15, S0, Ss, []).

exro928(S15, S0, Ss, Rs) ->
    V0 = (S0 + ?BSL58(S0, 2)) band ?MASK58,
    V1 = ?ROTL58(V0, 7),
    X = S15 bxor S0,
    New15 = ?ROTL58(S0, 44) bxor X bxor ?BSL58(X, 9),
    New0 = ?ROTL58(X, 45),
    {(V1 + ?BSL58(V1, 3)) band ?MASK58, {exro928ss, {[New0 | Ss], [New15 | Rs]}}}.

exsp_next([S1 | S0]) ->
    [_ | New] = Words = xorshift(S1, S0),
    {(S0 + New) band ?MASK58, Words}.

xorshift(S1, S0) ->
    A = S1 bxor ?BSL58(S1, 24),
    [S0 | A bxor S0 bxor (A bsr 11) bxor (S0 bsr 41)].

%% Values

uniform() ->
    {X, State} = uniform_s(current()),
    put(rand_seed, State),
    X.

uniform(N) ->
    {X, State} = uniform_s(N, current()),
    put(rand_seed, State),
    X.

uniform_s(State0) ->
    {V, State} = next(State0),
    {(V bsr 5) * ?TWO_POW_MINUS53, State}.

uniform_s(N, State0) when is_integer(N), N >= 1, N =< ?MASK58 + 1 -> in_range(N, State0, ?MASK58 + 1 - N);
uniform_s(N, State0) when is_integer(N), N >= 1 -> in_large_range(N, State0).

%% Values of the incomplete last multiple of N are drawn again.
in_range(N, State0, Spare) ->
    {V, State} = next(State0),
    if
        V < N -> {V + 1, State};
        true ->
            I = V rem N,
            if
                V - I =< Spare -> {I + 1, State};
                true -> in_range(N, State, Spare)
            end
    end.

%% Several values are put together. Those of the generators with + have a weak
%% lowest bit, which the bits shifted in replace.
in_large_range(N, {Alg, _} = State0) ->
    Weak = if Alg =:= exsp; Alg =:= exrop -> 1; true -> 0 end,
    {V0, State1} = next(State0),
    {V, Max, State} = wide(N, State1, Weak, V0, ?MASK58 + 1),
    if
        V < N -> {V + 1, State};
        true ->
            I = V rem N,
            if
                V - I =< Max - N -> {I + 1, State};
                true -> in_large_range(N, State)
            end
    end.

wide(N, State, _, V, Max) when Max >= N -> {V, Max, State};
wide(N, State0, Weak, V0, Max) ->
    {V, State} = next(State0),
    wide(N, State, Weak, ((V0 bsr Weak) bsl 58) bor V, Max bsl (58 - Weak)).

%% Uniform in 0.0 =< X < 1.0 with full precision also near 0: leading zero
%% bits are made up for by more bits.
uniform_real() ->
    {X, State} = uniform_real_s(current()),
    put(rand_seed, State),
    X.

uniform_real_s(State0) ->
    {V, State} = next(State0),
    {X, State1, _} = real(State, V bsr 2, 56, 0),
    {X, State1}.

%% M is a fraction of Bits bits.
real(State, M, Bits, Tries) when M >= 1 bsl 52 ->
    Len = bit_length(M, 0),
    {(M bsr (Len - 53)) * math:pow(2.0, Len - 53 - Bits), State, Tries};
real(State0, M, Bits, Tries) when Tries < 18 ->
    {V, State} = next(State0),
    real(State, (M bsl 56) bor (V bsr 2), Bits + 56, Tries + 1);
real(State, _, _, Tries) -> {0.0, State, Tries}.

bit_length(0, N) -> N;
bit_length(M, N) -> bit_length(M bsr 1, N + 1).

bytes(N) ->
    {B, State} = bytes_s(N, current()),
    put(rand_seed, State),
    B.

%% Seven bytes from each value, its lowest two bits are not used.
bytes_s(N, State) when is_integer(N), N >= 0 -> bytes_s(N, State, <<>>).

bytes_s(N, State0, Acc) when N >= 7 ->
    {V, State} = next(State0),
    bytes_s(N - 7, State, <<Acc/binary, (V bsr 2):56>>);
bytes_s(0, State, Acc) -> {Acc, State};
bytes_s(N, State0, Acc) ->
    {V, State} = next(State0),
    {<<Acc/binary, (V bsr (56 - 8 * N)):(8 * N)>>, State}.

shuffle(L) ->
    {Shuffled, State} = shuffle_s(L, current()),
    put(rand_seed, State),
    Shuffled.

%% Elements are ordered by random keys; equal keys are drawn again.
shuffle_s(L, State0) when is_list(L) ->
    {Keyed, State} = lists:mapfoldl(fun(X, S0) -> {V, S} = next(S0), {{V, X}, S} end, State0, L),
    Sorted = lists:keysort(1, Keyed),
    case has_equal_keys(Sorted) of
        true -> shuffle_s(L, State);
        false -> {[X || {_, X} <- Sorted], State}
    end.

has_equal_keys([{K, _}, {K, _} | _]) -> true;
has_equal_keys([_ | T]) -> has_equal_keys(T);
has_equal_keys([]) -> false.

%% Standard normal distribution, by the polar method of Marsaglia.
normal() ->
    {X, State} = normal_s(current()),
    put(rand_seed, State),
    X.

normal(Mean, Variance) -> Mean + math:sqrt(Variance) * normal().

normal_s(State0) ->
    {U, State1} = uniform_s(State0),
    {V, State} = uniform_s(State1),
    X = 2.0 * U - 1.0,
    Y = 2.0 * V - 1.0,
    S = X * X + Y * Y,
    if
        S < 1.0, S > 0.0 -> {X * math:sqrt(-2.0 * math:log(S) / S), State};
        true -> normal_s(State)
    end.

normal_s(Mean, Variance, State0) when Variance > 0 ->
    {X, State} = normal_s(State0),
    {Mean + math:sqrt(Variance) * X, State}.
