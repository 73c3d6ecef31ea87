%% Distribution over TCP: listens, accepts, connects and hands each connection to dist_util for the handshake. The functions
%% gen_... take the module of the address family (inet_tcp, inet6_tcp); other distribution modules may use them.
-module(inet_tcp_dist).

-export([listen/1, listen/2, accept/1, accept_connection/5, setup/5, close/1, select/1, address/0, is_node_name/1,
         setopts/2, getopts/2]).
-export([gen_listen/3, gen_accept/2, gen_accept_connection/6, gen_setup/6, gen_select/2, gen_address/1]).
-export([accept_loop/3, do_accept/7, do_setup/7, getstat/1, tick/2]).  % entry points of processes, and what owners call

-include_lib("kernel/include/dist.hrl").
-include_lib("kernel/include/dist_util.hrl").
-include_lib("kernel/include/net_address.hrl").

-define(FAMILY, inet_tcp).

select(Node) -> gen_select(?FAMILY, Node).
address() -> gen_address(?FAMILY).
listen(Name) ->
    {ok, Host} = inet:gethostname(),
    listen(Name, Host).
listen(Name, Host) -> gen_listen(?FAMILY, Name, Host).
accept(Listen) -> gen_accept(?FAMILY, Listen).
accept_connection(Acceptor, Socket, Own, Allowed, Timeout) -> gen_accept_connection(?FAMILY, Acceptor, Socket, Own, Allowed, Timeout).
setup(Node, Type, Own, Names, Timeout) -> gen_setup(?FAMILY, Node, Type, Own, Names, Timeout).
close(Socket) -> ?FAMILY:close(Socket).

is_node_name(Node) when is_atom(Node) -> dist_util:is_node_name(atom_to_list(Node));
is_node_name(_) -> false.

%% Whether this module can reach the node: whether its host has an address of the family.
gen_select(Family, Node) ->
    case dist_util:split_node(Node) of
        {node, Name, Host} -> element(1, epmd(address_please, [Name, Host, Family:family()])) =:= ok;
        _ -> false
    end.

gen_address(Family) ->
    {ok, Host} = inet:gethostname(),
    #net_address{host = Host, protocol = tcp, family = Family:family()}.

%% --- Listening ---

gen_listen(Family, Name, Host) ->
    case listen_on(Family, ports(Name, Host)) of
        {ok, Socket} ->
            {ok, {_, Port} = At} = inet:sockname(Socket),
            case (net_kernel:epmd_module()):register_node(Name, Port, Family) of
                {ok, Creation} -> {ok, {Socket, (gen_address(Family))#net_address{address = At}, Creation}};
                Error ->
                    Family:close(Socket),
                    Error
            end;
        Error -> Error
    end.

%% First and last of the ports to try; 0: any.
ports(Name, Host) ->
    case epmd(listen_port_please, [Name, Host]) of
        {ok, 0} ->
            case {kernel_options:get(inet_dist_listen_min, 0), kernel_options:get(inet_dist_listen_max, none)} of
                {First, Last} when is_integer(First), is_integer(Last), First > 0 -> {First, Last};
                {First, _} when is_integer(First) -> {First, First};
                _ -> {0, 0}
            end;
        {ok, Port} -> {Port, Port}
    end.

listen_on(_, {First, Last}) when First > Last -> {error, eaddrinuse};
listen_on(Family, {First, Last}) ->
    case Family:listen(First, listen_options()) of
        {error, eaddrinuse} -> listen_on(Family, {First + 1, Last});
        Other -> Other
    end.

%% What was configured counts before the defaults, what the handshake needs before that.
listen_options() ->
    Fixed = [{active, false}, {packet, 2}] ++
        case kernel_options:get(inet_dist_use_interface) of
            {ok, Address} -> [{ip, Address}];
            undefined -> []
        end,
    Configured = unless_in(Fixed, kernel_options:get(inet_dist_listen_options, [])),
    unless_in(Configured, [{reuseaddr, true}, {backlog, 128}]) ++ Configured ++ Fixed.

unless_in(Others, Options) ->
    [Option || Option <- Options, not (is_tuple(Option) andalso lists:keymember(element(1, Option), 1, Others))].

%% --- Accepting ---

gen_accept(Family, Listen) -> spawn_opt(?MODULE, accept_loop, [Family, self(), Listen], [link, {priority, max}]).

accept_loop(Family, Kernel, Listen) ->
    case Family:accept(Listen) of
        {ok, Socket} ->
            Kernel ! {accept, self(), Socket, Family:family(), tcp},
            receive
                {Kernel, controller, Owner} ->
                    case Family:controlling_process(Socket, Owner) of
                        ok -> ok;
                        {error, _} -> Family:close(Socket) % it ended meanwhile
                    end,
                    Owner ! {self(), controller};
                {Kernel, unsupported_protocol} -> exit(unsupported_protocol)
            end,
            accept_loop(Family, Kernel, Listen);
        {error, Reason} when Reason =:= econnaborted; Reason =:= emfile; Reason =:= enfile ->
            receive after 100 -> ok end, % of one connection, or until there are descriptors again
            accept_loop(Family, Kernel, Listen);
        Error -> exit(Error)
    end.

gen_accept_connection(Family, Acceptor, Socket, Own, Allowed, Timeout) ->
    spawn_opt(?MODULE, do_accept, [Family, self(), Acceptor, Socket, Own, Allowed, Timeout], dist_util:net_ticker_spawn_options()).

do_accept(Family, Kernel, Acceptor, Socket, Own, Allowed, Timeout) ->
    receive {Acceptor, controller} -> ok end,
    Timer = dist_util:start_timer(Timeout),
    is_near(Family, Socket) orelse ?shutdown(no_node),
    Hs = handshake_data(Family, Kernel, Socket, Own, Timer),
    dist_util:handshake_other_started(Hs#hs_data{
        allowed = Allowed, f_address = fun(S, Node) -> peer_address(Family, S, Node) end}).

%% With -kernel check_ip true, only nodes of our own networks may connect.
is_near(Family, Socket) -> kernel_options:get(check_ip, false) =/= true orelse is_in_own_network(Family, Socket).

is_in_own_network(Family, Socket) ->
    case {inet:peername(Socket), inet:getif(Socket)} of
        {{ok, {Peer, _}}, {ok, Interfaces}} ->
            Near = lists:any(fun({Address, _, Mask}) -> Family:mask(Mask, Peer) =:= Family:mask(Mask, Address) end, Interfaces),
            Near orelse error_logger:error_msg("** Connection attempt from disallowed IP ~w ** ~n", [Peer]),
            Near =:= true;
        _ -> false
    end.

peer_address(Family, Socket, Node) ->
    case {inet:peername(Socket), dist_util:split_node(Node)} of
        {{ok, Address}, {node, _, Host}} -> #net_address{address = Address, host = Host, protocol = tcp, family = Family:family()};
        _ -> ?shutdown(no_node)
    end.

%% --- Connecting ---

gen_setup(Family, Node, Type, Own, Names, Timeout) ->
    spawn_opt(?MODULE, do_setup, [Family, self(), Node, Type, Own, Names, Timeout], dist_util:net_ticker_spawn_options()).

do_setup(Family, Kernel, Node, Type, Own, Names, Timeout) ->
    {Name, Host} = name_and_host(Family, Node, Names),
    Timer = dist_util:start_timer(Timeout),
    {Address, Port, Version} = whereabouts(Family, Name, Host, Node),
    dist_util:reset_timer(Timer),
    case Family:connect(Address, Port, kernel_options:get(inet_dist_connect_options, []) ++ [{active, false}, {packet, 2}]) of
        {ok, Socket} ->
            At = #net_address{address = {Address, Port}, host = Host, protocol = tcp, family = Family:family()},
            Hs = handshake_data(Family, Kernel, Socket, Own, Timer),
            dist_util:handshake_we_started(Hs#hs_data{
                other_node = Node, other_version = Version, request_type = Type, f_address = fun(_, _) -> At end});
        _ -> ?shutdown(Node)
    end.

whereabouts(Family, Name, Host, Node) ->
    case epmd(address_please, [Name, Host, Family:family()]) of
        {ok, Address, Port, Version} -> {Address, Port, Version};
        {ok, Address} ->
            case (net_kernel:epmd_module()):port_please(Name, Address) of
                {port, Port, Version} -> {Address, Port, Version};
                _ -> ?shutdown(Node)
            end;
        _ -> ?shutdown(Node)
    end.

%% A host's name with a dot is long, one without is short, unless it is an address.
name_and_host(Family, Node, Names) ->
    case dist_util:split_node(Node) of
        {node, Name, Host} ->
            case {lists:member($., Host), Names} of
                {false, longnames} ->
                    case Family:parse_address(Host) of
                        {ok, _} -> ok;
                        _ -> refuse("** System running to use fully qualified hostnames **~n** Hostname ~ts is illegal **~n", [Host], Node)
                    end;
                {true, shortnames} ->
                    refuse("** System NOT running to use fully qualified hostnames **~n** Hostname ~ts is illegal **~n", [Host], Node);
                _ -> ok
            end,
            {Name, Host};
        {host, _} -> refuse("** Nodename ~p illegal, no '@' character **~n", [Node], Node);
        _ -> refuse("** Nodename ~p illegal **~n", [Node], Node)
    end.

-spec refuse(string(), [term()], node()) -> no_return().
refuse(Format, Args, Node) ->
    error_logger:error_msg(Format, Args),
    ?shutdown(Node).

%% A module in the place of erl_epmd need not have all functions.
epmd(Function, Args) ->
    Module = net_kernel:epmd_module(),
    _ = code:ensure_loaded(Module),
    case erlang:function_exported(Module, Function, length(Args)) of
        true -> apply(Module, Function, Args);
        false -> apply(erl_epmd, Function, Args)
    end.

%% --- The socket in the handshake and later ---

handshake_data(Family, Kernel, Socket, Own, Timer) ->
    #hs_data{kernel_pid = Kernel, this_node = Own, socket = Socket, timer = Timer, this_flags = 0,
             f_send = fun Family:send/2, f_recv = fun Family:recv/3,
             f_setopts_pre_nodeup = fun(S) -> inet:setopts(S, [{active, false}, {packet, 4}, nodelay()]) end,
             f_setopts_post_nodeup = fun(S) -> inet:setopts(S, [{active, true}, {deliver, port}, {packet, 4}, binary, nodelay()]) end,
             f_getll = fun inet:getll/1, mf_tick = fun(S) -> ?MODULE:tick(Family, S) end, mf_getstat = fun ?MODULE:getstat/1,
             mf_setopts = fun ?MODULE:setopts/2, mf_getopts = fun ?MODULE:getopts/2}.

nodelay() -> {nodelay, kernel_options:get(dist_nodelay, true) =/= false}.

%% An empty packet.
tick(Family, Socket) ->
    case Family:send(Socket, [], [force]) of
        {error, closed} = Error ->
            self() ! {tcp_closed, Socket},
            Error;
        Other -> Other
    end.

getstat(Socket) ->
    case inet:getstat(Socket, [recv_cnt, send_cnt, send_pend]) of
        {ok, Counts} ->
            [Received, Sent, Pending] = [proplists:get_value(Key, Counts, 0) || Key <- [recv_cnt, send_cnt, send_pend]],
            {ok, Received, Sent, Pending};
        Error -> Error
    end.

setopts(Socket, Options) ->
    case [Option || {Key, _} = Option <- Options, lists:member(Key, [active, deliver, packet])] of
        [] -> inet:setopts(Socket, Options);
        Forbidden -> {error, {badopts, Forbidden}}
    end.

getopts(Socket, Options) -> inet:getopts(Socket, Options).
