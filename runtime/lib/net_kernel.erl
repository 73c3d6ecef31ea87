%% The process that knows this node's connections: it has them made on demand (the machine asks, or connect_node/1), lets other
%% nodes in, settles who is first when two connect to each other at once, and sees connections end. The handshake and what
%% follows run in a process per connection, the owner (dist_util, dist_owner); the channel hangs on its controller, a port or
%% process, to which this process is linked.
%%
%% The table sys_dist has a #connection{} for each node that is connected or about to be. Its state:
%%   pending     the owner is at the handshake
%%   up          there is a channel
%%   up_pending  there is one, and the node has begun a new handshake: the old one must have died without our knowing
-module(net_kernel).
-behaviour(gen_server).

-export([start/1, start/2, stop/0, allow/1, allowed/0, connect_node/1, hidden_connect_node/1, disconnect/1, async_disconnect/1,
         monitor_nodes/1, monitor_nodes/2, setopts/2, getopts/2, set_net_ticktime/1, set_net_ticktime/2, get_net_ticktime/0,
         get_state/0, node_info/1, node_info/2, nodes_info/0, i/0, i/1, verbose/1]).
-export([start_link/1, longnames/0, nodename/0, connecttime/0, epmd_module/0, protocol_childspecs/0, passive_cnct/1,
         publish_on_node/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2]).

-include("net_kernel.hrl").

-define(SETUP_MS, 7000).
-define(LONGEST_SETUP_MS, 120000).
-define(TRANSITION_S, 60).

-record(kernel, {node, names, timeout,
                 ticks,                  % net_ticker's
                 owners = #{},           % of connections: pid() => node()
                 controllers = #{},      % of channels: pid() | port() => node()
                 pending_owners = #{},   % waiting for an old connection to end: pid() => node()
                 listeners = [],         % [#listener{}]
                 allowed = [], verbose = 0,
                 names_to_give = #{},    % Host => [{Node, Creation}]: had been given to nodes that have gone
                 supervisor,
                 requests = #{}}).       % to owners: monitor => who asked

%% --- Interface ---

start(Name, Options) -> net_options:start(Name, Options).
start(List) -> net_options:start(List).

stop() -> erl_distribution:stop().

allow(Nodes) -> request({allow, Nodes}).
allowed() -> request(allowed).
connect_node(Node) when is_atom(Node) -> request({connect, normal, Node}).
hidden_connect_node(Node) when is_atom(Node) -> request({connect, hidden, Node}).
passive_cnct(Node) -> request({passive, Node}) =:= true.
disconnect(Node) -> request({disconnect, Node}).
async_disconnect(Node) -> gen_server:cast(?MODULE, {async_disconnect, Node}).
longnames() -> request(longnames).
nodename() -> request(nodename).
verbose(Level) when is_integer(Level) -> request({verbose, Level}).
setopts(Node, Options) when is_atom(Node), is_list(Options) -> request({setopts, Node, Options}).
getopts(Node, Options) when is_atom(Node), is_list(Options) -> request({getopts, Node, Options}).

monitor_nodes(Flag) -> net_options:monitor_nodes(Flag).
monitor_nodes(Flag, Options) -> net_options:monitor_nodes(Flag, Options).

set_net_ticktime(Seconds) -> set_net_ticktime(Seconds, ?TRANSITION_S).
set_net_ticktime(Seconds, Transition) when is_integer(Seconds), Seconds > 0, is_integer(Transition), Transition >= 0 ->
    in_seconds(request({new_ticktime, Seconds * 1000, Transition * 1000})).
get_net_ticktime() -> in_seconds(request(ticktime)).

in_seconds({Ongoing, Ms}) -> {Ongoing, Ms div 1000};
in_seconds(Ms) when is_integer(Ms) -> Ms div 1000;
in_seconds(Word) -> Word.

get_state() ->
    case request(get_state) of
        ignored -> #{started => no};
        State -> State
    end.

node_info(Node) -> net_info:node_info(Node).
node_info(Node, Key) -> net_info:node_info(Node, Key).
nodes_info() -> net_info:nodes_info().
i() -> net_info:print().
i(Node) -> net_info:print(Node).

epmd_module() ->
    case init:get_argument(epmd_module) of
        {ok, [[Name | _] | _]} -> list_to_atom(Name);
        _ -> erl_epmd
    end.

protocol_childspecs() -> net_listeners:childspecs().

connecttime() ->
    case kernel_options:get(net_setuptime) of
        {ok, Seconds} when is_number(Seconds), Seconds > 0 -> min(round(Seconds * 1000), ?LONGEST_SETUP_MS);
        _ -> ?SETUP_MS
    end.

%% Whether the node may tell of this one to others.
publish_on_node(Node) when is_atom(Node) -> persistent_term:get({?MODULE, publish_type}, hidden) =:= normal.

%% ignored: this is no node. A node that is named by others is none for moments, while it gets its next name.
request(Request) ->
    try gen_server:call(?MODULE, Request, infinity)
    catch exit:{Reason, _} when Reason =:= noproc; Reason =:= shutdown; Reason =:= killed; Reason =:= normal ->
        case net_listeners:is_named_by_others() of
            true ->
                receive after 100 -> ok end,
                request(Request);
            false -> ignored
        end
    end.

%% --- The process ---

start_link(Options) ->
    case gen_server:start_link({local, ?MODULE}, ?MODULE, net_options:complete(Options), []) of
        {ok, Pid} -> {ok, Pid};
        {error, {already_started, Pid}} -> {ok, Pid};
        _ -> exit(nodistribution)
    end.

init(#{name := Name, name_domain := Names, hidden := Hidden, supervisor := Supervisor} = Options) ->
    process_flag(trap_exit, true),
    persistent_term:put({?MODULE, publish_type}, case Hidden of true -> hidden; false -> normal end),
    case net_listeners:start(Name, Names, Options) of
        {ok, Node, Listeners} ->
            process_flag(priority, max),
            sys_dist = ets:new(sys_dist, [named_table, protected, {keypos, #connection.node}]),
            {ok, #kernel{node = Node, names = Names, timeout = connecttime(), ticks = net_ticker:start(Options), listeners = Listeners,
                         supervisor = Supervisor}};
        Error ->
            forget_name(),
            {stop, Error}
    end.

terminate(_, #kernel{supervisor = Supervisor} = K) ->
    is_tuple(Supervisor) orelse forget_name(),
    lists:foreach(fun(#listener{socket = Socket, module = Module}) -> Socket =:= undefined orelse Module:close(Socket) end, K#kernel.listeners).

forget_name() ->
    persistent_term:erase({?MODULE, publish_type}),
    net_listeners:named_by_others(false).

handle_call({connect, _, Node}, From, K) when Node =:= node() -> answer(From, true, K);
handle_call({connect, _, _}, _, #kernel{supervisor = {restarting, _}} = K) -> {noreply, K};
handle_call({connect, Type, Node}, From, K) ->
    report({connect, Type, Node}, K),
    connecting(Node, From, K, fun(Id) -> connect(ets:lookup(sys_dist, Node), Node, Id, Type, From, K) end);
handle_call({passive, Node}, From, K) when Node =:= node() -> answer(From, true, K);
handle_call({passive, Node}, From, K) ->
    case ets:lookup(sys_dist, Node) of
        [#barred{}] ->
            spawn(fun() -> answer(From, comes_up(Node), K) end),
            {noreply, K};
        Known -> connecting(Node, From, K, fun(Id) -> auto_connect(Known, Node, Id, From, K) end)
    end;
handle_call({disconnect, Node}, From, K) ->
    report({disconnect, Node}, K),
    {Answer, K1} = cut(Node, K),
    answer(From, Answer, K1);
handle_call({allow, Nodes}, From, #kernel{allowed = Allowed} = K) ->
    case is_list(Nodes) andalso lists:all(fun erlang:is_atom/1, Nodes) of
        true -> answer(From, ok, K#kernel{allowed = Allowed ++ Nodes});
        false -> answer(From, error, K)
    end;
handle_call(allowed, From, K) -> answer(From, {ok, K#kernel.allowed}, K);
handle_call({is_auth, _}, From, K) -> answer(From, yes, K); % of net_adm:ping/1: what gets here has shown its cookie
handle_call(longnames, From, K) -> answer(From, K#kernel.names =:= longnames, K);
handle_call(nodename, From, K) -> answer(From, K#kernel.node, K);
handle_call({verbose, Level}, From, K) -> answer(From, K#kernel.verbose, K#kernel{verbose = Level});
handle_call(ticktime, From, K) -> answer(From, net_ticker:time(K#kernel.ticks), K);
handle_call({new_ticktime, Ms, Transition}, From, K) ->
    {Answer, Ticks} = net_ticker:change(Ms, Transition, K#kernel.ticks),
    answer(From, Answer, K#kernel{ticks = Ticks});
handle_call({setopts, new, Options}, From, K) ->
    case net_listeners:setopts(Options, K#kernel.listeners) of
        ok ->
            Owners = [case State of pending -> Owner; up_pending -> Pending end
                      || #connection{state = State, owner = Owner, pending_owner = Pending} <- ets:tab2list(sys_dist), State =/= up],
            lists:foreach(fun(Owner) -> Owner ! {self(), make_ref(), {setopts, Options}} end, Owners),
            answer(From, ok, K);
        Error -> answer(From, Error, K)
    end;
handle_call({Operation, Node, Options}, From, K) when Operation =:= setopts; Operation =:= getopts ->
    case ets:lookup(sys_dist, Node) of
        [#connection{state = up, owner = Owner}] ->
            Monitor = monitor(process, Owner),
            Owner ! {self(), Monitor, {Operation, Options}},
            {noreply, K#kernel{requests = (K#kernel.requests)#{Monitor => From}}};
        _ -> answer(From, {error, noconnection}, K)
    end;
handle_call(get_state, From, K) ->
    ByOthers = net_listeners:is_named_by_others(),
    answer(From, #{started => case K#kernel.supervisor of net_sup -> static; _ -> dynamic end,
                   name_type => case ByOthers of true -> dynamic; false -> static end,
                   name => case node() of nonode@nohost when ByOthers -> undefined; Node -> Node end,
                   name_domain => K#kernel.names}, K);
handle_call(_, _, K) -> {noreply, K}.

%% The caller may be on a node that takes nothing at present; this process waits for nobody.
answer({Pid, Tag}, Answer, K) ->
    Message = {Tag, Answer},
    try erlang:send(Pid, Message, [nosuspend, noconnect]) of
        nosuspend -> spawn(fun() -> catch erlang:send(Pid, Message, [noconnect]) end);
        _ -> ok
    catch _:_ -> ok
    end,
    {noreply, K}.

handle_cast({async_disconnect, Node}, K) ->
    case ets:lookup(sys_dist, Node) of
        [#connection{state = State, controller = Controller}] when State =/= pending -> exit(Controller, disconnect);
        _ -> ok
    end,
    {noreply, K};
handle_cast(_, K) -> {noreply, K}.

handle_info({auto_connect, Node, Id}, K) ->
    report({auto_connect, Node, Id}, K),
    case auto_connect(ets:lookup(sys_dist, Node), Node, Id, none, K) of
        {false, K1} ->
            erts_internal:abort_pending_connection(Node, Id),
            {noreply, K1};
        {_, K1} -> {noreply, K1}
    end;
handle_info({accept, Acceptor, Socket, Family, Protocol}, K) ->
    case net_listeners:module_for(Family, Protocol, K#kernel.listeners) of
        {ok, Module} ->
            Owner = Module:accept_connection(Acceptor, Socket, K#kernel.node, K#kernel.allowed, K#kernel.timeout),
            Acceptor ! {self(), controller, Owner};
        error -> Acceptor ! {self(), unsupported_protocol}
    end,
    {noreply, K};
handle_info({dist_ctrlr, Controller, Node, Owner} = Message, #kernel{controllers = Controllers} = K) ->
    case ets:lookup(sys_dist, Node) of
        [#connection{state = pending, owner = Owner, controller = undefined} = C] ->
            link(Controller),
            ets:insert(sys_dist, C#connection{controller = Controller}),
            {noreply, K#kernel{controllers = Controllers#{Controller => Node}}};
        _ ->
            complain("Net kernel got ~tw~n", [Message]),
            {noreply, K}
    end;
handle_info({Owner, {nodeup, Node, Address, Type, NamedMe}}, K) ->
    case ets:lookup(sys_dist, Node) of
        [#connection{state = pending, owner = Owner, controller = Controller, waiting = Waiting} = C] when Controller =/= undefined ->
            ets:insert(sys_dist, C#connection{state = up, address = Address, waiting = [], type = Type, named_me = NamedMe}),
            Owner ! {self(), inserted, net_ticker:intensity(K#kernel.ticks)},
            answer_all(Waiting, true, K),
            {noreply, case NamedMe of true -> K#kernel{node = node()}; false -> K end};
        _ ->
            Owner ! {self(), bad_request},
            {noreply, K}
    end;
handle_info({Owner, {accept_pending, Own, NodeOrHost, Type}}, K) ->
    {Named, K1} = name_of(NodeOrHost, K),
    {Answer, K2} = let_in(Owner, Own, Named, Type, K1),
    Owner ! {self(), {accept_pending, Answer}},
    {noreply, K2};
handle_info({Owner, {is_pending, Node}}, #kernel{owners = Owners} = K) ->
    Owner ! {self(), {is_pending, maps:get(Owner, Owners, none) =:= Node}},
    {noreply, K};
handle_info({Owner, {wait_pending, Node}}, K) ->
    case ets:lookup(sys_dist, Node) of
        [#connection{state = up_pending, controller = Old, pending_owner = Owner}] -> exit(Old, wait_pending);
        _ -> ok
    end,
    {noreply, K};
handle_info({Monitor, Answer}, #kernel{requests = Requests} = K) when is_map_key(Monitor, Requests) ->
    demonitor(Monitor, [flush]),
    answer(map_get(Monitor, Requests), Answer, K#kernel{requests = maps:remove(Monitor, Requests)});
handle_info({'DOWN', Monitor, process, _, _}, #kernel{requests = Requests} = K) when is_map_key(Monitor, Requests) ->
    answer(map_get(Monitor, Requests), {error, noconnection}, K#kernel{requests = maps:remove(Monitor, Requests)});
handle_info({Ref, ok}, K) when is_reference(Ref) -> {noreply, K}; % options of pending connections: nobody waits
handle_info(Tick, #kernel{owners = Owners} = K) when Tick =:= tick; Tick =:= aux_tick ->
    maps:foreach(fun(Owner, _) -> Owner ! {self(), Tick} end, Owners),
    {noreply, K};
handle_info(transition_period_end, K) -> {noreply, K#kernel{ticks = net_ticker:changed(K#kernel.ticks)}};
handle_info({'EXIT', From, Reason} = Exit, K) ->
    report(Exit, K),
    ended(From, Reason, K);
handle_info(Message, K) ->
    complain("Net kernel got ~tw~n", [Message]),
    {noreply, K}.

%% --- Connecting ---

%% Answers at once, or when Connect(Id), which is one of the functions below, has led to something.
connecting(Node, From, K, Connect) ->
    try erts_internal:new_connection(Node) of
        Id ->
            case Connect(Id) of
                {pending, K1} -> {noreply, K1};
                {true, K1} -> answer(From, true, K1);
                {false, K1} ->
                    erts_internal:abort_pending_connection(Node, Id),
                    answer(From, false, K1)
            end
    catch error:_ ->
        complain("~n** Cannot get connection id for node ~w~n", [Node]),
        answer(From, false, K)
    end.

%% {pending, K}: it will be answered; {true, K}; {false, K}: cannot be.
connect([#connection{id = Id, state = up}], _, Id, _, _, K) -> {true, K};
connect([#connection{id = Id, waiting = Waiting} = C], _, Id, _, From, K) ->
    ets:insert(sys_dist, C#connection{waiting = [From || From =/= none] ++ Waiting}),
    {pending, K};
connect(_, Node, Id, Type, From, K) ->
    case listener_for(Node, K) of
        {ok, #listener{module = Module, address = Address}} ->
            Owner = Module:setup(Node, Type, K#kernel.node, K#kernel.names, K#kernel.timeout),
            ets:insert(sys_dist, #connection{node = Node, id = Id, state = pending, owner = Owner, type = normal, name_type = static,
                                             address = net_listeners:without_place(Address), waiting = [From || From =/= none]}),
            {pending, K#kernel{owners = (K#kernel.owners)#{Owner => Node}}};
        error -> {false, K}
    end.

listener_for(Node, #kernel{allowed = Allowed, listeners = Listeners}) ->
    case Allowed =:= [] orelse lists:member(Node, Allowed) of
        true -> net_listeners:select(Node, Listeners);
        false ->
            complain("** Connection attempt with disallowed node ~w ** ~n", [Node]),
            error
    end.

%% On demand: of the machine, or of who would rather be connected to. -kernel dist_auto_connect never: only connect_node/1
%% connects; once: nor again by itself.
auto_connect([#barred{}], _, _, _, K) -> {false, K};
auto_connect([#connection{id = Id}] = Known, Node, Id, From, K) -> connect(Known, Node, Id, normal, From, K);
auto_connect(Known, Node, Id, From, K) ->
    case {kernel_options:get(dist_auto_connect), Known} of
        {{ok, never}, _} -> {false, K};
        {{ok, once}, [#connection{state = up}]} -> {false, K}; % it has just gone, and we shall hear of it
        _ -> connect(Known, Node, Id, normal, From, K)
    end.

%% Whether a node that we do not connect to connects to us, within the time that a connection may take.
comes_up(Node) ->
    ok = monitor_nodes(true, [{node_type, all}]),
    lists:member(Node, nodes(connected)) orelse
        receive {nodeup, Node, _} -> true
        after connecttime() -> false
        end.

%% --- Being connected to ---

%% A node that has only a host gets a name of ours: one that was given before, with the next creation, or a new one.
name_of(Node, K) when is_atom(Node) -> {{static, Node, undefined}, K};
name_of(Host, #kernel{names_to_give = Given} = K) ->
    {Node, Creation, K1} = case Given of
                               #{Host := [{Old, Next} | Rest]} -> {Old, Next, K#kernel{names_to_give = Given#{Host := Rest}}};
                               _ ->
                                   Name = integer_to_list(os_random:integer(64), 36),
                                   {list_to_atom(Name ++ "@" ++ Host), net_listeners:creation(), K}
                           end,
    case ets:member(sys_dist, Node) of
        true -> name_of(Host, K1);
        false -> {{dynamic, Node, Creation}, K1}
    end.

let_in(Owner, Own, {NameType, Node, Creation}, Type, #kernel{owners = Owners} = K) ->
    case ets:lookup(sys_dist, Node) of
        [#connection{state = pending}] when Own > Node -> {nok_pending, K}; % both connect: that of the greater name goes on
        [#connection{state = pending, owner = Old} = C] ->
            end_owner(Old, Owners),
            ets:insert(sys_dist, C#connection{owner = Owner}),
            {ok_pending, K#kernel{owners = (maps:remove(Old, Owners))#{Owner => Node}}};
        [#connection{state = up} = C] ->
            ets:insert(sys_dist, C#connection{state = up_pending, pending_owner = Owner}),
            {up_pending, K#kernel{pending_owners = (K#kernel.pending_owners)#{Owner => Node}}};
        [#connection{state = up_pending}] -> {already_pending, K};
        _ ->
            try erts_internal:new_connection(Node) of
                Id ->
                    ets:insert(sys_dist, #connection{node = Node, id = Id, state = pending, owner = Owner, type = Type,
                                                     name_type = NameType, creation = Creation}),
                    {case NameType of static -> ok; dynamic -> {ok, Node, Creation} end, K#kernel{owners = Owners#{Owner => Node}}}
            catch error:_ ->
                complain("~n** Cannot get connection id for node ~w~n", [Node]),
                {nok_pending, K}
            end
    end.

end_owner(Owner, Owners) when is_map_key(Owner, Owners) ->
    exit(Owner, remarked),
    receive {'EXIT', Owner, _} -> ok end;
end_owner(_, _) -> ok. % it has ended

%% --- Ends ---

cut(Node, K) ->
    case ets:lookup(sys_dist, Node) of
        [#connection{state = State, controller = Controller}] when State =/= pending ->
            exit(Controller, disconnect),
            receive {'EXIT', Controller, Reason} ->
                {_, K1} = ended(Controller, Reason, K),
                {true, K1}
            end;
        _ -> {false, K}
    end.

ended(From, _, #kernel{owners = Owners} = K) when is_map_key(From, Owners) ->
    {noreply, owner_ended(ets:lookup(sys_dist, map_get(From, Owners)), From, K#kernel{owners = maps:remove(From, Owners)})};
ended(From, _, #kernel{controllers = Controllers} = K) when is_map_key(From, Controllers) ->
    {noreply, controller_ended(ets:lookup(sys_dist, map_get(From, Controllers)), From, K#kernel{controllers = maps:remove(From, Controllers)})};
ended(From, _, #kernel{pending_owners = Pending} = K) when is_map_key(From, Pending) ->
    case ets:lookup(sys_dist, map_get(From, Pending)) of
        [#connection{state = up_pending, waiting = Waiting} = C] ->
            answer_all(Waiting, true, K),
            ets:insert(sys_dist, C#connection{state = up, waiting = [], pending_owner = undefined});
        _ -> ok
    end,
    {noreply, K#kernel{pending_owners = maps:remove(From, Pending)}};
ended(From, _, #kernel{supervisor = {restarting, From}} = K) ->
    complain("** Distribution restart failed, net_kernel terminating... **\n", []),
    {stop, restarter_exit, K};
ended(From, Reason, #kernel{listeners = Listeners} = K) ->
    case net_listeners:ended(From, Listeners) of
        listen ->
            complain("** Netkernel terminating ... **\n", []),
            {stop, no_network, K};
        {ok, Restarted} -> {noreply, K#kernel{listeners = Restarted}};
        unknown -> {noreply, K#kernel{ticks = net_ticker:ended(From, Reason, K#kernel.ticks)}}
    end.

%% Its controller follows, if there is one.
owner_ended([#connection{state = pending, owner = Owner, node = Node, id = Id, waiting = Waiting} = C], Owner, K) ->
    case erts_internal:abort_pending_connection(Node, Id) of
        true ->
            answer_all(Waiting, false, K),
            forget(C, false, K);
        false -> K % it has come up, and its controller will end
    end;
owner_ended(_, _, K) -> K.

controller_ended([#connection{state = up_pending, controller = Controller, node = Node, pending_owner = Next, owner = Owner} = C], Controller, K) ->
    ets:insert(sys_dist, C#connection{state = pending, id = erts_internal:new_connection(Node), owner = Next, pending_owner = undefined,
                                      controller = undefined}),
    Next ! {self(), pending},
    K#kernel{owners = (maps:remove(Owner, K#kernel.owners))#{Next => Node}, pending_owners = maps:remove(Next, K#kernel.pending_owners)};
controller_ended([#connection{controller = Controller, owner = Owner, waiting = Waiting} = C], Controller, K) ->
    answer_all(Waiting, true, K), % it has been up
    forget(C, true, K#kernel{owners = maps:remove(Owner, K#kernel.owners)});
controller_ended(_, _, K) -> K.

answer_all(Waiting, Answer, K) -> lists:foreach(fun(From) -> answer(From, Answer, K) end, lists:reverse(Waiting)).

%% WasUp: for dist_auto_connect once.
forget(#connection{named_me = true}, _, K) -> K#kernel{supervisor = {restarting, erl_distribution:restart(K#kernel.supervisor)}};
forget(#connection{node = Node, name_type = NameType, creation = Creation}, WasUp, K) ->
    report({nodedown, Node}, K),
    case WasUp andalso kernel_options:get(dist_auto_connect) =:= {ok, once} of
        true -> ets:insert(sys_dist, #barred{node = Node});
        false -> ets:delete(sys_dist, Node)
    end,
    case NameType of
        dynamic -> name_free_again(Node, net_listeners:next_creation(Creation), K);
        static -> K
    end.

name_free_again(Node, Creation, #kernel{names_to_give = Given} = K) ->
    {node, _, Host} = dist_util:split_node(Node),
    K#kernel{names_to_give = Given#{Host => [{Node, Creation} | maps:get(Host, Given, [])]}}.

report(_, #kernel{verbose = 0}) -> ok;
report(Term, _) -> error_logger:info_report({?MODULE, Term}).

complain(Format, Args) -> error_logger:error_msg(Format, Args).
