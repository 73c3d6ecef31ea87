%% SPDX-License-Identifier: Apache-2.0
%% Requests to the drivers tcp_inet and udp_inet, one function each. Nothing is looked up here: hosts are
%% addresses, ports are numbers. What takes time is answered by a message to the caller,
%% {inet_async, Socket, Number, Result}; a function without `async` in its name waits for it.
%%
%% The functions are those that OTP's module of this name has (without those of SCTP), so that each may be
%% put in the other's place.
-module(prim_inet).

-export([open/3, open/4, fdopen/4, fdopen/5, close/1, bind/3, listen/1, listen/2, shutdown/2]).
-export([connect/3, connect/4, async_connect/4, accept/1, accept/2, accept/3, async_accept/2]).
-export([send/2, send/3, sendto/4, sendfile/4]).
-export([recv/2, recv/3, async_recv/3, unrecv/2, recvfrom/2, recvfrom/3]).
-export([setopt/3, setopts/2, getopt/2, getopts/2, chgopt/3, chgopts/2, is_sockopt_val/2]).
-export([getstat/2, getfd/1, ignorefd/2, getindex/1, getstatus/1, gettype/1]).
-export([getifaddrs/1, getiflist/1, ifget/3, ifset/3, gethostname/1, getservbyname/3, getservbyport/3]).
-export([peername/1, setpeername/2, peernames/1, peernames/2]).
-export([sockname/1, setsockname/2, socknames/1, socknames/2]).
-export([attach/1, detach/1]).

%% Requests are control numbers above this one.
-define(BASE, 16#03f1a300).
-define(OPEN, 1).
-define(CONNECT, 3).
-define(PEER, 4).
-define(NAME, 5).
-define(BIND, 6).
-define(SETOPTS, 7).
-define(GETOPTS, 8).
-define(GETSTAT, 11).
-define(GETHOSTNAME, 12).
-define(FDOPEN, 13).
-define(GETFD, 14).
-define(GETTYPE, 15).
-define(GETSTATUS, 16).
-define(GETSERVBYNAME, 17).
-define(GETSERVBYPORT, 18).
-define(SETNAME, 19).
-define(SETPEER, 20).
-define(GETIFLIST, 21).
-define(IFGET, 22).
-define(IFSET, 23).
-define(SUBSCRIBE, 24).
-define(GETIFADDRS, 25).
-define(ACCEPT, 26).
-define(LISTEN, 27).
-define(IGNOREFD, 28).
-define(GETLADDRS, 29).
-define(GETPADDRS, 30).
-define(TCP_RECV, 42).
-define(TCP_UNRECV, 43).
-define(TCP_SHUTDOWN, 44).
-define(TCP_SENDFILE, 45).
-define(PACKET_RECV, 60).

%% What an answer begins with
-define(ERROR, 0).
-define(OK, 1).

-define(SUBSCRIBE_EMPTY_OUT_Q, 1).

-define(DEFAULT_BACKLOG, 5).
-define(LOOK_MS, 5000).     % how long a socket may be silent before it is looked at
-define(CLOSE_MS, 180000).  % how long close/1 waits for output that does move
-define(MAX_INT64, 16#7fffffffffffffff).

control(S, Request, Arguments) ->
    try erlang:port_control(S, ?BASE + Request, Arguments) of
        [?OK | Answer] -> {ok, Answer};
        [?ERROR | Reason] -> {error, list_to_atom(Reason)}
    catch
        error:_ -> {error, einval}
    end.

%% The same, when the arguments may turn out to be none.
encoded(S, Request, Encode) ->
    try Encode() of
        Arguments -> control(S, Request, Arguments)
    catch
        throw:einval -> {error, einval}
    end.

answered_ok({ok, _}) -> ok;
answered_ok(Error) -> Error.

decoded({ok, Answer}, Decode) -> {ok, Decode(Answer)};
decoded(Error, _) -> Error.

%% Opening and closing

open(Protocol, Family, Type) -> open(Protocol, Family, Type, []).

open(Protocol, Family, Type, Options) -> open(Protocol, Family, Type, Options, ?OPEN, []).

fdopen(Protocol, Family, Type, Fd) -> fdopen(Protocol, Family, Type, Fd, true).

fdopen(Protocol, Family, Type, Fd, Bound) when is_integer(Fd), is_boolean(Bound) ->
    open(Protocol, Family, Type, [], ?FDOPEN, <<Fd:32, (if Bound -> 1; true -> 0 end):32>>).

open(Protocol, Family, Type, Options, Request, Arguments) ->
    Head = [inet_codec:family_number(Family), type_number(Type)],
    try erlang:open_port({spawn_driver, driver(Protocol)}, [binary]) of
        S ->
            case setopts(S, Options) of
                ok -> opened(S, control(S, Request, [Head | Arguments]));
                Error -> opened(S, Error)
            end
    catch
        error:badarg -> {error, eprotonosupport};
        error:system_limit -> {error, system_limit}
    end.

opened(S, {ok, _}) -> {ok, S};
opened(S, Error) ->
    close(S),
    Error.

driver(tcp) -> "tcp_inet";
driver(udp) -> "udp_inet";
driver(sctp) -> "sctp_inet".

type_number(stream) -> 1;
type_number(dgram) -> 2;
type_number(seqpacket) -> 3.

%% Output that waits in the driver has time to go out: as much as `linger` says, else as long as it
%% moves.
close(S) when is_port(S) ->
    case getopt(S, linger) of
        {ok, {true, 0}} -> close_port(S);
        {ok, {true, Seconds}} ->
            case queued(S) of
                0 -> close_port(S);
                _ -> close_when_empty(S, Seconds * 1000, unknown)
            end;
        _ ->
            case queued(S) of
                N when is_integer(N) -> close_when_empty(S, ?CLOSE_MS, N);
                unknown -> close_port(S)
            end
    end.

%% How many bytes wait for being sent; if there are any, {empty_out_q, S} comes when they are gone.
queued(S) ->
    case control(S, ?SUBSCRIBE, [?SUBSCRIBE_EMPTY_OUT_Q]) of
        {ok, [?SUBSCRIBE_EMPTY_OUT_Q | Number]} -> binary:decode_unsigned(list_to_binary(Number));
        _ -> unknown
    end.

close_when_empty(S, _, 0) -> close_port(S);
close_when_empty(S, Ms, Queued) ->
    Timer = erlang:start_timer(Ms, self(), close),
    await_empty(S, Timer, Queued),
    _ = erlang:cancel_timer(Timer),
    receive {timeout, Timer, _} -> ok after 0 -> ok end,
    close_port(S).

await_empty(S, Timer, Queued) ->
    receive
        {timeout, Timer, _} -> ok;
        {empty_out_q, S} -> ok
    after ?LOOK_MS ->
        case getstat(S, [send_pend]) of
            {ok, [{send_pend, N}]} when N =/= 0, N =/= Queued -> await_empty(S, Timer, N);
            {ok, [{send_pend, N}]} when N =/= 0, Queued =:= unknown -> await_empty(S, Timer, Queued);
            _ -> ok
        end
    end.

close_port(S) ->
    try erlang:port_close(S) catch error:badarg -> true end,
    receive {'EXIT', S, _} -> ok after 0 -> ok end.

bind(S, Address, _) when is_port(S), is_map(Address) orelse tuple_size(Address) =:= 2 ->
    decoded(encoded(S, ?BIND, fun() -> inet_codec:encode_address(Address) end), fun port_number/1);
bind(S, How, _) when is_port(S), How =:= add orelse How =:= remove -> {error, einval};
bind(S, Ip, Port) -> bind(S, {Ip, Port}, 0).

port_number([P1, P0]) -> P1 bsl 8 + P0.

listen(S) -> listen(S, ?DEFAULT_BACKLOG).

listen(S, true) -> listen(S, ?DEFAULT_BACKLOG);
listen(S, false) -> listen(S, 0);
listen(S, Backlog) when is_port(S), is_integer(Backlog) -> answered_ok(control(S, ?LISTEN, <<Backlog:16>>)).

shutdown(S, How) when is_port(S) -> answered_ok(control(S, ?TCP_SHUTDOWN, [side(How)])).

side(read) -> 0;
side(write) -> 1;
side(read_write) -> 2.

%% Connecting and accepting

connect(S, Address, Time) when is_map(Address) -> connect(S, Address, 0, Time);
connect(S, Ip, Port) -> connect(S, Ip, Port, infinity).

connect(S, Address, Port, Time) ->
    case async_connect(S, Address, Port, Time) of
        {ok, S, Number} -> receive {inet_async, S, Number, Result} -> Result end;
        Error -> Error
    end.

async_connect(S, Address, _, Time) when is_port(S), is_map(Address) orelse tuple_size(Address) =:= 2 ->
    Arguments = fun() -> [time(Time) | inet_codec:encode_address(Address)] end,
    case encoded(S, ?CONNECT, Arguments) of
        {ok, [N1, N0]} -> {ok, S, N1 bsl 8 + N0};
        Error -> Error
    end;
async_connect(S, Ip, Port, Time) -> async_connect(S, {Ip, Port}, 0, Time).

time(infinity) -> <<-1:32>>;
time(Ms) when is_integer(Ms), Ms < 0 -> <<-1:32>>;
time(Ms) when is_integer(Ms) -> <<Ms:32>>.

accept(L) -> accept(L, infinity, []).

accept(L, Options) when is_list(Options) -> accept(L, infinity, Options);
accept(L, Time) -> accept(L, Time, []).

accept(L, Time, Options) when is_port(L), is_list(Options) -> accept0(L, Time, Options).

%% A socket begins with options of the one that listened, those named among them. (The name is
%% OTP's: it is what one looks for in the stack of a process that waits.)
accept0(L, Time, Options) ->
    case async_accept(L, Time) of
        {ok, Number} ->
            receive
                {inet_async, L, Number, {ok, S}} ->
                    inherit(L, S, [active, nodelay, keepalive, delay_send, priority, linger | Options]);
                {inet_async, L, Number, Error} -> Error
            end;
        Error -> Error
    end.

inherit(L, S, Names) ->
    Copied =
        case getopts(L, Names) of
            {ok, Options} -> setopts(S, Options);
            Error -> Error
        end,
    case Copied of
        ok -> {ok, S};
        _ ->
            close(S),
            Copied
    end.

async_accept(L, Time) -> decoded(control(L, ?ACCEPT, time(Time)), fun port_number/1).

%% Data

send(S, Data) -> send(S, Data, []).

send(S, Data, Options) when is_port(S), is_list(Options) ->
    try erlang:port_command(S, Data, Options) of
        true -> await_sent(S);
        false -> {error, busy}
    catch
        error:_ -> {error, einval}
    end.

%% A socket that somebody else closes may leave without an answer.
await_sent(S) ->
    receive {inet_reply, S, Result} -> Result
    after ?LOOK_MS ->
        Monitor = erlang:monitor(port, S),
        receive
            {inet_reply, S, Result} ->
                erlang:demonitor(Monitor, [flush]),
                Result;
            {'DOWN', Monitor, _, _, _} -> {error, closed}
        end
    end.

%% One datagram; Ancillary are options for it only.
sendto(S, Address, Ancillary, Data)
  when is_port(S), is_list(Ancillary), is_map(Address) orelse tuple_size(Address) =:= 2 ->
    try
        Options = iolist_to_binary(inet_codec:set_options(Ancillary)),
        Head = [inet_codec:encode_address(Address), <<(byte_size(Options)):32>>, Options],
        erlang:port_command(S, [Head | Data])
    of
        true -> receive {inet_reply, S, Result} -> Result end
    catch
        _:_ -> {error, einval}
    end;
sendto(S, Ip, Port, Data) when is_port(S), is_integer(Port) -> sendto(S, {Ip, Port}, [], Data).

%% Length 0: to the end of the file.
sendfile(S, Handle, Offset, Length)
  when is_port(S), is_binary(Handle), is_integer(Offset), is_integer(Length) ->
    Self = self(),
    case erlang:port_info(S, connected) of
        {connected, Self} when Offset < 0; Offset > ?MAX_INT64; Length < 0; Length > ?MAX_INT64 ->
            {error, einval};
        {connected, Self} ->
            Uncork = getopt(S, nopush) =:= {ok, false} andalso setopt(S, nopush, true) =:= ok,
            Most = if Length =:= 0 -> ?MAX_INT64; true -> Length end,
            Result = send_file(S, [Handle, <<Offset:64, Most:64>>]),
            _ = Uncork andalso setopt(S, nopush, false),
            Result;
        {connected, _} -> {error, not_owner};
        undefined -> {error, einval}
    end;
sendfile(_, _, _, _) -> {error, badarg}.

send_file(S, Arguments) ->
    case control(S, ?TCP_SENDFILE, Arguments) of
        {ok, _} ->
            receive
                {sendfile, S, {ok, Low, High}} -> {ok, High bsl 32 + Low};
                {sendfile, S, Error} -> Error;
                {'EXIT', S, _} -> receive {sendfile, S, _} -> {error, closed} end  % which always comes
            end;
        Error -> Error
    end.

recv(S, Length) -> recv(S, Length, infinity).

recv(S, Length, Time) when is_port(S), is_integer(Length), Length >= 0 -> recv0(S, Length, Time).

recv0(S, Length, Time) ->
    case async_recv(S, Length, Time) of
        {ok, Number} ->
            receive
                {inet_async, S, Number, Result} -> Result;
                {'EXIT', S, _} -> {error, closed}
            end;
        Error -> Error
    end.

async_recv(S, Length, Time) ->
    decoded(control(S, ?TCP_RECV, [time(Time) | <<Length:32>>]), fun port_number/1).

unrecv(S, Data) -> answered_ok(control(S, ?TCP_UNRECV, Data)).

recvfrom(S, Length) -> recvfrom(S, Length, infinity).

recvfrom(S, Length, Time)
  when is_port(S), is_integer(Length), Length >= 0, Length < 1 bsl 32,
       Time =:= infinity orelse is_integer(Time) andalso Time >= 0 andalso Time < 16#ffffffff ->
    case control(S, ?PACKET_RECV, [time(Time) | <<Length:32>>]) of
        {ok, Number} ->
            Request = port_number(Number),
            receive {inet_async, S, Request, Result} -> datagram(Result) end;
        Error -> Error
    end;
recvfrom(S, _, _) when is_port(S) -> {error, einval}.

datagram({ok, {Bytes, Ancillary}}) ->
    {Address, Data} = inet_codec:address(Bytes),
    {Host, Port} = host_and_port(Address),
    {ok, {Host, Port, Ancillary, Data}};
datagram({ok, Bytes}) ->
    {Address, Data} = inet_codec:address(Bytes),
    {Host, Port} = host_and_port(Address),
    {ok, {Host, Port, Data}};
datagram(Error) -> Error.

%% What is no IP address stands in its place, with port 0.
host_and_port({Family, _} = Address) when is_atom(Family) -> {Address, 0};
host_and_port(Address) -> Address.

%% Options

setopt(S, Name, Value) -> setopts(S, [{Name, Value}]).

setopts(S, Options) when is_port(S) ->
    answered_ok(encoded(S, ?SETOPTS, fun() -> inet_codec:set_options(Options) end)).

getopt(S, Name) when is_atom(Name) ->
    case getopts(S, [Name]) of
        {ok, [{_, Value}]} -> {ok, Value};
        {ok, []} -> {error, einval};
        Error -> Error
    end.

getopts(S, Names) when is_port(S), is_list(Names) ->
    decoded(encoded(S, ?GETOPTS, fun() -> inet_codec:get_options(Names) end), fun inet_codec:options/1).

%% As setopts/2, but that `undefined` leaves a value as it is.
chgopt(S, Name, Value) -> chgopts(S, [{Name, Value}]).

chgopts(S, Options) -> setopts(S, [O || O <- Options, not unchanged(O)]).

unchanged({_, Value}) -> Value =:= undefined;
unchanged(_) -> false.

is_sockopt_val(Name, Value) -> inet_codec:valid(Name, Value).

%% What a socket knows

getstat(S, Names) when is_port(S), is_list(Names) ->
    decoded(encoded(S, ?GETSTAT, fun() -> inet_codec:encode_counters(Names) end), fun inet_codec:counters/1).

getfd(S) when is_port(S) -> decoded(control(S, ?GETFD, []), fun number/1).

number(Bytes) -> binary:decode_unsigned(list_to_binary(Bytes)).

ignorefd(S, Ignored) when is_port(S), is_boolean(Ignored) ->
    answered_ok(control(S, ?IGNOREFD, [if Ignored -> 1; true -> 0 end])).

getindex(S) when is_port(S) -> {error, einval}.

getstatus(S) when is_port(S) -> decoded(control(S, ?GETSTATUS, []), fun inet_codec:status/1).

gettype(S) when is_port(S) ->
    decoded(control(S, ?GETTYPE, []),
            fun([_, _, _, Family, _, _, _, Type]) ->
                {element(Family + 1, {undefined, inet, inet6, undefined, undefined, undefined}),
                 element(Type + 1, {undefined, stream, dgram, seqpacket})}
            end).

peername(S) when is_port(S) -> name(S, ?PEER).

sockname(S) when is_port(S) -> name(S, ?NAME).

name(S, Request) -> decoded(control(S, Request, []), fun(Bytes) -> element(1, inet_codec:address(Bytes)) end).

setpeername(S, Address) when is_port(S) -> set_name(S, ?SETPEER, Address).

setsockname(S, Address) when is_port(S) -> set_name(S, ?SETNAME, Address).

set_name(S, Request, undefined) -> answered_ok(control(S, Request, []));
set_name(S, Request, Address) ->
    answered_ok(encoded(S, Request, fun() -> inet_codec:encode_address(Address) end)).

peernames(S) -> peernames(S, undefined).

peernames(S, Association) when is_port(S) -> names(S, ?GETPADDRS, Association).

socknames(S) -> socknames(S, undefined).

socknames(S, Association) when is_port(S) -> names(S, ?GETLADDRS, Association).

names(S, Request, undefined) -> names(S, Request, 0);
names(S, Request, Association) when is_integer(Association) ->
    decoded(control(S, Request, <<Association:32>>), fun inet_codec:addresses/1).

%% What the system knows, asked through any socket

getifaddrs(S) when is_port(S) -> decoded(control(S, ?GETIFADDRS, []), fun inet_codec:interfaces/1).

getiflist(S) when is_port(S) ->
    decoded(control(S, ?GETIFLIST, []), fun(Names) -> lists:usort(string:lexemes(Names, [0])) end).

ifget(S, Name, Options) ->
    decoded(encoded(S, ?IFGET, fun() -> [counted(Name) | inet_codec:interface_options(Options)] end),
            fun inet_codec:interface_values/1).

ifset(S, Name, Options) ->
    answered_ok(encoded(S, ?IFSET, fun() -> [counted(Name) | inet_codec:set_interface_options(Options)] end)).

%% A name with its length before it.
counted(Name) when is_atom(Name) -> counted(atom_to_list(Name));
counted(Name) when is_list(Name), length(Name) =< 255 -> [length(Name) | Name];
counted(_) -> throw(einval).

gethostname(S) when is_port(S) -> control(S, ?GETHOSTNAME, []).

getservbyname(S, Name, Protocol) when is_port(S) ->
    decoded(encoded(S, ?GETSERVBYNAME, fun() -> [counted(Name) | counted(Protocol)] end), fun port_number/1);
getservbyname(_, _, _) -> {error, einval}.

getservbyport(S, Port, Protocol) when is_port(S), is_integer(Port), Port >= 0, Port < 1 bsl 16 ->
    encoded(S, ?GETSERVBYPORT, fun() -> [<<Port:16>> | counted(Protocol)] end);
getservbyport(_, _, _) -> {error, einval}.

%% Owners

detach(S) when is_port(S) ->
    unlink(S),
    ok.

attach(S) when is_port(S) ->
    try erlang:port_connect(S, self()) of
        true ->
            link(S),
            ok
    catch
        error:Reason -> {error, Reason}
    end.
