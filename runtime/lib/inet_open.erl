%% SPDX-License-Identifier: Apache-2.0
%% From the options of gen_tcp and gen_udp to an open socket: which module is meant, what concerns the
%% opening, what is an option of the socket itself. A socket's module is the data of its port.
-module(inet_open).

-export([module/4, config/3, open/5, fdopen/5, set_module/2, module_of/1]).
-export([address/2, getserv/2, getaddrs/3, getaddr/3, translate_ip/2, path_bytes/1]).

%% Options that sockets of a kind can be opened with
-define(COMMON,
        [debug, tos, tclass, priority, reuseaddr, sndbuf, recbuf, recvtos, recvtclass, ttl, recvttl, header,
         active, buffer, mode, deliver, high_msgq_watermark, low_msgq_watermark, raw, bind_to_device]).
-define(STREAM,
        [keepalive, linger, nodelay, packet, packet_size, exit_on_close, high_watermark, low_watermark,
         send_timeout, send_timeout_close, delay_send, show_econnreset, read_ahead]).
-define(DATAGRAM,
        [ipv6_v6only, broadcast, dontroute, multicast_if, multicast_ttl, multicast_loop, add_membership,
         drop_membership, read_packets]).

allowed(connect) -> [line_delimiter | ?STREAM ++ ?COMMON];
allowed(listen) -> [ipv6_v6only | ?STREAM ++ ?COMMON];
allowed(udp) -> ?DATAGRAM ++ ?COMMON.

%% What several values for one option are good for: each has its effect.
-define(KEEPS_ALL(Name), Name =:= raw; Name =:= add_membership; Name =:= drop_membership).

%% The module that options name, by Tag or by family, else the one for the address; the other options.
%% Modules has one for each family.
module(Options, Tag, Address, Modules) -> module(Options, Tag, Address, Modules, none, []).

module([{Tag, Module} | T], Tag, Address, Modules, none, Others) ->
    module(T, Tag, Address, Modules, Module, Others);
module([{Tag, _} | T], Tag, Address, Modules, Module, Others) ->
    module(T, Tag, Address, Modules, Module, Others);
module([{Name, Ip} = O | T], Tag, _, Modules, Module, Others) when Name =:= ip; Name =:= ifaddr ->
    module(T, Tag, Ip, Modules, Module, [O | Others]);
module([Family | T], Tag, Address, Modules, Module, Others) when is_map_key(Family, Modules) ->
    Named = if Module =:= none -> map_get(Family, Modules); true -> Module end,
    module(T, Tag, Address, Modules, Named, Others);
module([O | T], Tag, Address, Modules, Module, Others) ->
    module(T, Tag, Address, Modules, Module, [O | Others]);
module([], _, Address, Modules, none, Others) ->
    {map_get(family(Address), Modules), lists:reverse(Others)};
module([], _, _, _, Module, Others) -> {Module, lists:reverse(Others)}.

family({local, _}) -> local;
family(#{family := inet6}) -> inet6;
family(Ip) when tuple_size(Ip) =:= 8 -> inet6;
family(_) -> inet.

%% What a socket of this kind (connect, listen or udp) is opened with, or error.
%%   fd: a descriptor that is open already, or -1    first: options that count while it is opened
%%   ifaddr, port: what it is bound to               options: the others
config(Kind, Family, Options) ->
    Empty = #{fd => -1, ifaddr => undefined, port => 0, backlog => 5, first => [], options => []},
    All = [{active, true} | defaults(Kind) ++ Options],
    try lists:foldl(fun(O, Config) -> take(O, Kind, Config) end, Empty, All) of
        #{ifaddr := Given, options := Taken} = Config ->
            Address = translate_ip(Given, Family),
            case bindable(Address, maps:get(port, Config), Family) of
                true -> {ok, Config#{ifaddr := Address, options := lists:reverse(Taken)}};
                false -> error
            end
    catch
        throw:badarg -> error
    end.

%% What -kernel says; whether a socket is active is up to the program.
defaults(connect) -> configured(inet_default_connect_options);
defaults(listen) -> configured(inet_default_listen_options);
defaults(udp) -> [].

configured(Key) ->
    case kernel_options:get(Key, []) of
        Options when is_list(Options) -> lists:keydelete(active, 1, Options);
        {active, _} -> [];
        Option -> [Option]
    end.

take({raw, Protocol, Number, Value}, Kind, Config) -> take({raw, {Protocol, Number, Value}}, Kind, Config);
take({ifaddr, Address}, _, Config) -> Config#{ifaddr := Address};
take({ip, Ip}, _, #{ifaddr := #{} = Address} = Config) -> Config#{ifaddr := Address#{addr => Ip}};
take({ip, Ip}, _, Config) -> Config#{ifaddr := Ip};
take({port, Port}, _, #{ifaddr := #{} = Address} = Config) -> Config#{ifaddr := Address#{port => Port}};
take({port, Port}, _, Config) -> Config#{port := Port};
take({fd, Fd}, _, Config) -> Config#{fd := Fd};
take({backlog, Backlog}, listen, Config) -> Config#{backlog := Backlog};
take({netns, Path}, _, Config) ->
    Option = {netns, path_bytes(Path)},
    valid(Option),
    Config#{first := [Option]};
take(binary, Kind, Config) -> take({mode, binary}, Kind, Config);
take(list, Kind, Config) -> take({mode, list}, Kind, Config);
take({active, N}, _, Config) when is_integer(N), N >= -32768, N =< 32767 -> add({active, N}, Config);
take({Name, _} = Option, Kind, Config) ->
    lists:member(Name, allowed(Kind)) orelse throw(badarg),
    valid(Option),
    add(Option, Config);
take(_, _, _) -> throw(badarg).

valid({Name, Value}) -> prim_inet:is_sockopt_val(Name, Value) orelse throw(badarg).

add({Name, _} = Option, #{options := Options} = Config) when ?KEEPS_ALL(Name) ->
    Config#{options := [Option | Options]};
add({Name, _} = Option, #{options := Options} = Config) ->
    Config#{options := [Option | lists:keydelete(Name, 1, Options)]}.

bindable(undefined, Port, _) -> is_port_number(Port);
bindable({local, _}, Port, Family) -> Family =:= local andalso Port =:= 0;
bindable(#{family := Family}, _, Family) -> true;
bindable({inet, _}, Port, inet) -> is_port_number(Port);
bindable({inet6, _}, Port, inet6) -> is_port_number(Port);
bindable(Ip, Port, inet) -> is_ip(Ip, 4, 8) andalso is_port_number(Port);
bindable(Ip, Port, inet6) -> is_ip(Ip, 8, 16) andalso is_port_number(Port);
bindable(_, _, _) -> false.

is_port_number(N) -> is_integer(N) andalso N >= 0 andalso N < 1 bsl 16.

is_ip(Ip, Size, Bits) when tuple_size(Ip) =:= Size ->
    lists:all(fun(N) -> is_integer(N) andalso N >= 0 andalso N < 1 bsl Bits end, tuple_to_list(Ip));
is_ip(_, _, _) -> false.

translate_ip(any, inet) -> {0, 0, 0, 0};
translate_ip(loopback, inet) -> {127, 0, 0, 1};
translate_ip(any, inet6) -> {0, 0, 0, 0, 0, 0, 0, 0};
translate_ip(loopback, inet6) -> {0, 0, 0, 0, 0, 0, 0, 1};
translate_ip(any, local) -> undefined;
translate_ip(loopback, local) -> {local, <<>>}; % the system chooses a name
translate_ip(Ip, _) -> Ip.

%% Host, an address of its family, with Port where that is not part of it.
address(Host, _) when tuple_size(Host) =:= 2; is_map(Host) -> Host;
address(Host, Port) -> {Host, Port}.

getserv(Port, _) when is_integer(Port) -> {ok, Port};
getserv(Name, Protocol) when is_atom(Name) -> inet:getservbyname(Name, Protocol).

getaddrs({local, _} = Address, local, _) -> {ok, [Address]};
getaddrs(Host, Family, Timer) -> inet:getaddrs_tm(Host, Family, Timer).

getaddr(Host, Family, Timer) ->
    case getaddrs(Host, Family, Timer) of
        {ok, [Address | _]} -> {ok, Address};
        Error -> Error
    end.

%% A file name as the system has it; what is none is found out later.
path_bytes(Path) when is_list(Path) ->
    try unicode:characters_to_binary(Path, unicode, file:native_name_encoding()) of
        Bytes when is_binary(Bytes) -> Bytes;
        _ -> Path
    catch
        error:badarg -> Path
    end;
path_bytes(Path) -> Path.

%% Opens a socket for Module. Bind says what happens to one that is to be bound nowhere in particular:
%% `always` binds it to every address and whatever port, `asked` leaves it alone.
open(Module, Protocol, Family, Bind, Config) ->
    #{fd := Fd, ifaddr := Given, port := Port, first := First, options := Options} = Config,
    Type = type(Protocol),
    if
        is_integer(Fd), Fd >= 0 ->
            Opened = prim_inet:fdopen(Protocol, Family, Type, Fd, Given =:= undefined),
            set_up(Opened, Module, Options, Given, Port);
        true ->
            Any = translate_ip(any, Family),
            Address = if Given =:= undefined, Bind =:= always orelse Port =/= 0 -> Any; true -> Given end,
            set_up(prim_inet:open(Protocol, Family, Type, First), Module, Options, Address, Port)
    end.

type(tcp) -> stream;
type(udp) -> dgram.

set_up({ok, S}, Module, Options, Address, Port) ->
    case prim_inet:setopts(S, Options) of
        ok when Address =:= undefined -> registered(S, Module);
        ok ->
            case prim_inet:bind(S, Address, Port) of
                {ok, _} -> registered(S, Module);
                Error -> given_up(S, Error)
            end;
        Error -> given_up(S, Error)
    end;
set_up(Error, _, _, _, _) -> Error.

registered(S, Module) ->
    set_module(S, Module),
    {ok, S}.

given_up(S, Error) ->
    prim_inet:close(S),
    Error.

%% The socket of a descriptor.
fdopen(Module, Protocol, Family, Fd, Options) when is_integer(Fd), Fd >= 0 ->
    set_up(prim_inet:fdopen(Protocol, Family, type(Protocol), Fd, true), Module, Options, undefined, 0).

%% A connection that is active may have been closed, and its port have ended.
set_module(S, Module) ->
    try erlang:port_set_data(S, Module)
    catch
        error:badarg -> true
    end.

module_of(S) ->
    try erlang:port_get_data(S) of
        Module when is_atom(Module) -> {ok, Module};
        _ -> {error, closed}
    catch
        error:badarg -> {error, closed}
    end.
