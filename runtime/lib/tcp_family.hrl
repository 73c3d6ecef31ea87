%% SPDX-License-Identifier: Apache-2.0
%% The functions of a module for stream sockets of one family, FAMILY, which is all the module says itself:
%% what gen_tcp calls, and what Erlang distribution does.

%% The name stands in stack traces: without it, the folder of the build would.
-file("tcp_family.hrl", 7).
-export([connect/3, connect/4, listen/2, accept/1, accept/2, close/1, shutdown/2, fdopen/2]).
-export([send/2, send/3, recv/2, recv/3, unrecv/2, controlling_process/2]).
-export([family/0, mask/2, parse_address/1, getserv/1, getaddr/1, getaddr/2, getaddrs/1, getaddrs/2,
         translate_ip/1]).

connect(Address, Options, Time) when is_map(Address) ->
    inet_stream:connect(?MODULE, ?FAMILY, Address, Options, Time);
connect(Address, Port, Options) -> connect(Address, Port, Options, infinity).

connect(Address, Port, Options, Time) ->
    inet_stream:connect(?MODULE, ?FAMILY, inet_open:address(Address, Port), Options, Time).

listen(Port, Options) -> inet_stream:listen(?MODULE, ?FAMILY, Port, Options).

accept(L) -> accept(L, infinity).

accept(L, Time) -> inet_stream:accept(?MODULE, ?FAMILY, L, Time).

close(S) -> inet:tcp_close(S).

shutdown(S, How) -> prim_inet:shutdown(S, How).

fdopen(Fd, Options) -> inet_open:fdopen(?MODULE, tcp, ?FAMILY, Fd, Options).

send(S, Data) -> prim_inet:send(S, Data, []).

send(S, Data, Options) -> prim_inet:send(S, Data, Options).

recv(S, Length) -> prim_inet:recv(S, Length, infinity).

recv(S, Length, Time) -> prim_inet:recv(S, Length, Time).

unrecv(S, Data) -> prim_inet:unrecv(S, Data).

controlling_process(S, Owner) -> inet:tcp_controlling_process(S, Owner).

family() -> ?FAMILY.

mask(Mask, Ip) -> inet_stream:mask(Mask, Ip).

getserv(Port) -> inet_open:getserv(Port, tcp).

parse_address(Text) -> inet_text:strict_address(Text, ?FAMILY).

getaddr(Host) -> getaddr(Host, false).

getaddr(Host, Timer) -> inet_open:getaddr(Host, ?FAMILY, Timer).

getaddrs(Host) -> getaddrs(Host, false).

getaddrs(Host, Timer) -> inet_open:getaddrs(Host, ?FAMILY, Timer).

translate_ip(Ip) -> inet_open:translate_ip(Ip, ?FAMILY).
