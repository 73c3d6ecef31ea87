#!/usr/bin/env escript
%% packages: erlang-dialyzer
%% Discrepancies of a small module, with a table made of two modules.
-module(otp_dialyzer_used).
-mode(compile).
main(_) ->
    ok = file:write_file("wrong.erl", "-module(wrong).\n-export([f/1, g/0]).\n-spec f(integer()) -> atom().\n"
                                      "f(X) when is_integer(X) -> X + 1.\ng() -> f(an_atom).\n"),
    {ok, wrong} = compile:file("wrong.erl", [debug_info]),
    Beams = [filename:join(code:lib_dir(stdlib), "ebin/" ++ M ++ ".beam") || M <- ["lists", "ordsets"]],
    Unknown = dialyzer:run([{analysis_type, plt_build}, {files, Beams}, {output_plt, "own.plt"}]),
    [io:put_chars(dialyzer:format_warning(W)) || W <- lists:sort(Unknown)],
    Warnings = dialyzer:run([{files, ["wrong.beam"]}, {init_plt, "own.plt"}]),
    [io:put_chars(dialyzer:format_warning(W)) || W <- lists:sort(Warnings)].
