#!/usr/bin/env escript
%% packages: erlang-cowlib
%% Parsers of the protocols of the web.
-module(cowlib_used).
-mode(compile).
main(_) ->
    io:format("~p~n", [cow_http:parse_status_line(<<"HTTP/1.1 200 OK\r\nrest">>)]),
    io:format("~p~n", [cow_http:parse_headers(<<"Server: x\r\nContent-Length: 5\r\n\r\nhello">>)]),
    io:format("~p~n", [iolist_to_binary(cow_http:request(<<"GET">>, <<"/p">>, 'HTTP/1.1',
        [{<<"a">>, <<"b">>}]))]),
    io:format("~p~n", [cow_qs:parse_qs(<<"a=1&b=%20x&c">>)]),
    io:format("~p~n", [cow_qs:qs([{<<"a b">>, <<"&">>}, {<<"c">>, true}])]),
    io:format("~p~n", [cow_cookie:parse_cookie(<<"a=1; b=2">>)]),
    io:format("~p~n", [iolist_to_binary(cow_cookie:setcookie(<<"n">>, <<"v">>,
        [{path, <<"/">>}, {secure, true}]))]),
    io:format("~p~n", [cow_http_hd:parse_connection(<<"keep-alive, Upgrade">>)]),
    io:format("~p~n", [iolist_to_binary(cow_ws:frame({text, <<"hi">>}, #{}))]),
    io:format("~p~n", [cow_multipart:parse_headers(<<"--b\r\nA: 1\r\n\r\nbody\r\n--b--">>, <<"b">>)]),
    io:format("~p~n", [cow_date:rfc2109({{2024, 2, 29}, {1, 2, 3}})]),
    Compress = cow_spdy:deflate_init(),
    io:format("~p~n", [iolist_to_binary(cow_spdy:syn_reply(Compress, 1, true, <<"200 OK">>, <<"HTTP/1.1">>,
        [{<<"a">>, <<"b">>}]))]).
