%% SPDX-License-Identifier: Apache-2.0
%% since: 29
%% with: connections
%% The option {otp, select_read} of sockets: a read that has all its data awaits the next ones at once. And
%% {read_ahead, false} of gen_tcp: nothing behind a packet is read.
-module(reads_that_select).
-export([main/0]).

main() ->
    {C, S} = connections:pair(),
    show(socket:getopt(S, {otp, select_read})),
    show(socket:setopt(S, {otp, select_read}, 'maybe')),
    show(socket:setopt(S, {otp, select_read}, true)),
    show(socket:getopt(S, {otp, select_read})),
    ok = socket:send(C, <<"first">>),
    {ok, <<"fir">>} = socket:recv(S, 3),
    [stream(S, C, N) || N <- [0, 2]],
    ok = socket:setopt(S, {otp, select_read}, false),
    ok = socket:send(C, <<"last">>),
    show(socket:recv(S, 4, nowait)),
    datagrams(),
    packets().

%% What has come already is read with a handle, and the next data are announced.
stream(S, C, Length) ->
    {select_read, {{select_info, recv, Handle}, Data}} = socket:recv(S, Length, nowait),
    show(Data),
    ok = socket:send(C, <<"st">>),
    receive {'$socket', S, select, Handle} -> show(selected) end.

datagrams() ->
    [{ok, A}, {ok, B}] = [socket:open(inet, dgram, udp) || _ <- [1, 2]],
    [ok = socket:bind(Socket, #{family => inet, addr => loopback, port => 0}) || Socket <- [A, B]],
    {ok, To} = socket:sockname(A),
    ok = socket:setopt(A, {otp, select_read}, true),
    [begin
         {select, {select_info, _, First}} = Read(nowait),
         ok = socket:sendto(B, <<"datagram">>, To),
         receive {'$socket', A, select, First} -> ok end,
         {select_read, {{select_info, Name, Second}, Received}} = Read(nowait),
         show({Name, data(Received)}),
         ok = socket:sendto(B, <<"another">>, To),
         receive {'$socket', A, select, Second} -> show({Name, data(element(2, Read(0)))}) end
     end || Read <- [fun(How) -> socket:recvfrom(A, 0, How) end, fun(How) -> socket:recvmsg(A, How) end]].

data({_From, Data}) -> Data;
data(#{iov := Data}) -> Data.

packets() ->
    {ok, L} = gen_tcp:listen(0, [binary, {packet, 2}, {active, false}, {read_ahead, false}]),
    {ok, Port} = inet:port(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary]),
    {ok, S} = gen_tcp:accept(L),
    ok = gen_tcp:send(C, <<3:16, "abc", 1:16, "d">>),
    show([inet:getopts(S, [read_ahead]), gen_tcp:recv(S, 0), gen_tcp:recv(S, 0),
          inet:setopts(S, [{read_ahead, true}]), inet:getopts(S, [read_ahead])]).

show(Term) -> io:format("~0p~n", [Term]).
