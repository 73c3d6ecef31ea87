%% SPDX-License-Identifier: Apache-2.0
%% Datagram sockets: what inet_udp, inet6_udp and local_udp have in common.
-module(inet_datagram).

-export([open/4, fdopen/4, send/3]).

open(Module, Family, Port, Options) ->
    Bind = if Family =:= local -> asked; true -> always end,
    case inet_open:config(udp, Family, [{port, Port} | defaults(Family)] ++ Options) of
        {ok, Config} -> inet_open:open(Module, udp, Family, Bind, Config);
        error -> exit(badarg)
    end.

fdopen(Module, Family, Fd, Options) ->
    inet_open:fdopen(Module, udp, Family, Fd, Options ++ defaults(Family)).

%% As in OTP, over IPv4 only.
defaults(inet) -> [{recbuf, 8192}];
defaults(_) -> [].

%% To where the socket is connected.
send(S, local, Data) -> prim_inet:sendto(S, {local, <<>>}, [], Data);
send(S, _, Data) -> prim_inet:sendto(S, {any, 0}, [], Data).
