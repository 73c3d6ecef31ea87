#!/usr/bin/env escript
%% packages: erlang-tftp
%% Files over UDP.
-module(otp_tftp_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(tftp),
    Data = binary:copy(<<"0123456789">>, 500),
    ok = file:write_file("here.bin", Data),
    {ok, Pid} = tftp:start([{port, 0}, {host, "127.0.0.1"}]),
    {ok, Info} = tftp:info(Pid),
    Port = proplists:get_value(port, Info),
    {ok, Got} = tftp:read_file("here.bin", binary, [{host, "127.0.0.1"}, {port, Port}]),
    io:format("~p~n", [Got =:= Data]),
    {ok, Size} = tftp:write_file("there.bin", binary:part(Data, 0, 1024),
        [{host, "127.0.0.1"}, {port, Port}]),
    io:format("~p ~p~n", [Size, filelib:file_size("there.bin")]),
    io:format("~p~n", [element(1, tftp:read_file("absent", binary, [{host, "127.0.0.1"}, {port, Port}]))]).
