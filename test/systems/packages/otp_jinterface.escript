#!/usr/bin/env escript
%% packages: erlang-jinterface
%% A node in Java: its classes are there.
-module(otp_jinterface_used).
-mode(compile).
main(_) ->
    io:format("~p~n", [filelib:is_file(filename:join(code:priv_dir(jinterface), "OtpErlang.jar"))]).
