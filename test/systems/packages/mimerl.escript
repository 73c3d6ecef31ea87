#!/usr/bin/env escript
%% packages: erlang-mimerl
%% Types of files.
-module(mimerl_used).
-mode(compile).
main(_) ->
    io:format("~p~n", [[mimerl:extension(E) || E <- [<<"html">>, <<"JPG">>, <<"tar">>, <<"nonesuch">>]]]),
    io:format("~p~n", [[mimerl:filename(F) || F <- [<<"a/b.png">>, <<"noext">>]]]),
    io:format("~p~n", [mimerl:mime_to_exts(<<"text/plain">>)]).
