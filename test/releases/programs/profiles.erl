%% SPDX-License-Identifier: Apache-2.0
%% What tprof counts: calls of all functions that ran, and the words that each has built, and nothing of how
%% the machine itself traces.
-module(profiles).
-export([main/0, lists/1]).

main() ->
    [begin
        {_, {Type, Counts}} = tprof:profile(profiles, lists, [100], #{type => Type, report => return}),
        [io:format("~s ~p ~p~n", [Type, {M, F, A}, figures(PerProcess)])
         || {M, F, A, PerProcess} <- lists:sort(Counts)]
     end || Type <- [call_count, call_memory]],
    {_, {_, Times}} = tprof:profile(profiles, lists, [100], #{type => call_time, report => return}),
    io:format("call_time ~p~n", [lists:sort([{M, F, A, Calls} || {M, F, A, [{_, Calls, _}]} <- Times])]).

figures(PerProcess) -> [{Calls, Words} || {_Process, Calls, Words} <- PerProcess].

lists(0) -> ok;
lists(N) -> lists:reverse(lists:seq(1, 10)), lists(N - 1).
