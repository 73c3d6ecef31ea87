#!/usr/bin/env escript
%% packages: erlang-neotoma
%% A parser from a grammar.
-module(neotoma_used).
-mode(compile).
main(_) ->
    ok = file:write_file("sums.peg", "sum <- product '+' sum `[A, _, B] = Node, A + B` / product ~;\n"
                                     "product <- number '*' product `[A, _, B] = Node, A * B` / number ~;\n"
                                     "number <- [0-9]+ `binary_to_integer(iolist_to_binary(Node))`;\n"),
    io:format("~p~n", [catch neotoma:file("sums.peg")]),
    ok = file:write_file("words.peg", "words <- word (' ' word)* ~;\n"
                                      "word <- [a-z]+ "
                                      "`list_to_atom(binary_to_list(iolist_to_binary(Node)))`;\n"),
    io:format("~p~n", [neotoma:file("words.peg")]),
    {ok, words} = compile:file("words.erl", []),
    io:format("~p ~p~n", [words:parse("ab cd ef"), words:parse("ab 2")]).
