%% SPDX-License-Identifier: Apache-2.0
%% What the system knows of hosts, services and network interfaces. Socket addresses are maps as of module
%% `socket`, texts are strings. The functions are those that OTP's module of this name has on this system.
-module(prim_net).

-export([on_load/0, info/0, gethostname/0, getaddrinfo/2, getnameinfo/2, getifaddrs/1]).
-export([if_name2index/1, if_index2name/1, if_names/0, getservbyname/2, getservbyport/2]).
-export([by_name/2, by_address/1, p_get/1]).

%% Flags of an interface by the bit, from the lowest
-define(FLAGS,
        [up, broadcast, debug, loopback, pointopoint, notrailers, running, noarp, promisc, allmulti, master,
         slave, multicast, portsel, automedia, dynamic]).

%% Characters of an interface's name, with the zero at its end
-define(MOST_OF_NAME, 16).

%% OTP's erl_init calls this of each of its modules; the built-in functions are there already.
on_load() -> ok.

%% What was chosen when the functions were built.
info() -> prim_net:ask_info().

%% net:info/0 of OTP 29 asks whether the native functions are there.
p_get(load_nif_result) -> ok.

gethostname() -> text(prim_net:ask_hostname()).

getaddrinfo(Host, Service) when Host =/= undefined; Service =/= undefined ->
    case prim_net:ask_addresses(name(Host), name(Service), undefined) of
        {ok, Found, _} -> {ok, [info(F) || F <- Found]};
        Error -> Error
    end.

info({KeyOfType, Type, Protocol, Address}) ->
    #{family := Family} = Map = address(Address),
    #{family => Family, KeyOfType => type(Type), protocol => protocol(Protocol), addr => Map}.

type(1) -> stream;
type(2) -> dgram;
type(3) -> raw;
type(4) -> rdm;
type(5) -> seqpacket;
type(N) -> N.

protocol(0) -> ip;
protocol(6) -> tcp;
protocol(17) -> udp;
protocol(132) -> sctp;
protocol(N) -> N.

getnameinfo(Address, undefined) -> getnameinfo(Address, []);
getnameinfo(Address, Flags) ->
    case prim_net:ask_names(native(Address), Flags) of
        {ok, Host, Service} -> {ok, #{host => binary_to_list(Host), service => binary_to_list(Service)}};
        Error -> Error
    end.

%% {ok, CanonicalName, [Ip]} for a name that is a string.
by_name(Name, Family) ->
    case prim_net:ask_addresses(name(Name), undefined, Family) of
        {ok, Found, Canonical} ->
            {ok, binary_to_list(Canonical), [map_get(addr, address(A)) || {_, _, _, A} <- Found]};
        Error -> Error
    end.

%% {ok, Name} of an IP address.
by_address(Ip) ->
    Family = if tuple_size(Ip) =:= 4 -> inet; true -> inet6 end,
    case getnameinfo(#{family => Family, addr => Ip}, [namereqd]) of
        {ok, #{host := Name}} -> {ok, Name};
        Error -> Error
    end.

%% One entry for each address that an interface has.
getifaddrs(Extra) when is_map(Extra) ->
    case prim_net:ask_interfaces(name(maps:get(netns, Extra, ""))) of
        {ok, Found} -> {ok, [interface(F) || F <- Found]};
        Error -> Error
    end.

interface({Name, Flags, Address, Netmask, Other}) ->
    Bits = lists:zip(?FLAGS, lists:seq(0, length(?FLAGS) - 1)),
    Set = [Flag || {Flag, N} <- Bits, Flags band (1 bsl N) =/= 0],
    Others = [{Key, Other} || {Flag, Key} <- [{broadcast, broadaddr}, {pointopoint, dstaddr}],
                              lists:member(Flag, Set)],
    Addresses = [{Key, address(A)} || {Key, A} <- [{addr, Address}, {netmask, Netmask} | Others],
                                      A =/= undefined],
    maps:from_list([{name, binary_to_list(Name)}, {flags, Set} | Addresses]).

if_name2index(Name) when is_list(Name) ->
    case is_short_text(Name, ?MOST_OF_NAME) of
        true -> prim_net:ask_interface_index(name(lists:takewhile(fun(C) -> C > 0 end, Name)));
        false -> {error, einval}
    end.

is_short_text([], _) -> true;
is_short_text([C | Rest], Left) when Left > 0, is_integer(C), C >= 0, C =< 255 ->
    is_short_text(Rest, Left - 1);
is_short_text(_, _) -> false.

if_index2name(Index) when is_integer(Index) -> text(prim_net:ask_interface_name(Index)).

if_names() ->
    case prim_net:ask_interface_names() of
        {ok, Found} -> {ok, [{Index, binary_to_list(Name)} || {Index, Name} <- Found]};
        Error -> Error
    end.

getservbyname(Name, Protocol) when is_list(Name), is_list(Protocol) ->
    prim_net:ask_service_port(name(Name), name(Protocol)).

getservbyport(Port, Protocol) when is_integer(Port), is_list(Protocol) ->
    text(prim_net:ask_service_name(Port, name(Protocol))).

text({ok, Bytes}) -> {ok, binary_to_list(Bytes)};
text(Error) -> Error.

name(undefined) -> undefined;
name(Text) when is_list(Text) -> list_to_binary(Text).

%% Addresses between the built-in functions and us

address({inet, Port, Ip}) -> #{family => inet, port => Port, addr => list_to_tuple(binary_to_list(Ip))};
address({inet6, Port, Ip, Flow, Scope}) ->
    #{family => inet6, port => Port, addr => list_to_tuple([N || <<N:16>> <= Ip]), flowinfo => Flow,
      scope_id => Scope};
address({packet, Protocol, Interface, Hardware, Type, Bytes}) ->
    #{family => packet, protocol => Protocol, ifindex => Interface, hatype => hardware(Hardware),
      pkttype => packet_type(Type), addr => Bytes};
address({Number}) -> #{family => Number, addr => <<>>}.

hardware(1) -> ether;
hardware(772) -> loopback;
hardware(768) -> tunnel;
hardware(N) -> N.

packet_type(0) -> host;
packet_type(1) -> broadcast;
packet_type(2) -> multicast;
packet_type(3) -> otherhost;
packet_type(4) -> outgoing;
packet_type(N) -> N.

native(#{family := local, path := Path}) -> {local, iolist_to_binary(Path)};
native(#{family := inet} = A) -> {inet, maps:get(port, A, 0), ip(inet, maps:get(addr, A, any), 8)};
native(#{family := inet6} = A) ->
    {inet6, maps:get(port, A, 0), ip(inet6, maps:get(addr, A, any), 16), maps:get(flowinfo, A, 0),
     maps:get(scope_id, A, 0)}.

ip(inet, loopback, _) -> <<127, 0, 0, 1>>;
ip(inet6, loopback, _) -> <<1:128>>;
ip(inet, any, _) -> <<0:32>>;
ip(inet6, any, _) -> <<0:128>>;
ip(_, Ip, Bits) -> << <<N:Bits>> || N <- tuple_to_list(Ip) >>.
