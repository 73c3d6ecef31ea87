%% SPDX-License-Identifier: Apache-2.0
%% UDP: what programs call. The work is done by the module that the socket was opened with.
-module(gen_udp).

-export([open/1, open/2, close/1, connect/2, connect/3, controlling_process/2, fdopen/2]).
-export([send/2, send/3, send/4, send/5, recv/2, recv/3]).

-include("socket_module.hrl").

open(Port) -> open(Port, []).

open(Port, Options) ->
    case inet:gen_udp_module(Options) of
        {?MODULE, Others} ->
            {Module, Rest} = inet:udp_module(Others),
            {ok, Number} = Module:getserv(Port),
            Module:open(Number, Rest);
        {Other, Others} -> Other:open(Port, Others)
    end.

close(?ELSEWHERE(Module) = S) -> Module:close(S);
close(S) -> inet:udp_close(S).

%% To where the socket is connected.
send(?ELSEWHERE(Module) = S, Data) -> Module:send(S, Data);
send(S, Data) when is_port(S) -> ?BY_MODULE(S, send(S, Data)).

send(?ELSEWHERE(Module) = S, To, Data) -> Module:send(S, To, Data);
send(S, To, Data) -> send(S, To, [], Data).

%% To an address, with options for this datagram or port 0; or to a host and port.
send(?ELSEWHERE(Module) = S, To, PortOrOptions, Data) -> Module:send(S, To, PortOrOptions, Data);
send(S, #{family := Family} = To, Options, Data)
  when is_port(S), is_list(Options), Family =:= inet orelse Family =:= inet6 ->
    send_to(S, inet:ensure_sockaddr(To), Options, Data);
send(S, {_, _} = To, Options, Data) when is_port(S), is_list(Options) -> send_to(S, To, Options, Data);
send(S, {_, _} = To, 0, Data) when is_port(S) -> send_to(S, To, [], Data);
send(S, {_, _}, Port, _) when is_port(S), is_integer(Port) -> {error, einval};
send(S, Host, Port, Data) when is_port(S) -> send(S, Host, Port, [], Data).

send_to(S, To, Options, Data) -> ?BY_MODULE(S, send(S, To, Options, Data)).

send(?ELSEWHERE(Module) = S, Host, Port, Options, Data) -> Module:send(S, Host, Port, Options, Data);
send(S, Host, Port, Options, Data) when is_port(S), is_list(Options) ->
    case inet_open:module_of(S) of
        {ok, Module} ->
            try {resolved(Module:getaddr(Host)), resolved(Module:getserv(Port))} of
                {Ip, Number} -> Module:send(S, inet_open:address(Ip, Number), Options, Data)
            catch
                throw:{error, einval} -> exit(badarg);
                throw:Error -> Error
            end;
        Error -> Error
    end.

resolved({ok, Found}) -> Found;
resolved(Error) -> throw(Error).

recv(S, Length) -> recv(S, Length, infinity).

recv(?ELSEWHERE(Module) = S, Length, Time) -> Module:recv(S, Length, Time);
recv(S, Length, Time) when is_port(S) -> ?BY_MODULE(S, recv(S, Length, Time)).

connect(S, Address) when is_port(S), is_map(Address) ->
    ?BY_MODULE(S, connect(S, inet:ensure_sockaddr(Address))).

connect(?ELSEWHERE(Module) = S, Host, Port) -> Module:connect(S, Host, Port);
connect(S, Host, Port) when is_port(S) ->
    case inet_open:module_of(S) of
        {ok, Module} ->
            case Module:getaddr(Host) of
                {ok, Ip} -> Module:connect(S, Ip, Port);
                Error -> Error
            end;
        Error -> Error
    end.

controlling_process(?ELSEWHERE(Module) = S, Owner) -> Module:controlling_process(S, Owner);
controlling_process(S, Owner) -> inet:udp_controlling_process(S, Owner).

fdopen(Fd, Options) ->
    {Module, Others} = inet:udp_module(Options),
    Module:fdopen(Fd, Others).
