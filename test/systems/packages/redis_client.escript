#!/usr/bin/env escript
%% packages: erlang-redis-client
%% Redis's protocol.
-module(redis_client_used).
-mode(compile).
main(_) ->
    State = eredis_parser:init(),
    io:format("~p~n", [eredis_parser:parse(State, <<"*2\r\n$3\r\nabc\r\n:42\r\n">>)]),
    {continue, More} = eredis_parser:parse(State, <<"$10\r\nabc">>),
    io:format("~p~n", [eredis_parser:parse(More, <<"defghij\r\n+OK\r\n">>)]),
    io:format("~p~n", [iolist_to_binary(eredis:create_multibulk(["SET", key, 1, <<"v">>]))]),
    process_flag(trap_exit, true),
    io:format("~p~n", [eredis:start_link("127.0.0.1", 1, 0, "", no_reconnect)]).
