#!/usr/bin/env escript
%% packages: erlang-p1-eimp
%% Pictures, by a program behind a port.
-module(p1_eimp_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(eimp),
    io:format("~p~n", [eimp:get_type(<<137, "PNG\r\n", 26, "\n", 0:64>>)]),
    Picture = <<137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, "IHDR", 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0,
    31, 21, 196, 137, 0, 0, 0, 13, "IDAT", 120, 156, 99, 248, 207, 192, 240, 31, 0, 5, 0, 1, 255, 137, 153,
    61, 29, 0, 0, 0, 0, "IEND", 174, 66, 96, 130>>,
    io:format("~p~n", [eimp:is_supported(png)]),
    case eimp:convert(Picture, gif) of {ok, Gif} -> io:format("~p~n", [eimp:get_type(Gif)]); Error ->
        io:format("~p~n", [Error]) end,
    io:format("~p~n", [eimp:convert(<<"no picture">>, png)]).
