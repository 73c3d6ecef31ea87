%% SPDX-License-Identifier: Apache-2.0
%% A process that asks for a connection while an earlier request of its own waits: what becomes of that. And
%% what sockets have of options, requests and flags.
%% with: connections
-module(accepts_again).
-export([main/0]).

main() ->
    again(nowait),
    again(50),
    again(0),
    late(),
    early(),
    named(),
    {Client, _} = connections:pair(),
    [io:format("~p: ~p~n", [Option, set(Client, Option)]) || Option <- [keepcnt, keepidle, keepintvl]],
    asked(connections:pair()).

again(How) ->
    {Listener, _} = connections:listener(),
    {select, {select_info, accept, First}} = socket:accept(Listener, nowait),
    Second = case socket:accept(Listener, How) of
        {select, {select_info, accept, Handle}} -> Handle;
        Answer -> Answer
    end,
    told(How, Listener, First, Second),
    ok = socket:close(Listener),
    told(closed, Listener, First, Second).

%% The connection comes while the second request waits.
late() ->
    {Listener, Address} = connections:listener(),
    {select, {select_info, accept, First}} = socket:accept(Listener, nowait),
    spawn_link(fun() ->
        waits(Listener, 1),
        connections:connected(Address),
        receive after infinity -> ok end
    end),
    {ok, _} = socket:accept(Listener, 10000),
    told(late, Listener, First, none).

%% It is there when the second request comes.
early() ->
    {Listener, Address} = connections:listener(),
    {select, {select_info, accept, First}} = socket:accept(Listener, nowait),
    connections:connected(Address),
    receive {'$socket', Listener, select, First} -> io:format("early: select~n") end,
    {ok, _} = socket:accept(Listener, 10000),
    told(early, Listener, First, none).

%% Returns when an accept has found its process waiting already.
waits(Listener, N) ->
    case socket:info(Listener) of
        #{counters := #{acc_waits := Waits}} when Waits >= N -> ok;
        _ -> erlang:yield(), waits(Listener, N)
    end.

told(What, Listener, First, Second) ->
    receive
        {'$socket', Listener, Tag, {Handle, Why}} ->
            io:format("~p: ~p of ~p, ~p~n", [What, Tag, which(Handle, First, Second), Why]),
            told(What, Listener, First, Second)
    after 0 -> ok
    end.

which(First, First, _) -> first;
which(Second, _, Second) -> second.

named() ->
    Names = fun(Supported, Known) -> [{Name, proplists:get_value(Name, Supported)} || Name <- Known] end,
    io:format("~p~n", [Names(socket:supports(options, socket),
        [bsp_state, exclusiveaddruse, max_msg_size, maxdg, timestampns, reuseaddr])]),
    io:format("~p~n", [Names(socket:supports(options, tcp),
        [keepcnt, keepidle, keepintvl, user_timeout, nodelay, md5sig])]),
    io:format("~p~n", [[{Kind, Names(socket:supports(Kind), [atmark, nread, gifaddr, private, dhcprunning, up,
        notification, peek])} || Kind <- [ioctl_requests, ioctl_flags, msg_flags]]]).

set(Socket, Option) ->
    [socket:setopt(Socket, {tcp, Option}, 7), socket:getopt(Socket, {tcp, Option}),
        socket:setopt(Socket, {tcp, Option}, -1), socket:setopt(Socket, {tcp, Option}, true)].

%% What has arrived and has not been read.
asked({Client, Server}) ->
    io:format("~p~n", [[socket:ioctl(Server, What) || What <- [nread, atmark]]]),
    ok = socket:send(Client, "hello"),
    connections:arrived(Server, 5),
    io:format("~p~n", [[socket:ioctl(Server, What) || What <- [nread, atmark]]]),
    {ok, Datagrams} = socket:open(inet, dgram, udp),
    io:format("~p~n", [[socket:ioctl(Datagrams, What) || What <- [nread, atmark]]]).
