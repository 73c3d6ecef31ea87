#!/usr/bin/env escript
%% packages: erlang-p1-sip
%% Messages of SIP, with a NIF for headers.
-module(p1_sip_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(esip),
    Text = <<"INVITE sip:bob@b.example SIP/2.0\r\nVia: SIP/2.0/UDP pc33.a.example;branch=z9hG4bK776\r\n"
             "Max-Forwards: 70\r\nTo: Bob <sip:bob@b.example>\r\n"
             "From: Alice <sip:alice@a.example>;tag=19\r\nCall-ID: a84b\r\nCSeq: 314159 INVITE\r\n"
             "Content-Length: 0\r\n\r\n">>,
    {ok, Message} = esip:decode(Text),
    io:format("~p~n~s~n", [Message, esip:encode(Message)]),
    io:format("~p~n", [esip:decode_uri(<<"sip:alice:secret@a.example:5061;transport=tcp?x=y">>)]),
    io:format("~p~n", [esip:decode(<<"nonsense\r\n\r\n">>)]).
