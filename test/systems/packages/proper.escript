#!/usr/bin/env escript
%% packages: erlang-proper erlang-proper-dev
%% Properties of functions, with shrinking.
-module(proper_used).
-mode(compile).
-include_lib("proper/include/proper.hrl").
main(_) ->
    Good = ?FORALL(L, list(integer()), lists:reverse(lists:reverse(L)) =:= L),
    io:format("~p~n", [proper:quickcheck(Good, [quiet, {numtests, 200}])]),
    Wrong = ?FORALL(L, list(integer()), length(L) < 5),
    io:format("~p~n", [proper:quickcheck(Wrong, [quiet, {numtests, 200}])]),
    io:format("~p~n", [length(hd(proper:counterexample()))]),
    Shapes = ?FORALL({A, B}, {non_neg_integer(), binary()}, begin <<C:A/binary, _/bits>> = <<B/binary,
        0:(8 * A)>>, byte_size(C) =:= A end),
    io:format("~p~n", [proper:quickcheck(Shapes, [quiet, {numtests, 100}])]).
