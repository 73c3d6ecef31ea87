#!/usr/bin/env escript
%% packages: erlang-poolboy
%% A pool of workers.
-module(poolboy_used).
-mode(compile).
-export([start_link/1, init/1, handle_call/3, handle_cast/2]).
main(_) ->
    {ok, Pool} = poolboy:start([{worker_module, ?MODULE}, {size, 2}, {max_overflow, 1}], [some, arguments]),
    io:format("~p~n", [poolboy:status(Pool)]),
    Workers = [poolboy:checkout(Pool) || _ <- [1, 2, 3]],
    io:format("~p ~p~n", [poolboy:status(Pool), poolboy:checkout(Pool, false)]),
    io:format("~p~n", [[gen_server:call(W, {double, 21}) || W <- Workers]]),
    [poolboy:checkin(Pool, W) || W <- Workers],
    io:format("~p~n", [poolboy:transaction(Pool, fun(W) -> gen_server:call(W, {double, 5}) end)]),
    io:format("~p~n", [poolboy:stop(Pool)]).
start_link(A) -> gen_server:start_link(?MODULE, A, []).
init(A) -> {ok, A}.
handle_call({double, N}, _, S) -> {reply, 2 * N, S}.
handle_cast(_, S) -> {noreply, S}.
