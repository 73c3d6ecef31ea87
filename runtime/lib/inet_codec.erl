%% SPDX-License-Identifier: Apache-2.0
%% What stands in the requests to a socket driver and in its answers: options, addresses, counters,
%% interfaces. Numbers are those of OTP's inet_drv.
%% What cannot be encoded throws einval.
-module(inet_codec).

-export([set_options/1, get_options/1, options/1, valid/2, family_number/1]).
-export([encode_address/1, address/1, addresses/1]).
-export([encode_counters/1, counters/1, status/1]).
-export([interface_options/1, set_interface_options/1, interface_values/1, interfaces/1]).

-define(ACTIVE, 22).
-define(MULTI, 3). % {active, N}
-define(RAW, 34).

-define(ACTIVE_MODES,
        [{false, 0}, {true, 1}, {once, 2}, {multi, ?MULTI}]).
%% Where two names stand for one number the first is the one that is answered.
-define(PACKET_TYPES,
        [{0, 0}, {1, 1}, {2, 2}, {4, 3}, {raw, 0}, {sunrm, 5}, {asn1, 4}, {cdr, 6}, {fcgi, 7}, {line, 8},
         {tpkt, 9}, {http, 10}, {httph, 11}, {http_bin, 13}, {httph_bin, 14}, {ssl, 12}, {ssl_tls, 12}]).
-define(INTERFACE_FLAGS,
        [{up, 1}, {down, 16#100}, {broadcast, 2}, {no_broadcast, 16#200}, {loopback, 4}, {pointtopoint, 8},
         {no_pointtopoint, 16#800}, {running, 16#10}, {multicast, 16#20}]).

%% {Name, Number, Type of the value}
options() ->
    [{reuseaddr, 0, bool}, {keepalive, 1, bool}, {dontroute, 2, bool}, {linger, 3, linger},
     {broadcast, 4, bool}, {sndbuf, 6, int}, {recbuf, 7, int}, {priority, 8, int}, {tos, 9, int},
     {nodelay, 10, bool}, {multicast_if, 11, multicast_if}, {multicast_ttl, 12, int},
     {multicast_loop, 13, bool}, {add_membership, 14, membership}, {drop_membership, 15, membership},
     {ipv6_v6only, 16, bool}, {buffer, 20, int}, {header, 21, uint},
     {active, ?ACTIVE, {enum, ?ACTIVE_MODES}}, {packet, 23, {enum, ?PACKET_TYPES}},
     {mode, 24, {enum, [{list, 0}, {binary, 1}]}}, {deliver, 25, {enum, [{port, 0}, {term, 1}]}},
     {exit_on_close, 26, bool}, {high_watermark, 27, int}, {low_watermark, 28, int},
     {send_timeout, 30, time}, {delay_send, 31, bool}, {packet_size, 32, uint}, {read_packets, 33, uint},
     {raw, ?RAW, raw}, {send_timeout_close, 35, bool}, {high_msgq_watermark, 36, int},
     {low_msgq_watermark, 37, int}, {netns, 38, binary}, {show_econnreset, 39, bool}, {read_ahead, 49, bool},
     {line_delimiter, 40, int}, {tclass, 41, int}, {bind_to_device, 42, binary}, {recvtos, 43, bool},
     {recvtclass, 44, bool}, {pktoptions, 45, options}, {ttl, 46, int}, {recvttl, 47, bool},
     {nopush, 48, bool}, {debug, 99, bool}].

counter_names() ->
    [{recv_cnt, 1, 32}, {recv_max, 2, 32}, {recv_avg, 3, 32}, {recv_dvi, 4, 32}, {send_cnt, 5, 32},
     {send_max, 6, 32}, {send_avg, 7, 32}, {send_pend, 8, 32}, {recv_oct, 9, 64}, {send_oct, 10, 64}].

states() ->
    [{busy, 16#80}, {accepting, 16#20}, {connecting, 16#10}, {listen, 16#08}, {connected, 16#04},
     {bound, 16#02}, {open, 16#01}].

interface_option_names() ->
    [{addr, 1, ip}, {broadaddr, 2, ip}, {dstaddr, 3, ip}, {mtu, 4, int}, {netmask, 5, ip},
     {flags, 6, {bits, ?INTERFACE_FLAGS}}, {hwaddr, 7, bytes}].

%% Options

%% In OTP's order, the last one first: of two values for one option the first one stays.
set_options(Options) -> lists:foldl(fun(O, Encoded) -> [set_option(O) | Encoded] end, [], Options).

set_option({active, N}) when is_integer(N), N >= -32768, N =< 32767 -> <<?ACTIVE, ?MULTI:32, N:16>>;
set_option({raw, Protocol, Number, Value}) -> set_option({raw, {Protocol, Number, Value}});
set_option(binary) -> set_option({mode, binary});
set_option(list) -> set_option({mode, list});
set_option({Name, Value}) ->
    {_, Number, Type} = option(Name),
    [Number | encode(Type, Value)];
set_option(_) -> throw(einval).

%% Whether an option has this name and can have this value.
valid(Name, Value) ->
    try set_option({Name, Value}) of _ -> true
    catch throw:einval -> false
    end.

get_options(Options) -> [get_option(O) || O <- Options].

get_option({raw, Protocol, Number, Value}) -> get_option({raw, {Protocol, Number, Value}});
get_option({raw, {Protocol, Number, Bytes}}) when is_binary(Bytes) ->
    [?RAW, encode(int, Protocol), encode(int, Number), 1 | encode(binary, Bytes)];
get_option({raw, {Protocol, Number, Size}}) ->
    [?RAW, encode(int, Protocol), encode(int, Number), 0 | encode(uint, Size)];
get_option(raw) -> throw(einval);
get_option({Name, undefined}) -> get_option(Name);
get_option(Name) ->
    {_, Number, _} = option(Name),
    Number.

option(Name) -> row(Name, 1, options()).

row(Key, Column, Table) ->
    case lists:keyfind(Key, Column, Table) of
        false -> throw(einval);
        Row -> Row
    end.

options([]) -> [];
options([?ACTIVE, 0, 0, 0, ?MULTI, N1, N0 | T]) -> [{active, N1 bsl 8 + N0} | options(T)];
options([Number | T]) ->
    {Name, _, Type} = row(Number, 2, options()),
    {Value, Rest} = decode(Type, T),
    [case Value of
         {Protocol, Option, Bytes} when Name =:= raw -> {raw, Protocol, Option, Bytes};
         _ -> {Name, Value}
     end | options(Rest)].

%% Values

encode(bool, true) -> <<1:32>>;
encode(bool, false) -> <<0:32>>;
encode(int, N) when is_integer(N) -> <<N:32>>;
encode(uint, N) when is_integer(N), N >= 0 -> <<N:32>>;
encode(time, infinity) -> <<-1:32>>;
encode(time, N) -> encode(uint, N);
encode(linger, {On, Seconds}) -> [encode(bool, On) | encode(int, Seconds)];
encode(binary, Bytes) when is_binary(Bytes) -> [<<(byte_size(Bytes)):32>>, Bytes];
encode(raw, {Protocol, Number, Bytes}) ->
    [encode(int, Protocol), encode(int, Number) | encode(binary, Bytes)];
encode(multicast_if, Ip) when tuple_size(Ip) =:= 4 -> encode_ip(inet, Ip);
encode(multicast_if, Index) -> encode(int, Index);
encode(membership, {Group, Interface}) when tuple_size(Group) =:= 4 ->
    encode(membership, {Group, Interface, 0});
encode(membership, {Group, Interface, Index}) when Interface =/= loopback ->
    [<<(family_number(inet)):32>>, encode(int, Index), encode_ip(inet, Group) | encode_ip(inet, Interface)];
encode(membership, {Group, Index}) when tuple_size(Group) =:= 8 ->
    [<<(family_number(inet6)):32>>, encode(int, Index) | encode_ip(inet6, Group)];
encode({enum, Names}, Name) ->
    {_, Number} = row(Name, 1, Names),
    <<Number:32>>;
encode({bits, Names}, Set) when is_list(Set) ->
    <<(lists:foldl(fun(Name, Sum) -> element(2, row(Name, 1, Names)) bor Sum end, 0, Set)):32>>;
encode(ip, any) -> [3];
encode(ip, loopback) -> [4];
encode(ip, Ip) when tuple_size(Ip) =:= 4 -> [family_number(inet) | encode_ip(inet, Ip)];
encode(ip, Ip) when tuple_size(Ip) =:= 8 -> [family_number(inet6) | encode_ip(inet6, Ip)];
encode(bytes, Bytes) when is_list(Bytes), length(Bytes) < 32768 -> [<<(length(Bytes)):16>> | Bytes];
encode(_, _) -> throw(einval).

decode(bool, L) ->
    {N, T} = int(L),
    {N =/= 0, T};
decode(int, L) -> int(L);
decode(uint, L) ->
    {N, T} = int(L),
    {N band 16#ffffffff, T};
decode(time, L) ->
    case int(L) of
        {-1, T} -> {infinity, T};
        Time -> Time
    end;
decode(linger, L) ->
    {On, T} = decode(bool, L),
    {Seconds, Rest} = int(T),
    {{On, Seconds}, Rest};
decode(binary, L) ->
    {Size, T} = int(L),
    take(Size, T);
decode(raw, L) ->
    {Protocol, T1} = int(L),
    {Number, T2} = int(T1),
    {Bytes, T3} = decode(binary, T2),
    {{Protocol, Number, Bytes}, T3};
decode(options, L) ->
    {Bytes, T} = decode(binary, L),
    {options(binary_to_list(Bytes)), T};
decode(multicast_if, [A, B, C, D | L]) ->
    case int(L) of
        {1, T} -> {{A, B, C, D}, T};
        {2, T} -> {element(1, int([A, B, C, D])), T}
    end;
decode({enum, Names}, L) ->
    {N, T} = int(L),
    case lists:keyfind(N, 2, Names) of
        {Name, _} -> {Name, T};
        false -> {undefined, T}
    end;
decode({bits, Names}, L) ->
    {Set, T} = int(L),
    {[Name || {Name, Bits} <- Names, Set band Bits =:= Bits], T};
decode(ip, [Family | L]) -> ip(Family, L);
decode(bytes, [N1, N0 | L]) ->
    {Bytes, T} = take(N1 bsl 8 + N0, L),
    {binary_to_list(Bytes), T}.

int([A, B, C, D | T]) ->
    <<N:32/signed>> = <<A, B, C, D>>,
    {N, T}.

%% The first N bytes as a binary, and the rest, which in a datagram may be a binary.
take(N, L) -> take(N, L, []).

take(0, T, Bytes) -> {list_to_binary(lists:reverse(Bytes)), T};
take(N, [B | T], Bytes) -> take(N - 1, T, [B | Bytes]).

%% Addresses: {Ip, Port}, {any | loopback, Port}, {Family, {Ip, Port}}, {local, Path}, {Path, _}, or a map
%% as of module socket.

family_number(inet) -> 1;
family_number(inet6) -> 2;
family_number(local) -> 5.

encode_address({any, Port}) -> [3 | encode_port(Port)];
encode_address({loopback, Port}) -> [4 | encode_port(Port)];
encode_address({Ip, _} = A) when tuple_size(Ip) =:= 4 -> encode_address({inet, A});
encode_address({Ip, _} = A) when tuple_size(Ip) =:= 8 -> encode_address({inet6, A});
encode_address({local, Path}) ->
    Bytes = path_bytes(Path),
    [family_number(local), byte_size(Bytes), Bytes];
encode_address({Path, _}) when is_list(Path); is_binary(Path) -> encode_address({local, Path});
encode_address({Family, {Ip, Port}}) -> encode_address(Family, Ip, Port, 0, 0);
encode_address(#{family := Family} = A) when Family =:= inet; Family =:= inet6 ->
    encode_address(Family, maps:get(addr, A, any), maps:get(port, A, 0), maps:get(flowinfo, A, 0),
                   maps:get(scope_id, A, 0));
encode_address(_) -> throw(einval).

encode_address(inet, Ip, Port, _, _) -> [family_number(inet), encode_port(Port) | encode_ip(inet, Ip)];
encode_address(inet6, Ip, Port, Flow, Scope) ->
    [family_number(inet6), encode_port(Port), encode_ip(inet6, Ip), encode(uint, Flow), encode(uint, Scope)];
encode_address(_, _, _, _, _) -> throw(einval).

encode_port(Port) when is_integer(Port), Port >= 0, Port < 1 bsl 16 -> <<Port:16>>;
encode_port(_) -> throw(einval).

encode_ip(inet, any) -> <<0:32>>;
encode_ip(inet, loopback) -> <<127, 0, 0, 1>>;
encode_ip(inet, {_, _, _, _} = Ip) -> << <<(in_range(A, 8)):8>> || A <- tuple_to_list(Ip) >>;
encode_ip(inet6, any) -> <<0:128>>;
encode_ip(inet6, loopback) -> <<1:128>>;
encode_ip(inet6, {_, _, _, _, _, _, _, _} = Ip) -> << <<(in_range(A, 16)):16>> || A <- tuple_to_list(Ip) >>;
encode_ip(_, _) -> throw(einval).

in_range(A, Bits) when is_integer(A), A >= 0, A < 1 bsl Bits -> A;
in_range(_, _) -> throw(einval).

%% A binary is the name as it is, all else a file name.
path_bytes(Path) when is_binary(Path), byte_size(Path) =< 255 -> Path;
path_bytes(Path) when is_list(Path) ->
    try unicode:characters_to_binary(Path, unicode, file:native_name_encoding()) of
        Bytes when is_binary(Bytes), byte_size(Bytes) =< 255 -> Bytes;
        _ -> throw(einval)
    catch
        error:badarg -> throw(einval)
    end;
path_bytes(_) -> throw(einval).

%% The address in front of a list, and the rest.
address([0 | T]) -> {{unspec, <<>>}, T};
address([5, Size | T]) ->
    {Path, Rest} = take(Size, T),
    {{local, Path}, Rest};
address([6 | T]) -> {{undefined, <<>>}, T};
address([Family, P1, P0 | T]) ->
    {Ip, Rest} = ip(Family, T),
    {{Ip, P1 bsl 8 + P0}, Rest}.

addresses([]) -> [];
addresses(L) ->
    {Address, T} = address(L),
    [Address | addresses(T)].

ip(1, [A, B, C, D | T]) -> {{A, B, C, D}, T};
ip(2, L) ->
    {Bytes, T} = take(16, L),
    {list_to_tuple([N || <<N:16>> <= Bytes]), T}.

%% Counters and states

encode_counters(Names) -> [element(2, row(Name, 1, counter_names())) || Name <- Names].

counters(L) -> counters_of(list_to_binary(L)).

counters_of(<<>>) -> [];
counters_of(<<Number, T/binary>>) ->
    {Name, _, Bits} = row(Number, 2, counter_names()),
    <<Value:Bits, Rest/binary>> = T,
    [{Name, Value} | counters_of(Rest)].

status(L) -> element(1, decode({bits, states()}, L)).

%% Network interfaces

interface_options(Names) -> [element(2, row(Name, 1, interface_option_names())) || Name <- Names].

set_interface_options(Options) ->
    [begin
         {_, Number, Type} = row(Name, 1, interface_option_names()),
         [Number | encode(Type, Value)]
     end || {Name, Value} <- Options].

interface_values([]) -> [];
interface_values(L) ->
    {Option, T} = interface_value(L),
    [Option | interface_values(T)].

interface_value([Number | T]) ->
    {Name, _, Type} = row(Number, 2, interface_option_names()),
    {Value, Rest} = decode(Type, T),
    {{Name, Value}, Rest}.

%% The driver tells each address by itself, with name and flags: what belongs to one interface is
%% put together, behind its flags; the hardware address comes last.
interfaces(L) ->
    Entries = [{Name, {Flags, Options}} || {Name, [{flags, Flags} | Options]} <- interface_entries(L)],
    [{Name, lists:append([[{flags, Flags} | hwaddr_last(lists:append(Options))]
                          || {Flags, Options} <- gathered(Pairs)])}
     || {Name, Pairs} <- gathered(Entries)].

%% [{Key, [Value]}] in the order in which the keys first come.
gathered(Pairs) -> gathered(Pairs, []).

gathered([], Groups) -> [{Key, lists:reverse(Values)} || {Key, Values} <- lists:reverse(Groups)];
gathered([{Key, Value} | T], Groups) ->
    case lists:keyfind(Key, 1, Groups) of
        {_, Values} -> gathered(T, lists:keyreplace(Key, 1, Groups, {Key, [Value | Values]}));
        false -> gathered(T, [{Key, [Value]} | Groups])
    end.

hwaddr_last(Options) ->
    {Hardware, Others} = lists:partition(fun({Name, _}) -> Name =:= hwaddr end, Options),
    Others ++ Hardware.

interface_entries([]) -> [];
interface_entries(L) ->
    {Name, [0 | T]} = lists:splitwith(fun(B) -> B =/= 0 end, L),
    {Options, Rest} = interface_entry(T),
    [{unicode:characters_to_list(list_to_binary(Name)), Options} | interface_entries(Rest)].

interface_entry([0 | T]) -> {[], T};
interface_entry(L) ->
    {Option, T} = interface_value(L),
    {Options, Rest} = interface_entry(T),
    {[Option | Options], Rest}.
