%% SPDX-License-Identifier: Apache-2.0
%% What TCP and UDP have in common: options, names and counters of sockets, addresses and hosts.
%% Lookups are in inet_lookup, addresses as text in inet_text, the table of i/0 in inet_table.
-module(inet).

-export([close/1, setopts/2, getopts/2, getstat/1, getstat/2, stats/0, options/0, info/1, socket_to_list/1]).
-export([peername/1, peernames/1, peernames/2, sockname/1, socknames/1, socknames/2, port/1, send/2, getfd/1,
         getll/1, setpeername/2, setsockname/2, monitor/1, cancel_monitor/1]).
-export([getifaddrs/0, getifaddrs/1, getiflist/0, getiflist/1, getif/0, getif/1, ifget/2, ifget/3, ifset/2,
         ifset/3, gethostname/0, gethostname/1, getservbyname/2, getservbyport/2]).
-export([gethostbyname/1, gethostbyname/2, gethostbyname/3, gethostbyaddr/1, gethostbyaddr/2, getaddr/2,
         getaddr/3, getaddrs/2, getaddrs/3, ip/1, get_rc/0]).
-export([parse_address/1, parse_address/2, parse_strict_address/1, parse_strict_address/2,
         parse_ipv4_address/1, parse_ipv4strict_address/1,
         parse_ipv6_address/1, parse_ipv6strict_address/1, ntoa/1, ipv4_mapped_ipv6_address/1,
         is_ip_address/1, is_ipv4_address/1, is_ipv6_address/1, format_error/1, i/0, i/1, i/2]).
%% For gen_tcp and gen_udp and the modules below them
-export([tcp_module/1, tcp_module/2, udp_module/1, gen_tcp_module/1, gen_udp_module/1, ensure_sockaddr/1]).
-export([tcp_close/1, udp_close/1, tcp_controlling_process/2, udp_controlling_process/2]).
-export([start_timer/1, timeout/1, timeout/2, stop_timer/1, getaddr_tm/3, getaddrs_tm/3, gethostbyname_tm/3,
         gethostbyaddr_tm/2, translate_ip/2]).
%% For OTP's gen_tcp_socket and gen_udp_socket, which come from an installed OTP
-export([connect_options/2, listen_options/2, udp_options/2]).

-include_lib("kernel/include/inet.hrl").
-include("socket_module.hrl").

-export_type([hostname/0, hostent/0, ip4_address/0, ip6_address/0, ip_address/0, port_number/0, posix/0,
              socket/0]).

-type hostname() :: atom() | string().
-type ip4_address() :: {byte(), byte(), byte(), byte()}.
-type ip6_address() :: {char(), char(), char(), char(), char(), char(), char(), char()}.
-type ip_address() :: ip4_address() | ip6_address().
-type port_number() :: 0..65535.
-type posix() :: atom().
-type socket() :: port() | {'$inet', module(), term()}.
-type hostent() :: #hostent{}.

%% How the messages begin that a socket sends to its owner
-define(FROM_SOCKET(Tag),
        Tag =:= tcp orelse Tag =:= tcp_error orelse Tag =:= tcp_passive orelse Tag =:= udp orelse
        Tag =:= udp_error orelse Tag =:= udp_passive orelse Tag =:= inet_async orelse Tag =:= inet_reply).

%% Sockets

close(?ELSEWHERE(Module) = S) -> Module:close(S);
close(S) ->
    prim_inet:close(S),
    receive {Closed, S} when Closed =:= tcp_closed; Closed =:= udp_closed -> ok
    after 0 -> ok
    end.

setopts(?ELSEWHERE(Module) = S, Options) -> Module:setopts(S, Options);
setopts(S, Options) ->
    prim_inet:setopts(S, [case O of
                              {netns, Path} -> {netns, inet_open:path_bytes(Path)};
                              _ -> O
                          end || O <- Options]).

getopts(?ELSEWHERE(Module) = S, Names) -> Module:getopts(S, Names);
getopts(S, Names) ->
    case prim_inet:getopts(S, Names) of
        {ok, Options} -> {ok, [case O of
                                   {netns, Path} -> {netns, path_text(Path)};
                                   _ -> O
                               end || O <- Options]};
        Error -> Error
    end.

path_text(Bytes) ->
    case unicode:characters_to_list(Bytes, file:native_name_encoding()) of
        Path when is_list(Path) -> Path;
        _ -> Bytes
    end.

options() ->
    [tos, tclass, priority, reuseaddr, keepalive, dontroute, linger, broadcast, sndbuf, recbuf, nodelay,
     ipv6_v6only, buffer, header, active, packet, deliver, mode, multicast_if, multicast_ttl, multicast_loop,
     exit_on_close, high_watermark, low_watermark, high_msgq_watermark, low_msgq_watermark, send_timeout,
     send_timeout_close, show_econnreset].

stats() ->
    [recv_oct, recv_cnt, recv_max, recv_avg, recv_dvi, send_oct, send_cnt, send_max, send_avg, send_pend].

getstat(S) -> getstat(S, stats()).

getstat(?ELSEWHERE(Module) = S, Names) -> Module:getstat(S, Names);
getstat(S, Names) -> prim_inet:getstat(S, Names).

info(?ELSEWHERE(Module) = S) -> Module:info(S);
info(S) when is_port(S) ->
    case erlang:port_info(S) of
        undefined -> #{states => [closed]};
        Items ->
            {connected, Owner} = lists:keyfind(connected, 1, Items),
            Port = maps:from_list([erlang:port_info(S, memory), erlang:port_info(S, monitors) | Items]),
            Known = maps:with([links, input, output, memory, monitors], Port),
            maps:merge(Known#{owner => Owner}, socket_info(S))
    end.

%% Of a port that is no socket, nothing.
socket_info(S) ->
    Asked = [{states, prim_inet:getstatus(S)}, {counters, getstat(S)}],
    maps:from_list([{Key, if Key =:= counters -> maps:from_list(Value); true -> Value end}
                    || {Key, {ok, Value}} <- Asked]).

socket_to_list(?ELSEWHERE(Module) = S) -> Module:socket_to_list(S);
socket_to_list(S) -> erlang:port_to_list(S).

send(S, Data) -> prim_inet:send(S, Data).

getfd(S) -> prim_inet:getfd(S).

getll(S) when is_port(S) -> {ok, S}.

monitor(?ELSEWHERE(Module) = S) -> Module:monitor(S);
monitor(S) when is_port(S) -> erlang:monitor(port, S);
monitor(S) -> erlang:error(badarg, [S]).

cancel_monitor(Monitor) when is_reference(Monitor) -> erlang:demonitor(Monitor, [info]);
cancel_monitor(Monitor) -> erlang:error(badarg, [Monitor]).

%% Names of sockets

peername(?ELSEWHERE(Module) = S) -> Module:peername(S);
peername(S) -> prim_inet:peername(S).

peernames(S) -> prim_inet:peernames(S).

peernames(S, Association) -> prim_inet:peernames(S, Association).

sockname(?ELSEWHERE(Module) = S) -> Module:sockname(S);
sockname(S) -> prim_inet:sockname(S).

socknames(?ELSEWHERE(Module) = S) -> Module:socknames(S);
socknames(S) -> prim_inet:socknames(S).

socknames(S, Association) -> prim_inet:socknames(S, Association).

setpeername(S, Address) -> prim_inet:setpeername(S, Address).

setsockname(S, Address) -> prim_inet:setsockname(S, Address).

port(S) ->
    case sockname(S) of
        {ok, {_, Port}} -> {ok, Port};
        Error -> Error
    end.

%% The system, asked through a socket

with_socket(Options, Ask) ->
    case inet_udp:open(0, Options) of
        {ok, S} ->
            try Ask(S) after inet_udp:close(S) end;
        Error -> Error
    end.

getifaddrs() -> getifaddrs([]).

getifaddrs(Options) when is_list(Options) -> with_socket(Options, fun prim_inet:getifaddrs/1);
getifaddrs(S) -> prim_inet:getifaddrs(S).

getiflist() -> getiflist([]).

getiflist(Options) when is_list(Options) -> with_socket(Options, fun prim_inet:getiflist/1);
getiflist(S) -> prim_inet:getiflist(S).

getif() -> getif([]).

%% {Address, Broadcast address | undefined, Netmask} of each interface
getif(Options) when is_list(Options) -> with_socket(Options, fun getif/1);
getif(S) ->
    case prim_inet:getiflist(S) of
        {ok, Names} -> {ok, lists:append([addresses_of(S, Name) || Name <- lists:reverse(Names)])};
        Error -> Error
    end.

addresses_of(S, Name) ->
    case prim_inet:ifget(S, Name, [addr, broadaddr, netmask]) of
        {ok, Values} ->
            case {proplists:get_value(addr, Values), proplists:get_value(netmask, Values)} of
                {Address, Mask} when Address =/= undefined, Mask =/= undefined ->
                    [{Address, proplists:get_value(broadaddr, Values), Mask}];
                _ -> []
            end;
        _ -> []
    end.

ifget(Name, Options) ->
    {Opening, Others} = lists:partition(fun is_namespace/1, Options),
    with_socket(Opening, fun(S) -> prim_inet:ifget(S, Name, Others) end).

ifget(S, Name, Options) -> prim_inet:ifget(S, Name, Options).

ifset(Name, Options) ->
    {Opening, Others} = lists:partition(fun is_namespace/1, Options),
    with_socket(Opening, fun(S) -> prim_inet:ifset(S, Name, Others) end).

ifset(S, Name, Options) -> prim_inet:ifset(S, Name, Options).

is_namespace({netns, _}) -> true;
is_namespace(_) -> false.

%% The first part of the host's name.
gethostname() ->
    case prim_net:gethostname() of
        {ok, Name} -> {ok, hd(string:split(Name, "."))};
        {error, _} -> {ok, "nohost.nodomain"}
    end.

gethostname(S) -> prim_inet:gethostname(S).

getservbyname(Name, Protocol) when is_atom(Name) ->
    with_socket([], fun(S) -> prim_inet:getservbyname(S, Name, Protocol) end).

getservbyport(Port, Protocol) -> with_socket([], fun(S) -> prim_inet:getservbyport(S, Port, Protocol) end).

%% Hosts

gethostbyname(Name) -> gethostbyname(Name, inet).

gethostbyname(Name, Family) -> gethostbyname(Name, Family, infinity).

gethostbyname(Name, Family, Time) -> inet_lookup:by_name(Name, Family, Time).

gethostbyaddr(Address) -> gethostbyaddr(Address, infinity).

gethostbyaddr(Address, Time) -> inet_lookup:by_address(Address, Time).

getaddrs(Host, Family) -> getaddrs(Host, Family, infinity).

getaddrs(Host, Family, Time) -> inet_lookup:addresses(Host, Family, Time).

getaddr(Host, Family) -> getaddr(Host, Family, infinity).

getaddr(Host, Family, Time) -> first(getaddrs(Host, Family, Time)).

first({ok, [Address | _]}) -> {ok, Address};
first(Error) -> Error.

%% The same with what is left of a timer.
gethostbyname_tm(Name, Family, Timer) -> gethostbyname(Name, Family, timeout(Timer)).

gethostbyaddr_tm(Address, Timer) -> gethostbyaddr(Address, timeout(Timer)).

getaddrs_tm(Host, Family, Timer) -> getaddrs(Host, Family, timeout(Timer)).

getaddr_tm(Host, Family, Timer) -> getaddr(Host, Family, timeout(Timer)).

ip(Ip) when tuple_size(Ip) =:= 4 -> first(getaddrs(Ip, inet));
ip(Name) -> first(getaddrs(Name, inet)).

translate_ip(Ip, Family) -> inet_open:translate_ip(Ip, Family).

%% How hosts are found: as the system does it.
get_rc() -> [{lookup, [native]}].

%% Addresses as text

parse_address(Text) -> inet_text:address(Text).

parse_address(Text, inet) -> parse_ipv4_address(Text);
parse_address(Text, inet6) -> parse_ipv6_address(Text).

parse_strict_address(Text) -> inet_text:strict_address(Text).

parse_strict_address(Text, inet) -> parse_ipv4strict_address(Text);
parse_strict_address(Text, inet6) -> parse_ipv6strict_address(Text).

parse_ipv4_address(Text) -> inet_text:ipv4_address(Text).

parse_ipv4strict_address(Text) -> inet_text:strict_address(Text, inet).

parse_ipv6_address(Text) -> inet_text:ipv6_address(Text).

parse_ipv6strict_address(Text) -> inet_text:strict_address(Text, inet6).

ntoa(Ip) -> inet_text:ntoa(Ip).

ipv4_mapped_ipv6_address({A, B, C, D}) when (A bor B bor C bor D) band bnot 255 =:= 0 ->
    {0, 0, 0, 0, 0, 16#ffff, A bsl 8 + B, C bsl 8 + D};
ipv4_mapped_ipv6_address({A, B, C, D, E, F, G, H})
  when (A bor B bor C bor D bor E bor F bor G bor H) band bnot 16#ffff =:= 0 ->
    {G bsr 8, G band 255, H bsr 8, H band 255}.

is_ip_address(Ip) -> is_ipv4_address(Ip) orelse is_ipv6_address(Ip).

is_ipv4_address({A, B, C, D}) when (A bor B bor C bor D) band bnot 255 =:= 0 -> true;
is_ipv4_address(_) -> false.

is_ipv6_address({A, B, C, D, E, F, G, H})
  when (A bor B bor C bor D bor E bor F bor G bor H) band bnot 16#ffff =:= 0 -> true;
is_ipv6_address(_) -> false.

format_error(exbadport) -> "invalid port state";
format_error(exbadseq) -> "bad command sequence";
format_error(system_limit) -> "a system limit was hit, probably not enough ports";
format_error(Posix) -> erl_posix_msg:message(Posix).

i() -> lists:foreach(fun i/1, [tcp, udp, sctp]).

i(Protocol) -> inet_table:print(Protocol).

i(Protocol, Columns) -> inet_table:print(Protocol, Columns).

%% Which module a socket is opened with

tcp_module(Options) -> tcp_module(Options, undefined).

tcp_module(Options, Address) ->
    inet_open:module(Options, tcp_module, Address,
                     #{inet => inet_tcp, inet6 => inet6_tcp, local => local_tcp}).

udp_module(Options) ->
    inet_open:module(Options, udp_module, undefined,
                     #{inet => inet_udp, inet6 => inet6_udp, local => local_udp}).

%% The options as records of OTP's inet_int.hrl.

connect_options(Options, Module) ->
    taken(inet_open:config(connect, Module:family(), Options),
          fun(Address, Port, Fd, Others, _) ->
              with_protocol({connect_opts, Address, Port, Fd, Others})
          end).

listen_options(Options, Module) ->
    taken(inet_open:config(listen, Module:family(), Options),
          fun(Address, Port, Fd, Others, Backlog) ->
              with_protocol({listen_opts, Address, Port, Backlog, Fd, Others})
          end).

udp_options(Options, Module) ->
    taken(inet_open:config(udp, Module:family(), Options),
          fun(Address, Port, Fd, Others, _) -> {udp_opts, Address, Port, Fd, Others} end).

%% Since OTP 29 the last field is the protocol, which is undefined unless an option says otherwise; there is
%% no such option here. Those who ask are modules of an installed OTP.
with_protocol(Record) ->
    case installed_release() of
        Release when Release >= 29 -> erlang:append_element(Record, undefined);
        _ -> Record
    end.

installed_release() ->
    {ok, Text} = file:read_file(filename:join([code:root_dir(), "releases", "start_erl.data"])),
    [_Erts, Release | _] = string:lexemes(Text, [$\s, $\n]),
    binary_to_integer(Release).

taken({ok, #{ifaddr := Address, port := Port, fd := Fd, first := First, backlog := Backlog,
    options := Others}}, Record) ->
    {ok, Record(Address, Port, if First =:= [] -> Fd; true -> First end, Others, Backlog)};
taken(error, _) -> {error, badarg}.

%% The backend may be named by the first option only.
gen_tcp_module([{inet_backend, socket} | Options]) -> {gen_tcp_socket, Options};
gen_tcp_module([{inet_backend, inet} | Options]) -> {gen_tcp, Options};
gen_tcp_module(Options) -> {gen_tcp, Options}.

gen_udp_module([{inet_backend, socket} | Options]) -> {gen_udp_socket, Options};
gen_udp_module([{inet_backend, inet} | Options]) -> {gen_udp, Options};
gen_udp_module(Options) -> {gen_udp, Options}.

%% An address as of module `socket`, with all that it has.
ensure_sockaddr(#{family := inet} = A) -> maps:merge(#{addr => any, port => 0}, A);
ensure_sockaddr(#{family := inet6} = A) ->
    maps:merge(#{addr => any, port => 0, flowinfo => 0, scope_id => 0}, A);
ensure_sockaddr(A) -> erlang:error({invalid, {sockaddr, A}}).

%% Closing and passing on. What a socket has sent before to its old owner goes to the new one.

tcp_close(S) when is_port(S) ->
    prim_inet:close(S),
    receive {tcp_closed, S} -> ok after 0 -> ok end.

udp_close(S) when is_port(S) ->
    receive {udp_closed, S} -> ok
    after 0 ->
        prim_inet:close(S),
        receive {udp_closed, S} -> ok after 0 -> ok end
    end.

tcp_controlling_process(S, Owner) -> pass_on(S, Owner).

udp_controlling_process(S, Owner) -> pass_on(S, Owner).

pass_on(S, Owner) when is_port(S), is_pid(Owner) ->
    Self = self(),
    case erlang:port_info(S, connected) of
        {connected, Owner} -> ok;
        {connected, Self} -> pass_on(S, Owner, prim_inet:getopt(S, active));
        {connected, _} -> {error, not_owner};
        undefined -> {error, einval}
    end.

%% While the messages are passed on no more come.
pass_on(S, Owner, {ok, Active}) ->
    Quiet = if Active =:= false -> ok; true -> prim_inet:setopt(S, active, false) end,
    case pass_messages(S, Owner, open) of
        closed -> ok;
        open when Quiet =:= ok -> connect_owner(S, Owner, Active);
        open -> Quiet
    end;
pass_on(_, _, Error) -> Error.

pass_messages(S, Owner, State) ->
    receive
        {Closed, S} = Message when Closed =:= tcp_closed; Closed =:= udp_closed ->
            Owner ! Message,
            pass_messages(S, Owner, closed);
        Message when element(1, Message) =:= S;
                     element(2, Message) =:= S, ?FROM_SOCKET(element(1, Message)) ->
            Owner ! Message,
            pass_messages(S, Owner, State)
    after 0 -> State
    end.

connect_owner(S, Owner, Active) ->
    try erlang:port_connect(S, Owner) of
        true ->
            unlink(S),
            if Active =:= false -> ok; true -> prim_inet:setopt(S, active, Active) end
    catch
        error:Reason -> {error, Reason}
    end.

%% Time that several steps share: false stands for no end.

start_timer(infinity) -> false;
start_timer(Ms) -> erlang:start_timer(Ms, self(), inet).

timeout(false) -> infinity;
timeout(Timer) ->
    case erlang:read_timer(Timer) of
        false -> 0;
        Ms -> Ms
    end.

timeout(Ms, Timer) -> min(Ms, timeout(Timer)).

stop_timer(false) -> false;
stop_timer(Timer) ->
    case erlang:cancel_timer(Timer) of
        false ->
            receive {timeout, Timer, _} -> ok after 0 -> ok end,
            false;
        Ms -> Ms
    end.
