#!/usr/bin/env escript
%% packages: erlang-horse
%% How long functions take: its modules are sources.
-module(horse_used).
-mode(compile).
main(_) ->
    Folder = code:lib_dir(horse) ++ "/ebin/",
    [{ok, M} = compile:file(Folder ++ atom_to_list(M), [{outdir, "."}]) || M <- [horse, horse_autoexport]],
    code:add_patha("."),
    ok = file:write_file("timed.erl", "-module(timed).\n-compile([{parse_transform, horse_autoexport}]).\n"
                                      "horse_sums() -> lists:sum(lists:seq(1, 10)).\nhorse_init() -> ok.\n"),
    {ok, timed} = compile:file("timed", []),
    io:format("~p~n", [lists:sort(timed:module_info(exports))]),
    io:format("~p~n", [lists:sort(horse:module_info(exports))]).
