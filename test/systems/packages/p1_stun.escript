#!/usr/bin/env escript
%% packages: erlang-p1-stun
%% A server of STUN on a socket, and messages of it.
-module(p1_stun_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(stun),
    Request = <<1:16, 0:16, 16#2112A442:32, 7:96>>,
    io:format("~p~n", [stun_codec:decode(Request, datagram)]),
    {ok, Free} = gen_udp:open(0, [{ip, {127, 0, 0, 1}}]), {ok, Port} = inet:port(Free), gen_udp:close(Free),
    io:format("~p~n", [stun_listener:add_listener({127, 0, 0, 1}, Port, udp, [])]),
    {ok, S} = gen_udp:open(0, [binary, {ip, {127, 0, 0, 1}}, {active, false}]),
    {ok, Own} = inet:port(S),
    ok = gen_udp:send(S, {127, 0, 0, 1}, Port, Request),
    {ok, {_, _, Answer}} = gen_udp:recv(S, 0, 5000),
    {ok, Decoded} = stun_codec:decode(Answer, datagram),
    io:format("~p~n", [[element(N, Decoded) || N <- [2, 3, 4, 5]]]),
    io:format("~p~n", [lists:member({{127, 0, 0, 1}, Own}, tuple_to_list(Decoded))]).
