%% SPDX-License-Identifier: Apache-2.0
%% Sockets on the loopback interface, connected with each other.
-module(connections).
-export([listener/0, connected/1, pair/0, arrived/2]).

listener() ->
    {ok, Listener} = socket:open(inet, stream, tcp),
    ok = socket:bind(Listener, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(Listener),
    {ok, Address} = socket:sockname(Listener),
    {Listener, Address}.

connected(Address) ->
    {ok, Client} = socket:open(inet, stream, tcp),
    ok = socket:connect(Client, Address),
    Client.

%% {Client, Server}
pair() ->
    {Listener, Address} = listener(),
    Client = connected(Address),
    {ok, Server} = socket:accept(Listener),
    {Client, Server}.

%% Returns when so many bytes can be read.
arrived(Socket, Bytes) ->
    case socket:recv(Socket, 0, [peek], 5000) of
        {ok, Data} when byte_size(Data) >= Bytes -> ok;
        _ -> arrived(Socket, Bytes)
    end.
