#!/usr/bin/env escript
%% Usage: compile.escript FOLDER FILE... Compiles the files into the folder, and prints the names of modules
%% that are refused.
-mode(compile).

main([Folder | Files]) ->
    [io:format("~s~n", [filename:basename(F, ".erl")]) || F <- Files,
        refused(compile:file(F, [{outdir, Folder}, return_errors]))].

refused(Result) -> element(1, Result) =:= error.
