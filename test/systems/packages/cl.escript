#!/usr/bin/env escript
%% packages: erlang-cl
%% OpenCL's native functions, where there is no OpenCL: they do not load.
-module(cl_used).
-mode(compile).
main(_) ->
    io:format("~p~n", [code:ensure_loaded(cl)]),
    io:format("~p~n", [lists:member({get_platform_ids, 0}, proplists:get_value(exports, beam_exports()))]).
beam_exports() -> {ok, {cl, Chunks}} = beam_lib:chunks(code:which(cl), [exports]), Chunks.
