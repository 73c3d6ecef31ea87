%% SPDX-License-Identifier: Apache-2.0
%% The table of sockets that inet:i/0,1,2 prints.
-module(inet_table).

-export([print/1, print/2]).

print(Protocol) ->
    print(Protocol, [port, module, recv, sent, owner, local_address, foreign_address, state, type]).

print(Protocol, Columns) ->
    case [[field(Column, S, Protocol) || Column <- Columns] || S <- sockets(driver(Protocol))] of
        [] -> ok;
        Rows ->
            Table = [[title(Column) || Column <- Columns] | Rows],
            Widths = [lists:max([length(lists:nth(N, Row)) || Row <- Table])
                      || N <- lists:seq(1, length(Columns))],
            lists:foreach(fun(Row) -> io:put_chars([lists:zipwith(fun pad/2, Row, Widths), $\n]) end, Table)
    end.

driver(tcp) -> "tcp_inet";
driver(udp) -> "udp_inet";
driver(sctp) -> "sctp_inet".

sockets(Driver) -> [Port || Port <- erlang:ports(), erlang:port_info(Port, name) =:= {name, Driver}].

pad(Text, Width) -> [Text, lists:duplicate(Width - length(Text) + 1, $\s)].

%% local_address: "Local Address"
title(Column) ->
    lists:append(lists:join(" ", [string:titlecase(W) || W <- string:lexemes(atom_to_list(Column), "_")])).

%% What is not known is a blank.
field(Column, S, Protocol) ->
    try value(Column, S, Protocol)
    catch error:_ -> " "
    end.

value(port, S, _) -> integer_to_list(element(2, erlang:port_info(S, id)));
value(owner, S, _) -> pid_to_list(element(2, erlang:port_info(S, connected)));
value(recv, S, _) -> counter(S, recv_oct);
value(sent, S, _) -> counter(S, send_oct);
value(fd, S, _) -> integer_to_list(known(prim_inet:getfd(S)));
value(packet, S, _) -> lists:flatten(io_lib:format("~w", [known(prim_inet:getopt(S, packet))]));
value(type, S, _) -> string:uppercase(atom_to_list(element(2, known(prim_inet:gettype(S)))));
value(state, S, _) -> state(lists:sort(known(prim_inet:getstatus(S))));
value(local_address, S, Protocol) -> address(prim_inet:sockname(S), Protocol);
value(foreign_address, S, Protocol) -> address(prim_inet:peername(S), Protocol);
value(module, S, _) ->
    case inet_open:module_of(S) of
        {ok, Module} -> atom_to_list(Module);
        _ -> "prim_inet"
    end.

known({ok, Value}) -> Value.

counter(S, Name) ->
    [{Name, N}] = known(prim_inet:getstat(S, [Name])),
    integer_to_list(N).

state([accepting | _]) -> "ACCEPTING";
state([bound, busy, connected | _]) -> "CONNECTED(BB)";
state([bound, connected | _]) -> "CONNECTED(B)";
state([bound, listen | _]) -> "LISTEN";
state([bound, connecting | _]) -> "CONNECTING";
state([bound, open]) -> "BOUND";
state([connected, open]) -> "CONNECTED(O)";
state([open]) -> "IDLE";
state([]) -> "CLOSED";
state(Others) -> lists:append(lists:join(":", [letters(State) || State <- Others])).

letters(accepting) -> "A";
letters(bound) -> "BD";
letters(busy) -> "BY";
letters(connected) -> "CD";
letters(connecting) -> "CG";
letters(listen) -> "LN";
letters(open) -> "O".

address({error, enotconn}, _) -> "*:*";
address({ok, {local, Path}}, _) -> "local:" ++ binary_to_list(Path);
address({ok, {Ip, Port}}, Protocol) -> host(Ip) ++ ":" ++ service(Port, Protocol).

host(Ip) ->
    Family = if tuple_size(Ip) =:= 4 -> inet; true -> inet6 end,
    case {inet_open:translate_ip(any, Family), inet_open:translate_ip(loopback, Family)} of
        {Ip, _} -> "*";
        {_, Ip} -> "localhost";
        _ -> inet:ntoa(Ip)
    end.

service(Port, Protocol) ->
    case inet:getservbyport(Port, Protocol) of
        {ok, Name} -> Name;
        _ -> integer_to_list(Port)
    end.
