%% SPDX-License-Identifier: Apache-2.0
%% Hosts by name and by address, by way of the system: /etc/hosts, DNS, whatever it is told to ask.
%% The system's library cannot be interrupted: a caller that has no more time leaves it to itself.
-module(inet_lookup).

-export([addresses/3, by_name/3, by_address/2]).

-include_lib("kernel/include/inet.hrl").

%% {ok, [Ip]} of a host, which may be an address already.
addresses(Ip, Family, _) when is_tuple(Ip) ->
    case {inet:is_ipv4_address(Ip), inet:is_ipv6_address(Ip)} of
        {false, false} -> {error, einval};
        {true, _} when Family =:= inet -> {ok, [Ip]};
        {_, true} when Family =:= inet6 -> {ok, [Ip]};
        _ -> {error, eafnosupport}
    end;
addresses(Name, Family, Ms) when is_atom(Name) -> addresses(atom_to_list(Name), Family, Ms);
addresses(Name, Family, Ms) ->
    case is_visible(Name) andalso by_name(Name, Family, Ms) of
        false -> {error, einval};
        {ok, #hostent{h_addr_list = Ips}} -> {ok, Ips};
        Error -> Error
    end.

is_visible([_ | _] = Name) -> lists:all(fun(C) -> is_integer(C) andalso C > $\s andalso C < 16#7f end, Name);
is_visible(_) -> false.

by_name(Name, Family, Ms) when is_atom(Name) -> by_name(atom_to_list(Name), Family, Ms);
by_name(Name, Family, Ms) when is_list(Name), Family =:= inet orelse Family =:= inet6 ->
    case within(Ms, fun() -> prim_net:by_name(Name, Family) end) of
        {ok, Canonical, Ips} ->
            Aliases = [Name || string:lowercase(Name) =/= string:lowercase(Canonical)],
            {ok, hostent(Canonical, Aliases, Family, Ips)};
        {error, timeout} = Error -> Error;
        {error, _} -> own_name(Name, Family)
    end;
by_name(_, _, _) -> {error, einval}.

%% A host finds itself, whether or not the system knows its name.
own_name(Name, Family) ->
    {ok, Own} = inet:gethostname(),
    case string:lowercase(Name) =:= string:lowercase(Own) of
        true -> {ok, hostent(Own, [], Family, [inet_open:translate_ip(loopback, Family)])};
        false -> {error, nxdomain}
    end.

by_address(Text, Ms) when is_list(Text) ->
    case inet_text:address(Text) of
        {ok, Ip} -> by_address(Ip, Ms);
        Error -> Error
    end;
by_address(Ip, Ms) ->
    case {inet:is_ipv4_address(Ip), inet:is_ipv6_address(Ip)} of
        {true, _} -> by_address(Ip, inet, Ms);
        {_, true} -> by_address(Ip, inet6, Ms);
        _ -> {error, einval}
    end.

by_address(Ip, Family, Ms) ->
    Loopback = inet_open:translate_ip(loopback, Family),
    case within(Ms, fun() -> prim_net:by_address(Ip) end) of
        {ok, Name} -> {ok, hostent(Name, [], Family, [Ip])};
        {error, timeout} = Error -> Error;
        {error, _} when Ip =:= Loopback ->
            {ok, Own} = inet:gethostname(),
            {ok, hostent(Own, [], Family, [Ip])};
        {error, _} -> {error, nxdomain}
    end.

hostent(Name, Aliases, Family, Ips) ->
    #hostent{h_name = Name, h_aliases = Aliases, h_addrtype = Family, h_addr_list = Ips,
             h_length = if Family =:= inet -> 4; true -> 16 end}.

within(infinity, Ask) -> asked(Ask);
within(Ms, Ask) ->
    {Pid, Monitor} = spawn_monitor(fun() -> exit({answer, asked(Ask)}) end),
    receive
        {'DOWN', Monitor, process, Pid, {answer, Answer}} -> Answer;
        {'DOWN', Monitor, process, Pid, _} -> {error, einval}
    after Ms ->
        erlang:demonitor(Monitor, [flush]),
        exit(Pid, kill),
        {error, timeout}
    end.

%% A name that cannot be one is not found.
asked(Ask) ->
    try Ask()
    catch error:badarg -> {error, nxdomain}
    end.
