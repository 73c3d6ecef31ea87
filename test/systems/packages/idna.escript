#!/usr/bin/env escript
%% packages: erlang-idna erlang-unicode-util-compat
%% Names of hosts in other scripts.
-module(idna_used).
-mode(compile).
main(_) ->
    Names = ["faß.de", "日本語.jp", "bücher.example", "xn--bcher-kva.example", "ΒΌΛΟΣ.com", "a-b.c"],
    [io:format("~ts ~p~n", [N, catch idna:encode(N, [uts46])]) || N <- Names],
    io:format("~p~n", [idna:decode("xn--bcher-kva.example")]),
    [io:format("~p~n", [catch idna:encode(N)]) || N <- ["", "-a.b", lists:duplicate(70, $a), "a_b.c"]].
