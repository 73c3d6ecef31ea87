%% The old generator of pseudo-random numbers, algorithm AS183 (Wichmann and Hill 1982). rand is better in every way.
-module(random).

-export([seed0/0, seed/0, seed/1, seed/3, uniform/0, uniform/1, uniform_s/1, uniform_s/2]).

-define(P1, 30269).
-define(P2, 30307).
-define(P3, 30323).

seed0() -> {3172, 9814, 20125}.

%% These answer the seed before, or undefined.
seed() -> stored(seed0()).

seed({A, B, C}) -> seed(A, B, C).

seed(A, B, C) -> stored({abs(A) rem (?P1 - 1) + 1, abs(B) rem (?P2 - 1) + 1, abs(C) rem (?P3 - 1) + 1}).

stored(Seed) -> put(random_seed, Seed).

current() ->
    case get(random_seed) of
        undefined -> seed0();
        Seed -> Seed
    end.

uniform() ->
    {X, Seed} = uniform_s(current()),
    stored(Seed),
    X.

uniform(N) when is_integer(N), N >= 1 -> trunc(uniform() * N) + 1.

uniform_s({A0, B0, C0}) ->
    A = (A0 * 171) rem ?P1,
    B = (B0 * 172) rem ?P2,
    C = (C0 * 170) rem ?P3,
    X = A / ?P1 + B / ?P2 + C / ?P3,
    {X - trunc(X), {A, B, C}}.

uniform_s(N, Seed0) when is_integer(N), N >= 1 ->
    {X, Seed} = uniform_s(Seed0),
    {trunc(X * N) + 1, Seed}.
