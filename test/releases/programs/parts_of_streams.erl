%% SPDX-License-Identifier: Apache-2.0
%% A read of a stream that gets less than it asked for, in time or at all: what becomes of the part.
-module(parts_of_streams).
-export([main/0]).

main() ->
    {Client, Server} = pair(),
    Send = fun(Data) -> ok = socket:send(Client, Data), arrived(Server, byte_size(Data)) end,
    Send(<<"0123456789">>),
    show(socket:recv(Server, 20, 200)),
    show(socket:recv(Server, 0, 200)),
    Send(<<"abc">>),
    show(socket:recv(Server, 20, nowait)),
    show(socket:recv(Server, 0, 200)),
    Send(<<"def">>),
    show(socket:recv(Server, 20, [], 0)),
    show(socket:recv(Server, 0, 200)),
    Send(<<"ghijkl">>),
    show(socket:recv(Server, 20, 200)),
    show(socket:recv(Server, 2, 200)),
    show(socket:recv(Server, 4, 200)),
    Send(<<"mno">>),
    Me = self(),
    spawn_link(fun() -> Me ! {read, socket:recv(Server, 6, 5000)} end),
    ok = socket:send(Client, <<"pqr">>),
    receive {read, All} -> show(All) end,
    Send(<<"stu">>),
    show(socket:recv(Server, 20, 200)),
    ok = socket:close(Client),
    show(socket:recv(Server, 20, 5000)),
    show(socket:recv(Server, 0, 5000)).

pair() ->
    {ok, Listener} = socket:open(inet, stream, tcp),
    ok = socket:bind(Listener, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(Listener),
    {ok, Address} = socket:sockname(Listener),
    {ok, Client} = socket:open(inet, stream, tcp),
    ok = socket:connect(Client, Address),
    {ok, Server} = socket:accept(Listener),
    {Client, Server}.

%% Returns when so many bytes can be read.
arrived(Socket, Bytes) ->
    case socket:recv(Socket, 0, [peek], 5000) of
        {ok, Data} when byte_size(Data) >= Bytes -> ok;
        _ -> arrived(Socket, Bytes)
    end.

show({select, {select_info, _, _}}) -> io:format("select~n");
show({select, {{select_info, _, _}, Data}}) -> io:format("select ~p~n", [Data]);
show(Answer) -> io:format("~p~n", [Answer]).
