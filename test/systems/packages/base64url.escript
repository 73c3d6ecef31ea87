#!/usr/bin/env escript
%% packages: erlang-base64url
%% Base 64 for addresses.
-module(base64url_used).
-mode(compile).
main(_) ->
    All = list_to_binary(lists:seq(0, 255)),
    Texts = [base64url:encode(binary:part(All, 256 - N, N)) || N <- [0, 1, 2, 3, 60]],
    io:format("~p~n~p~n", [Texts, [byte_size(base64url:decode(T)) || T <- Texts]]),
    io:format("~p~n", [catch base64url:decode("not&base64")]).
