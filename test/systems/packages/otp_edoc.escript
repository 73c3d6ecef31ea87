#!/usr/bin/env escript
%% packages: erlang-edoc
%% Documents from comments.
-module(otp_edoc_used).
-mode(compile).
main(_) ->
    ok = file:write_file("documented.erl", "%% @doc A module.\n-module(documented).\n-export([f/1]).\n"
                                           "%% @doc Adds one to `X'.\n-spec f(X :: integer()) -> integer().\n"
                                           "f(X) -> X + 1.\n"),
    ok = edoc:files(["documented.erl"], [{dir, "doc"}]),
    {ok, Html} = file:read_file("doc/documented.html"),
    io:format("~p~n", [[re:run(Html, R, [{capture, none}]) || R <- ["A module", "Adds one to <code>X</code>",
        "integer\\(\\)"]]]),
    io:format("~p~n", [lists:sort(filelib:wildcard("doc/*"))]).
