%% SPDX-License-Identifier: Apache-2.0
%% The type of service: as an option, and in what comes with a datagram.
-module(types_of_service).
-export([main/0]).

main() ->
    {ok, A} = socket:open(inet, dgram, udp),
    ok = socket:bind(A, #{family => inet, addr => loopback, port => 0}),
    {ok, #{port := Port}} = socket:sockname(A),
    ok = socket:setopt(A, {ip, recvtos}, true),
    {ok, B} = socket:open(inet, dgram, udp),
    [show(Value, B) || Value <- [lowdelay, throughput, mincost, reliability, routine, default, cs0, af41,
        voice_admit, le, #{tos => lowdelay, precedence => routine}, #{tos => 5, precedence => 3},
        #{tos => lowdelay}, #{dscp => af41}, #{native => 5}, -1, 256, "x"]],
    [begin
        ok = socket:setopt_native(B, {ip, tos}, <<Byte:32/native>>),
        io:format("~w: ~w~n", [Byte, in_order(socket:getopt(B, {ip, tos}))]),
        ok = socket:sendto(B, <<"abc">>, #{family => inet, addr => loopback, port => Port}),
        {ok, #{ctrl := [Control]}} = socket:recvmsg(A, 0, 0, 5000),
        io:format("~w~n", [in_order(Control)])
    end || Byte <- lists:seq(0, 255)].

show(Value, S) ->
    Set = case socket:setopt(S, {ip, tos}, Value) of ok -> ok; {error, {invalid, _}} -> invalid end,
    io:format("~w: ~w ~w~n", [in_order(Value), Set, in_order(socket:getopt(S, {ip, tos}))]).

in_order({ok, Value}) -> {ok, in_order(Value)};
in_order(Map) when is_map(Map) -> [{K, in_order(V)} || {K, V} <- lists:sort(maps:to_list(Map))];
in_order(Value) -> Value.
