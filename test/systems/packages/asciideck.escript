#!/usr/bin/env escript
%% packages: erlang-asciideck
%% Texts in AsciiDoc.
-module(asciideck_used).
-mode(compile).
main(_) ->
    Text = <<"= Title\n\nSome *bold* text and a `code`.\n\n* one\n* two\n\n[source,erlang]\n----\n"
             "f() -> ok.\n----\n\n|===\n|a |b\n|===\n">>,
    Parsed = asciideck:parse(Text),
    io:format("~p~n", [Parsed]).
