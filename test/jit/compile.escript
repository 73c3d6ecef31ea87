#!/usr/bin/env escript
%% Usage: compile.escript FOLDER FILE... Compiles the files into the folder, and prints for each that is
%% refused its name and why.
-mode(compile).

main([Folder | Files]) -> lists:foreach(fun(File) -> compile(Folder, File) end, Files).

compile(Folder, File) ->
    case compile:file(File, [{outdir, Folder}, return_errors]) of
        {ok, _} -> ok;
        {error, Errors, _} -> io:format("~s ~0tp~n", [filename:basename(File, ".erl"), Errors])
    end.
