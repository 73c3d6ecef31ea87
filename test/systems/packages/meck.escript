#!/usr/bin/env escript
%% packages: erlang-meck
%% Modules replaced while the system runs.
-module(meck_used).
-mode(compile).
main(_) ->
    ok = meck:new(a_module, [non_strict]),
    ok = meck:expect(a_module, f, fun(X) -> {mocked, X} end),
    ok = meck:expect(a_module, g, [{[1, '_'], one}, {['_', 2], meck:raise(error, two)}]),
    io:format("~p ~p ~p~n", [a_module:f(1), a_module:g(1, 5),
        catch element(1, element(2, catch a_module:g(3, 2)))]),
    io:format("~p~n", [[{F, A, R} || {_, {a_module, F, A}, R} <- meck:history(a_module)]]),
    io:format("~p ~p~n", [meck:num_calls(a_module, f, '_'), meck:validate(a_module)]),
    ok = meck:unload(a_module),
    ok = meck:new(string, [unstick, passthrough]),
    ok = meck:expect(string, trim, fun(S) -> "[" ++ meck:passthrough([S]) ++ "]" end),
    io:format("~p ~p~n", [string:trim("  x "), string:length("abc")]),
    ok = meck:unload(string),
    io:format("~p ~p~n", [string:trim("  x "), catch a_module:f(1)]).
