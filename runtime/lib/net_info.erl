%% What is known of connections: net_kernel:node_info/1,2, nodes_info/0, i/0,1. Read in the calling process.
-module(net_info).

-export([node_info/1, node_info/2, nodes_info/0, print/0, print/1]).

-include("net_kernel.hrl").
-include_lib("kernel/include/net_address.hrl").

node_info(Node) ->
    case connections(Node) of
        [C] -> info(C);
        [] -> {error, bad_node}
    end.

node_info(Node, Key) ->
    case node_info(Node) of
        {ok, Info} ->
            case lists:keyfind(Key, 1, Info) of
                {_, Value} -> {ok, Value};
                false -> {error, invalid_key}
            end;
        Error -> Error
    end.

nodes_info() -> {ok, [{C#connection.node, Info} || C <- connections('_'), {ok, Info} <- [info(C)]]}.

connections(Node) ->
    case ets:whereis(sys_dist) of
        undefined -> [];
        _ -> ets:match_object(sys_dist, #connection{node = Node, _ = '_'})
    end.

info(#connection{owner = Owner, state = State, address = Address, type = Type} = C) ->
    case traffic(C) of
        {ok, In, Out} -> {ok, [{owner, Owner}, {state, State}, {address, Address}, {type, Type}, {in, In}, {out, Out}]};
        ended -> {error, bad_node}
    end.

%% Packets in and out.
traffic(#connection{state = up, owner = Owner}) ->
    Monitor = monitor(process, Owner),
    Owner ! {self(), get_status},
    receive
        {Owner, get_status, {ok, In, Out}} ->
            demonitor(Monitor, [flush]),
            {ok, In, Out};
        {'DOWN', Monitor, _, _, _} -> ended
    end;
traffic(_) -> {ok, 0, 0}.

print() ->
    {ok, Nodes} = nodes_info(),
    line("Node", "State", "Type", "In", "Out", "Address"),
    Totals = lists:foldl(fun({Node, Info}, {In, Out}) ->
                                 [State, Type, I, O, Address] = values(Info),
                                 line(atom_to_list(Node), atom_to_list(State), atom_to_list(Type), integer_to_list(I), integer_to_list(O), Address),
                                 {In + I, Out + O}
                         end, {0, 0}, Nodes),
    line("Total", "", "", integer_to_list(element(1, Totals)), integer_to_list(element(2, Totals)), "").

line(Node, State, Type, In, Out, Address) -> io:format("~-20s ~-7s ~-6s ~8s ~8s ~s~n", [Node, State, Type, In, Out, Address]).

print(Node) ->
    case node_info(Node) of
        {ok, Info} ->
            io:format("Node     = ~p~nState    = ~p~nType     = ~p~nIn       = ~p~nOut      = ~p~nAddress  = ~s~n", [Node | values(Info)]);
        Error -> Error
    end.

values(Info) ->
    [State, Type, In, Out, Address] = [proplists:get_value(Key, Info) || Key <- [state, type, in, out, address]],
    [State, Type, In, Out, shown(Address)].

shown(#net_address{family = inet, address = {Ip, Port}}) -> inet:ntoa(Ip) ++ ":" ++ integer_to_list(Port);
shown(#net_address{family = inet6, address = {Ip, Port}}) -> inet:ntoa(Ip) ++ "/" ++ integer_to_list(Port);
shown(#net_address{family = Family, address = Address}) when Family =/= inet, Family =/= inet6 -> io_lib:format("~p", [Address]);
shown(_) -> "-".
