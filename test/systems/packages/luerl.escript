#!/usr/bin/env escript
%% packages: erlang-luerl
%% Lua.
-module(luerl_used).
-mode(compile).
main(_) ->
    State = luerl:init(),
    Program = <<"local t = {} for i = 1, 10 do t[i] = i * i end\n"
                "function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end\n"
                "return fib(15), #t, string.format('%5.2f|%s', 3.14159, 'x'), table.concat(t, ','), "
                "string.rep('ab', 3)">>,
    {Values, Next} = luerl:do(Program, State),
    io:format("~p~n", [Values]),
    {More, _} = luerl:do(<<"return fib(10), pcall(function() error('no') end)">>, Next),
    io:format("~p~n", [More]),
    io:format("~p~n", [catch luerl:do(<<"return 1 +">>, State)]).
