%% SPDX-License-Identifier: Apache-2.0
%% What comes with a message: times to the nanosecond, and the flow of IPv6.
-module(kinds_of_control).
-export([main/0]).

main() ->
    show(timestampns, inet, #{family => inet, addr => loopback, port => 0}, {socket, timestampns}, 35),
    show(timestamp, inet, #{family => inet, addr => loopback, port => 0}, {socket, timestamp}, 29),
    show(flowinfo, inet6, #{family => inet6, addr => loopback, port => 0}, {ipv6, flowinfo}, 11).

%% Both by the option's name, where it has one, and by its number.
show(What, Domain, Address, {Level, Name}, Number) ->
    Option = case Level of socket -> {socket, Number}; ipv6 -> {41, Number} end,
    [begin
         {ok, To} = socket:open(Domain, dgram, udp),
         {ok, From} = socket:open(Domain, dgram, udp),
         ok = socket:bind(To, Address),
         Set = case O of
             {Level, Name} -> try socket:setopt(To, O, true) catch error:E -> E end;
             _ -> socket:setopt_native(To, O, <<1:32/native>>)
         end,
         {ok, Bound} = socket:sockname(To),
         Target = case Domain of inet6 -> Bound#{flowinfo => 16#12345000}; inet -> Bound end,
         ok = socket:sendto(From, <<"x">>, Target),
         {ok, #{ctrl := Control}} = socket:recvmsg(To, [], 5000),
         io:format("~p ~p ~p~n", [What, Set, [described(C) || C <- Control]]),
         socket:close(To),
         socket:close(From)
     end || O <- [{Level, Name}, Option]].

described(#{value := #{sec := S} = V, data := D} = C) when is_integer(S) ->
    lists:sort(maps:to_list(C#{value := lists:sort(maps:keys(V)), data := byte_size(D)}));
described(#{type := flowinfo, value := Flow, data := <<Flow:32/signed-native>>}) -> its_number;
described(#{data := D} = C) -> lists:sort(maps:to_list(C#{data := byte_size(D)})).
