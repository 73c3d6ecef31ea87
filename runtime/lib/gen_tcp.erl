%% SPDX-License-Identifier: Apache-2.0
%% TCP: what programs call. The work is done by the module that the socket was opened with.
-module(gen_tcp).

-export([connect/2, connect/3, connect/4, listen/2, accept/1, accept/2, shutdown/2, close/1, fdopen/2]).
-export([send/2, recv/2, recv/3, unrecv/2, controlling_process/2]).

-include("socket_module.hrl").

connect(Address, Options) -> connect(Address, Options, infinity).

connect(Address, Options, Time) when is_map(Address) ->
    case inet:gen_tcp_module(Options) of
        {?MODULE, Others} ->
            timed(Time,
                  fun(Timer) ->
                          {Module, Rest} = inet:tcp_module(Others, Address),
                          Module:connect(inet:ensure_sockaddr(Address), Rest, inet:timeout(Timer))
                  end);
        {Other, Others} -> Other:connect(Address, Others, Time)
    end;
connect(Host, Port, Options) -> connect(Host, Port, Options, infinity).

connect(Host, Port, Options, Time) ->
    case inet:gen_tcp_module(Options) of
        {?MODULE, Others} -> timed(Time, fun(Timer) -> connect_any(Host, Port, Others, Timer) end);
        {Other, Others} -> Other:connect(Host, Port, Others, Time)
    end.

timed(Time, Connect) ->
    Timer = inet:start_timer(Time),
    try Connect(Timer) of
        {error, einval} -> exit(badarg);
        Result -> Result
    catch
        error:Reason:Stack -> exit({Reason, Stack})
    after
        inet:stop_timer(Timer)
    end.

connect_any(Host, Port, Options, Timer) ->
    {Module, Others} = inet:tcp_module(Options, Host),
    case Module:getaddrs(Host, Timer) of
        {ok, Addresses} ->
            case Module:getserv(Port) of
                {ok, Number} -> try_each(Addresses, Number, Others, Timer, Module, {error, einval});
                Error -> Error
            end;
        Error -> Error
    end.

try_each([Address | T], Port, Options, Timer, Module, _) ->
    case Module:connect(Address, Port, Options, inet:timeout(Timer)) of
        {error, Reason} = Error when Reason =/= einval, Reason =/= timeout ->
            try_each(T, Port, Options, Timer, Module, Error);
        Result -> Result
    end;
try_each([], _, _, _, _, Error) -> Error.

listen(Port, Options) ->
    case inet:gen_tcp_module(Options) of
        {?MODULE, Others} ->
            {Module, Rest} = inet:tcp_module(Others),
            case Module:getserv(Port) of
                {ok, Number} -> Module:listen(Number, Rest);
                {error, einval} -> exit(badarg);
                Error -> Error
            end;
        {Other, Others} -> Other:listen(Port, Others)
    end.

accept(L) -> accept(L, infinity).

accept(?ELSEWHERE(Module) = L, Time) -> Module:accept(L, Time);
accept(L, Time) when is_port(L) -> ?BY_MODULE(L, accept(L, Time)).

shutdown(?ELSEWHERE(Module) = S, How) -> Module:shutdown(S, How);
shutdown(S, How) when is_port(S) -> ?BY_MODULE(S, shutdown(S, How)).

close(?ELSEWHERE(Module) = S) -> Module:close(S);
close(S) -> inet:tcp_close(S).

send(?ELSEWHERE(Module) = S, Data) -> Module:send(S, Data);
send(S, Data) when is_port(S) -> ?BY_MODULE(S, send(S, Data)).

recv(S, Length) -> recv(S, Length, infinity).

recv(?ELSEWHERE(Module) = S, Length, Time) -> Module:recv(S, Length, Time);
recv(S, Length, Time) when is_port(S) -> ?BY_MODULE(S, recv(S, Length, Time)).

unrecv(?ELSEWHERE(Module) = S, Data) -> Module:unrecv(S, Data);
unrecv(S, Data) when is_port(S) -> ?BY_MODULE(S, unrecv(S, Data)).

controlling_process(?ELSEWHERE(Module) = S, Owner) -> Module:controlling_process(S, Owner);
controlling_process(S, Owner) ->
    case inet_open:module_of(S) of
        {ok, _} -> inet:tcp_controlling_process(S, Owner);
        Error -> Error
    end.

fdopen(Fd, Options) ->
    case inet:gen_tcp_module(Options) of
        {?MODULE, Others} ->
            {Module, Rest} = inet:tcp_module(Others),
            Module:fdopen(Fd, Rest);
        {Other, Others} -> Other:fdopen(Fd, Others)
    end.
