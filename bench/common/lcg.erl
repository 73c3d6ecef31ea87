%% A linear congruential generator of 32 bits (Knuth, The Art of Computer Programming, 3.3.4, line
%% 16): the same numbers on every machine, at the cost of one multiplication. Its state is a number
%% below 2^32, and a state is what it draws.
-module(lcg).
-export([next/1, number/2, states/2]).

next(State) -> (State * 1664525 + 1013904223) band 16#ffffffff.

%% A number from 0 to Below - 1, made of the leading digits, which are the random ones. Below is at
%% most 2^27.
number(State, Below) -> (State * Below) bsr 32.

%% The next N states.
states(0, _) -> [];
states(N, State) -> Next = next(State), [Next | states(N - 1, Next)].
