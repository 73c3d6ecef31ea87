%% SPDX-License-Identifier: Apache-2.0
%% since: 27
%% flags: +JPcover line_counters
%% Coverage by a flag: every module counts that was compiled for it, and others count nothing.
-module(counted_from_the_start).
-export([main/0]).
-compile(line_coverage).

main() ->
    Modes = [code:get_coverage_mode(M) || M <- [?MODULE, lists, init]],
    io:format("~p ~p~n", [code:get_coverage_mode(), Modes]),
    [30, 30] = [sum(lists:seq(0, 10, 2)) || _ <- [1, 2]],
    io:format("~p~n", [code:get_coverage(function, ?MODULE)]),
    io:format("~p~n", [code:get_coverage(line, ?MODULE)]),
    code:reset_coverage(?MODULE),
    io:format("~p ~p~n", [sum([]), [N || {_, N} <- code:get_coverage(cover_id_line, ?MODULE), N > 0]]).

sum([N | Rest]) ->
    More = sum(Rest),
    N + More;
sum([]) ->
    0.
