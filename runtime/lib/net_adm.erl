%% Questions about hosts and the nodes on them.
-module(net_adm).

-export([ping/1, ping_list/1, names/0, names/1, localhost/0, dns_hostname/1, host_file/0, world/0, world/1, world_list/1, world_list/2]).

-include_lib("kernel/include/inet.hrl").

-define(QUIET_MS, 3000).

ping(Node) when is_atom(Node) ->
    try gen:call({net_kernel, Node}, '$gen_call', {is_auth, node()}, infinity) of
        {ok, yes} -> pong;
        _ -> no_answer(Node)
    catch exit:_ -> no_answer(Node)
    end.

no_answer(Node) ->
    erlang:disconnect_node(Node),
    pang.

%% Connects to the first that answers, and leaves the others to the mesh; what comes up within some seconds.
ping_list(Nodes) ->
    ok = net_kernel:monitor_nodes(true),
    Connected = nodes(),
    {Known, Rest} = lists:splitwith(fun(Node) -> lists:member(Node, Connected) end, Nodes),
    First = case lists:dropwhile(fun(Node) -> ping(Node) =:= pang end, Rest) of
                [Node | _] -> [Node];
                [] -> []
            end,
    come_up(Nodes, Known ++ First).

come_up(Nodes, Sofar) ->
    receive
        {nodeup, Node} ->
            case lists:member(Node, Nodes) of
                true -> come_up(Nodes, Sofar);
                false -> come_up(Nodes, [Node | Sofar])
            end
    after ?QUIET_MS ->
        ok = net_kernel:monitor_nodes(false),
        Sofar
    end.

names() -> names(localhost()).
names(Host) -> (net_kernel:epmd_module()):names(Host).

%% With its domain, where that is known.
localhost() ->
    {ok, Name} = inet:gethostname(),
    case lists:member($., Name) of
        true -> Name;
        false ->
            case inet:gethostbyname(Name) of
                {ok, #hostent{h_name = Full}} when length(Full) > length(Name) -> Full;
                _ -> Name
            end
    end.

dns_hostname(Host) ->
    case inet:gethostbyname(Host) of
        {ok, #hostent{h_name = Name}} -> {ok, Name};
        _ -> {error, Host}
    end.

host_file() ->
    Home = case os:getenv("HOME") of false -> []; Directory -> [Directory] end,
    case file:path_consult(["."] ++ Home ++ [code:root_dir()], ".hosts.erlang") of
        {ok, Hosts, _} -> Hosts;
        Error -> Error
    end.

world() -> world(silent).
world(Verbosity) ->
    case host_file() of
        {error, Reason} -> exit({error, Reason});
        Hosts -> world_list(Hosts, Verbosity)
    end.

world_list(Hosts) -> world_list(Hosts, silent).
world_list(Hosts, Verbosity) when is_list(Hosts) ->
    [Node || Host <- Hosts, {ok, Names} <- [names(Host)], Domain <- [domain_of(atom_to_list(Host))], Domain =/= ignored,
             {Name, _} <- Names, Node <- [list_to_atom(Name ++ "@" ++ Domain)], told(Verbosity, Node) =:= pong].

domain_of(Host) ->
    case net_kernel:longnames() of
        false -> hd(string:split(Host, "."));
        true -> Host;
        ignored -> ignored
    end.

told(verbose, Node) ->
    io:format("Pinging ~w -> ", [Node]),
    Answer = ping(Node),
    io:format("~p\n", [Answer]),
    Answer;
told(_, Node) -> ping(Node).
