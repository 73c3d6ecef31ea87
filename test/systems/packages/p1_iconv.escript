#!/usr/bin/env escript
%% packages: erlang-p1-iconv
%% Encodings, by a NIF.
-module(p1_iconv_used).
-mode(compile).
main(_) ->
    ok = iconv:load_nif(),
    io:format("~p~n", [iconv:convert("utf-8", "latin1", <<"déjà"/utf8>>)]),
    io:format("~p~n", [iconv:convert("koi8-r", "utf-8", <<207, 207>>)]),
    io:format("~p~n", [iconv:convert("utf-8", "utf-16be", <<"a日"/utf8>>)]),
    io:format("~p~n", [iconv:convert("nonesuch", "utf-8", <<"a">>)]).
