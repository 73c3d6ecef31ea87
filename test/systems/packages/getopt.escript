#!/usr/bin/env escript
%% packages: erlang-getopt
%% Command lines.
-module(getopt_used).
-mode(compile).
main(_) ->
    Options = [{help, $h, "help", undefined, "shows this"}, {port, $p, "port", {integer, 80}, "a port"},
        {name, undefined, "name", string, "a name"}, {file, undefined, undefined, string, "a file"}],
    io:format("~p~n", [getopt:parse(Options, "-p 8080 --name=me the_file rest more")]),
    io:format("~p~n", [getopt:parse(Options, "--port=x")]),
    getopt:usage(Options, "prog", "...", standard_io).
