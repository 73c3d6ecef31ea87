%% SPDX-License-Identifier: Apache-2.0
%% A read of a stream that gets less than it asked for, in time or at all: what becomes of the part.
%% with: connections
-module(parts_of_streams).
-export([main/0]).

main() ->
    {Client, Server} = connections:pair(),
    Send = fun(Data) -> ok = socket:send(Client, Data), connections:arrived(Server, byte_size(Data)) end,
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

show({select, {select_info, _, _}}) -> io:format("select~n");
show({select, {{select_info, _, _}, Data}}) -> io:format("select ~p~n", [Data]);
show(Answer) -> io:format("~p~n", [Answer]).
