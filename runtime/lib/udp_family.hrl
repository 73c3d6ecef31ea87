%% SPDX-License-Identifier: Apache-2.0
%% The functions of a module for datagram sockets of one family, FAMILY, which is all the module says itself:
%% what gen_udp calls.

%% The name stands in stack traces: without it, the folder of the build would.
-file("udp_family.hrl", 7).
-export([open/1, open/2, close/1, connect/2, connect/3, send/2, send/4, recv/2, recv/3]).
-export([family/0, controlling_process/2, fdopen/2, getserv/1, getaddr/1, getaddr/2, translate_ip/1]).

family() -> ?FAMILY.

open(Port) -> open(Port, []).

open(Port, Options) -> inet_datagram:open(?MODULE, ?FAMILY, Port, Options).

close(S) -> inet:udp_close(S).

connect(S, Address) -> prim_inet:connect(S, Address, infinity).

connect(S, Host, Port) -> prim_inet:connect(S, inet_open:address(Host, Port), 0, infinity).

send(S, Data) -> inet_datagram:send(S, ?FAMILY, Data).

send(S, Address, Ancillary, Data) -> prim_inet:sendto(S, Address, Ancillary, Data).

recv(S, Length) -> prim_inet:recvfrom(S, Length, infinity).

recv(S, Length, Time) -> prim_inet:recvfrom(S, Length, Time).

controlling_process(S, Owner) -> inet:udp_controlling_process(S, Owner).

fdopen(Fd, Options) -> inet_datagram:fdopen(?MODULE, ?FAMILY, Fd, Options).

getserv(Port) -> inet_open:getserv(Port, udp).

getaddr(Host) -> getaddr(Host, false).

getaddr(Host, Timer) -> inet_open:getaddr(Host, ?FAMILY, Timer).

translate_ip(Ip) -> inet_open:translate_ip(Ip, ?FAMILY).
