%% What two nodes do with each other, from the side that begins. Each case is a function of the other node's
%% name; what it asserts, it matches. The same cases run on vmrun and on a stock erl, against either.
-module(cases).
-export([main/1, start/0, later/1, sum/1]).
-compile(export_all).
-compile(nowarn_export_all).

-define(PATIENCE, (1000 * list_to_integer(os:getenv("PATIENCE_S", "20")))).  % milliseconds

start() -> main(init:get_plain_arguments()).

main([Peer | Names]) ->
    Node = list_to_atom(Peer),
    Cases = case Names of
                [] -> [Name || {Name, 1} <- ?MODULE:module_info(exports),
                    lists:prefix("case_", atom_to_list(Name))];
                _ -> [list_to_atom("case_" ++ Name) || Name <- Names]
            end,
    Failed = lists:append([run(Name, Node) || Name <- lists:sort(Cases)]),
    io:format("~b cases, ~b failed~n", [length(Cases), length(Failed)]),
    halt(length(Failed)).

%% Each in a process of its own, so that none finds another's messages.
run(Name, Node) ->
    {Pid, Monitor} = spawn_monitor(?MODULE, Name, [Node]),
    receive
        {'DOWN', Monitor, _, _, normal} -> [];
        {'DOWN', Monitor, _, _, Reason} ->
            io:format("~s: ~p~n", [Name, Reason]),
            [Name]
    after ?PATIENCE ->
        io:format("~s: no end; ~p~n", [Name, process_info(Pid, [current_stacktrace, messages])]),
        exit(Pid, kill),
        [Name]
    end.

next() -> receive Message -> Message after ?PATIENCE div 2 -> error(nothing_came) end.

%% --- Connecting ---

case_ping(Peer) ->
    pong = net_adm:ping(Peer),
    true = lists:member(Peer, nodes()),
    pang = net_adm:ping('nobody@localhost'),
    pong = net_adm:ping(node()),
    true = net_kernel:connect_node(Peer).

%% Nodes that are not there, and that nothing refers to any more, are not known for long.
case_nobody_is_forgotten(_Peer) ->
    #{level := Level} = logger:get_primary_config(),
    ok = logger:set_primary_config(level, none),  % a warning tells of it
    Before = erts_debug:set_internal_state(available_internal_state, true),
    ok = erts_debug:set_internal_state(node_tab_delayed_delete, 0),
    Nobody = [list_to_atom("nobody" ++ integer_to_list(N) ++ "@localhost") || N <- lists:seq(1, 20)],
    [{somebody, Node} ! hello || Node <- Nobody],
    [false = net_kernel:connect_node(Node) || Node <- Nobody],
    forgotten(Nobody),
    ok = erts_debug:set_internal_state(node_tab_delayed_delete, -1),
    erts_debug:set_internal_state(available_internal_state, Before =:= true),
    ok = logger:set_primary_config(level, Level).

forgotten(Nodes) ->
    [garbage_collect(Pid) || Pid <- processes()],  % net_kernel's handles, for one
    Known = nodes(known),
    case [Node || Node <- Nodes, lists:member(Node, Known)] of
        [] -> ok;
        _ -> receive after 1 -> forgotten(Nodes) end
    end.

case_names(Peer) ->
    {ok, Names} = net_adm:names(localhost),
    [Short, _] = string:split(atom_to_list(Peer), "@"),
    {_, Port} = lists:keyfind(Short, 1, Names),
    true = is_integer(Port).

case_node_info(Peer) ->
    pong = net_adm:ping(Peer),
    {ok, up} = net_kernel:node_info(Peer, state),
    {ok, normal} = net_kernel:node_info(Peer, type),
    {ok, In} = net_kernel:node_info(Peer, in),
    true = In > 0,
    {ok, Owner} = net_kernel:node_info(Peer, owner),
    true = is_pid(Owner),
    {error, bad_node} = net_kernel:node_info(nobody@localhost).

case_disconnect_and_back(Peer) ->
    pong = net_adm:ping(Peer),
    ok = net_kernel:monitor_nodes(true, [nodedown_reason]),
    true = monitor_node(Peer, true),
    true = erlang:disconnect_node(Peer),
    {nodedown, Peer, [{nodedown_reason, disconnect}]} = receive {nodedown, _, _} = Down ->
        Down after ?PATIENCE -> none end,
    {nodedown, Peer} = next(),
    pong = net_adm:ping(Peer),
    {nodeup, Peer, []} = next(),
    ok = net_kernel:monitor_nodes(false, [nodedown_reason]).

case_unknown_node(_) ->
    {echo, 'nobody@localhost'} ! lost,
    true = monitor_node('nobody@localhost', true),
    {nodedown, 'nobody@localhost'} = next(),
    Ref = monitor(process, {echo, 'nobody@localhost'}),
    {'DOWN', Ref, process, {echo, 'nobody@localhost'}, noconnection} = next(),
    process_flag(trap_exit, true),
    Pid = spawn_link('nobody@localhost', erlang, node, []),
    {'EXIT', Pid, noconnection} = next().

case_cookie(Peer) ->
    Own = erlang:get_cookie(),
    Own = rpc:call(Peer, erlang, get_cookie, []),
    true = erlang:set_cookie(other@localhost, for_other),
    for_other = erlang:get_cookie(other@localhost),
    Own = erlang:get_cookie(Peer).

%% --- Messages ---

case_registered_send(Peer) ->
    {echo, Peer} ! {self(), hello},
    {Echo, hello} = next(),
    Peer = node(Echo),
    Echo ! {self(), again},
    {Echo, again} = next(),
    {nobody_here, Peer} ! lost,
    ok = erlang:send({echo, Peer}, {self(), third}, [noconnect, nosuspend]),
    {Echo, third} = next().

case_terms(Peer) ->
    Terms = [0, -1, 1 bsl 59, -(1 bsl 200), 1.5, -0.0, a, 'näme', 'ロゴ', [], [a | b], "text",
        lists:seq(1, 300), {}, {1, {2}},
             <<>>, <<1, 2, 3>>, <<5:3>>, binary:copy(<<"x">>, 100), binary:part(binary:copy(<<"y">>, 1000),
                 10, 500), #{},
             #{a => 1, "b" => [2]}, maps:from_list([{N, N * N} || N <- lists:seq(1, 100)]), self(),
             make_ref(), node(), Peer,
             fun erlang:abs/1, list_to_tuple(lists:seq(1, 300)), monitor(process, self()),
             hd(erlang:ports())],
    {echo, Peer} ! {self(), first},
    {Echo, first} = next(),
    lists:foreach(fun(Term) ->
                          Echo ! {self(), Term},
                          {Echo, Same} = next(),
                          {true, _} = {Same =:= Term, Term}
                  end, [Echo, Terms | Terms]).

case_many_in_order(Peer) ->
    {echo, Peer} ! {self(), first},
    {Echo, first} = next(),
    Numbers = lists:seq(1, 20000),
    lists:foreach(fun(N) -> Echo ! {self(), N} end, Numbers),
    lists:foreach(fun(N) -> {Echo, N} = receive {Echo, _} = M -> M after ?PATIENCE -> none end end, Numbers).

%% Small messages of others pass large ones.
case_large(Peer) ->
    Large = binary:copy(<<"0123456789">>, 3000000),
    Ref = make_ref(),
    {echo, Peer} ! {self(), Ref, size, Large},
    {Ref, 30000000} = next(),
    {echo, Peer} ! {self(), Ref, size, [Large, binary_to_list(binary:part(Large, 0, 1000000))]},
    {Ref, 31000000} = next().

%% What a process is called with may be large; messages to it come behind that.
case_large_arguments(Peer) ->
    Self = self(),
    Large = lists:seq(1, 300000),
    Pid = spawn(Peer, ?MODULE, sum_when_told, [Self, Large]),
    Pid ! {go, Self},
    {Pid, Sum} = next(),
    Sum = lists:sum(Large),
    {Called, Ref} = spawn_monitor(Peer, lists, nosuch, [Large]),
    {'DOWN', Ref, process, Called, {undef, [{lists, nosuch, [Large], []} | _]}} = next(),
    Large = rpc:call(Peer, lists, reverse, [lists:reverse(Large)]).

sum_when_told(To, Numbers) -> receive {go, To} -> To ! {self(), lists:sum(Numbers)} end.

%% Signals with large reasons keep their place among the messages of the same sender, and do what others do.
case_large_reasons(Peer) ->
    process_flag(trap_exit, true),
    Self = self(),
    Reason = {large, lists:seq(1, 300000)},
    Victim = spawn_link(fun() -> receive never -> ok end end),
    Pid = spawn(Peer, fun() ->
                              receive go -> ok end,
                              Self ! before,
                              exit(Self, Reason),
                              Self ! between,
                              exit(Victim, Reason),
                              exit(Reason)
                      end),
    link(Pid),
    Ref = monitor(process, Pid, [{alias, demonitor}]),
    Tagged = monitor(process, Pid, [{tag, {tag, self()}}]),
    Pid ! go,
    before = next(),
    {'EXIT', Pid, Reason} = next(),
    between = next(),
    Ends = [{'DOWN', Ref, process, Pid, Reason}, {'EXIT', Pid, Reason}, {'EXIT', Victim, Reason},
        {{tag, Self}, Tagged, process, Pid, Reason}],
    true = lists:sort(Ends) =:= lists:sort([next() || _ <- Ends]).

case_both_directions(Peer) ->
    Self = self(),
    Size = 2000000,
    Pids = [spawn(Peer, fun() -> receive {From, Bytes} -> From ! {self(), Bytes} end end)
        || _ <- lists:seq(1, 5)],
    lists:foreach(fun(Pid) -> Pid ! {Self, binary:copy(<<"z">>, Size)} end, Pids),
    lists:foreach(fun(Pid) -> Size = receive {Pid, Bytes} -> byte_size(Bytes) after ?PATIENCE -> none end end,
        Pids).

case_alias(Peer) ->
    Alias = alias([reply]),
    Pid = spawn(Peer, fun() -> receive {go, A} -> A ! first, A ! second end end),
    Pid ! {go, Alias},
    first = next(),
    nothing = receive Other -> Other after 200 -> nothing end.

case_group_call(Peer) ->
    Pid = spawn(Peer, ?MODULE, server, []),
    Ref = monitor(process, Pid, [{alias, reply_demonitor}]),
    Pid ! {Ref, self(), 7},
    {Ref, {reply, 7}} = next().

server() -> receive {Ref, _, N} -> Ref ! {Ref, {reply, N}} end.

%% --- Processes ---

%% Processes that others have spawned are new ones too.
case_spawned_is_traced(Peer) ->
    Self = self(),
    Tracer = spawn_link(Peer, fun() -> erlang:trace(new, true, [procs]), Self ! ready, pass_on(Self) end),
    ready = next(),
    Large = binary:copy(<<"large">>, 20000),
    {Pid, _} = spawn_opt(Peer, ?MODULE, passed_by, [Self, Large], [link, monitor]),
    {'DOWN', _, process, Pid, normal} = next_of('DOWN'),
    {trace, Pid, spawned, Self, {_, _, [{?MODULE, passed_by, 2}]}} = next_of(Pid),
    {trace, Pid, getting_linked, Self} = next_of(Pid),
    {trace, Pid, exit, normal} = next_of(Pid),
    Tracer ! stop,
    stopped = next_of(stopped).

passed_by(_, _) -> ok.
pass_on(To) ->
    receive
        stop ->
            erlang:trace(new, false, [all]),
            To ! stopped;
        Event ->
            To ! Event,
            pass_on(To)
    end.
%% The next message that is that, or is about it.
next_of(What) ->
    receive
        What -> What;
        Message when is_tuple(Message), element(1, Message) =:= What; is_tuple(Message), element(2, Message)
            =:= What -> Message
    after ?PATIENCE div 2 -> error({nothing_came, What})
    end.

case_spawn(Peer) ->
    Self = self(),
    Pid = spawn(Peer, fun() -> Self ! {self(), node()} end),
    {Pid, Peer} = next(),
    Pid2 = spawn(Peer, ?MODULE, later, [Self]),
    {Pid2, later, Peer} = next(),
    Peer = node(Pid2).

later(To) -> To ! {self(), later, node()}.

case_spawn_link(Peer) ->
    process_flag(trap_exit, true),
    Pid = spawn_link(Peer, erlang, exit, [because]),
    {'EXIT', Pid, because} = next(),
    Pid2 = spawn_link(Peer, timer, sleep, [infinity]),
    exit(Pid2, kill),
    {'EXIT', Pid2, killed} = next().

case_spawn_monitor(Peer) ->
    {Pid, Ref} = spawn_monitor(Peer, erlang, exit, [{why, [1, 2, 3]}]),
    {'DOWN', Ref, process, Pid, {why, [1, 2, 3]}} = next(),
    {Pid2, Ref2} = spawn_opt(Peer, timer, sleep, [infinity], [monitor, {priority, high}]),
    {priority, high} = rpc:call(Peer, erlang, process_info, [Pid2, priority]),
    exit(Pid2, stop),
    {'DOWN', Ref2, process, Pid2, stop} = next().

%% More arguments than a function has: the answer says so, and the connection stays. (Of OTP's node, the
%% process fails.)
case_spawn_too_many_arguments(Peer) ->
    Id = spawn_request(Peer, erlang, node, lists:duplicate(300, x), [monitor]),
    case receive {spawn_reply, Id, _, _} = Reply -> Reply end of
        {spawn_reply, Id, error, system_limit} -> ok;
        {spawn_reply, Id, ok, Pid} -> receive {'DOWN', Id, process, Pid, {undef, _}} -> ok end
    end,
    true = lists:member(Peer, nodes()).

%% The token goes with the request and with the answer, and each is an event on both sides.
case_spawn_with_token(Peer) ->
    Self = self(),
    Traced = fun(Spawn) ->
                 seq_trace:set_token(label, 17),
                 [seq_trace:set_token(What, true) || What <- [send, 'receive']],
                 seq_trace:set_token(serial, {100, 100}),
                 Result = Spawn(),
                 Token = seq_trace:get_token(),
                 seq_trace:set_token([]),
                 {Result, Token}
             end,
    seq_trace:set_system_tracer(spawn_link(?MODULE, forward, [Self])),
    erpc:call(Peer, seq_trace, set_system_tracer, [spawn_link(Peer, ?MODULE, forward, [Self])]),
    Leader = group_leader(),
    {{Pid, Ref}, {3, 17, 102, Pid, 101}} = Traced(fun() -> spawn_monitor(Peer, ?MODULE, tell_token, [Self])
        end),
    receive {Pid, Token} -> {3, 17, 102, Self, 100} = Token end,
    receive {'DOWN', Ref, _, _, normal} -> ok end,
    Request = {spawn_request, Ref, Self, Leader, {?MODULE, tell_token, 1}, [monitor]},
    Reply = {spawn_reply, Ref, ok, Pid},
    [{send, {100, 101}, Self, Peer, Request}, {send, {100, 102}, Self, Peer, [Self]},
        {'receive', {101, 102}, Pid, Self, Reply},
     {'receive', {102, 103}, Pid, Self, {Pid, _}}] = seen(node(), 4),
    [{'receive', {100, 101}, Self, Pid, Request}, {send, {101, 102}, Pid, Self, Reply},
        {'receive', {100, 102}, Self, Pid, [Self]},
     {send, {102, 103}, Pid, Self, {Pid, _}}] = seen(Peer, 4),
    %% Where there is no process the node answers.
    {{Bad, {spawn_reply, Bad, error, badopt}}, {3, 17, 102, Peer, 101}} =
        Traced(fun() -> Id = spawn_request(Peer, ?MODULE, tell_token, [Self], [odd]), {Id, reply(Id)} end),
    [_, _, {'receive', {101, 102}, Peer, Self, {spawn_reply, Bad, error, badopt}}] = seen(node(), 3),
    [{'receive', {100, 101}, Self, Peer, {spawn_request, Bad, Self, Leader, _, [odd]}},
        {send, {101, 102}, Peer, Self, _}] = seen(Peer, 2),
    %% What the own node says leaves the token as it is.
    {{None, {spawn_reply, None, error, noconnection}}, {3, 17, 102, Self, 100}} =
        Traced(fun() -> Id = spawn_request('nobody@localhost', ?MODULE, tell_token, [Self]), {Id, reply(Id)}
            end),
    erpc:call(Peer, seq_trace, set_system_tracer, [false]),
    seq_trace:set_system_tracer(false).

%% The end of a linked process brings its token, and is shown as the message that it is there.
case_exit_with_token(Peer) ->
    Self = self(),
    seq_trace:set_system_tracer(spawn_link(?MODULE, forward, [Self])),
    erpc:call(Peer, seq_trace, set_system_tracer, [spawn_link(Peer, ?MODULE, forward, [Self])]),
    process_flag(trap_exit, true),
    Pid = spawn_link(Peer, ?MODULE, end_by, []),
    seq_trace:set_token(label, 17),
    [seq_trace:set_token(What, true) || What <- [send, 'receive']],
    Pid ! {bye, "now"},
    Exit = receive {'EXIT', Pid, {bye, "now"}} = Message -> Message end,
    {3, 17, 2, Pid, 1} = seq_trace:get_token(),
    seq_trace:set_token([]),
    process_flag(trap_exit, false),
    [{send, {0, 1}, Self, Pid, {bye, "now"}}, {'receive', {1, 2}, Pid, Self, Exit}] = seen(node(), 2),
    [{'receive', {0, 1}, Self, Pid, {bye, "now"}}, {send, {1, 2}, Pid, Self, Exit}] = seen(Peer, 2),
    erpc:call(Peer, seq_trace, set_system_tracer, [false]),
    seq_trace:set_system_tracer(false).

end_by() -> receive Why -> exit(Why) end.

reply(Id) -> receive {spawn_reply, Id, _, _} = Reply -> Reply end.

tell_token(To) -> To ! {self(), seq_trace:get_token()}.

forward(To) ->
    receive {seq_trace, 17, Event} -> To ! {seen, node(), Event} end,
    forward(To).

seen(Node, N) -> [receive {seen, Node, Event} -> Event end || _ <- lists:seq(1, N)].

case_spawn_request(Peer) ->
    Id = spawn_request(Peer, ?MODULE, later, [self()], [{reply_tag, tag}]),
    {tag, Id, ok, Pid} = receive {tag, _, _, _} = Reply -> Reply after ?PATIENCE -> none end,
    {Pid, later, Peer} = next(),
    Bad = spawn_request('nobody@localhost', ?MODULE, later, [self()]),
    {spawn_reply, Bad, error, noconnection} = next().

case_spawn_refused_options(Peer) ->
    Wrong = [[{monitor, odd}], [{monitor, [{alias, odd}]}], [{monitor, [{tag, a} | odd]}], [{odd, 1}]],
    [begin
         {badarg, Options} = {try spawn_opt(Peer, fun() -> ok end, Options) catch error:E -> E end, Options},
         Id = spawn_request(Peer, fun() -> ok end, Options),
         {{spawn_reply, Id, error, badopt}, Options} = {reply(Id), Options}
     end || Options <- Wrong].

%% What their texts say of identifiers of a node that is connected.
case_texts_of_identifiers(Peer) ->
    Pid = rpc:call(Peer, erlang, whereis, [net_kernel]),
    Ref = rpc:call(Peer, erlang, make_ref, []),
    [Port | _] = rpc:call(Peer, erlang, ports, []),
    Pid = list_to_pid(pid_to_list(Pid)),
    Ref = list_to_ref(ref_to_list(Ref)),
    Port = list_to_port(port_to_list(Port)),
    [{'EXIT', {badarg, _}} = (catch F(Text)) || {F, Text} <- [{fun list_to_pid/1, "<999999.1.0>"},
        {fun list_to_ref/1, "#Ref<999999.1.2.3>"}, {fun list_to_port/1, "#Port<999999.1>"}]],
    true = is_process_alive(self()).

case_links(Peer) ->
    Self = self(),
    Local = spawn(fun() -> receive {finish, How} -> exit(How) end end),
    spawn(Peer, other_node, linked, [Local, Self]),
    {linked, Remote} = next(),
    Peer = node(Remote),
    {links, Links} = process_info(Local, links),
    [Remote] = Links,
    Local ! {finish, {over, [self()]}},
    {exited, {over, [Self]}} = next().

case_unlink(Peer) ->
    Pid = spawn_link(Peer, timer, sleep, [infinity]),
    true = unlink(Pid),
    Ref = monitor(process, Pid),
    exit(Pid, gone),
    {'DOWN', Ref, process, Pid, gone} = next(),
    process_flag(trap_exit, true),
    true = link(Pid),
    {'EXIT', Pid, noproc} = next().

%% A process that links to another one and ends takes it with it, even if both signals reach that
%% process before it handles the first.
case_link_and_end(Peer) ->
    {Linked, _} = Suspended = suspended(),
    {_, Other} = spawn_monitor(Peer, fun() -> link(Linked), exit(over) end),
    receive {'DOWN', Other, process, _, over} -> ok after ?PATIENCE div 2 -> error(nothing_came) end,
    over = end_of_suspended(Suspended).

%% So does the end of the connection, even if there is a new one by then.
case_link_and_disconnect(Peer) ->
    Self = self(),
    {Linked, _} = Suspended = suspended(),
    Other = spawn(Peer, fun() -> link(Linked), Self ! linked, receive stop -> ok end end),
    linked = next(),
    true = erlang:disconnect_node(Peer),
    pong = net_adm:ping(Peer),
    noconnection = end_of_suspended(Suspended),
    Other ! stop.

suspended() ->
    {Pid, Monitor} = spawn_monitor(fun() -> receive stop -> ok end end),
    true = erlang:suspend_process(Pid),
    {Pid, Monitor}.

%% In OTP, exit signals end a process that is suspended.
end_of_suspended({Pid, Monitor}) ->
    try erlang:resume_process(Pid) catch error:badarg -> has_ended end,
    receive {'DOWN', Monitor, process, Pid, Reason} -> Reason
    after ?PATIENCE div 2 -> error({has_not_ended, process_info(Pid, links)}) end.

%% A link that is given up is shown so until the other side has acknowledged it.
case_unlinking_is_shown(Peer) ->
    Before = erts_debug:set_internal_state(available_internal_state, true),
    Pid = spawn(Peer, timer, sleep, [infinity]),
    unlinking_is_shown(Pid),
    erts_debug:set_internal_state(available_internal_state, Before =:= true),
    exit(Pid, kill).

%% Again if the acknowledgement has come first.
unlinking_is_shown(Pid) ->
    link(Pid),
    {Pid, linked} = shown_link(Pid),
    unlink(Pid),
    case shown_link(Pid) of
        {Pid, unlinking} -> shown_until_acknowledged(Pid);
        none -> unlinking_is_shown(Pid)
    end.

shown_until_acknowledged(Pid) ->
    case shown_link(Pid) of
        {Pid, unlinking} -> erlang:yield(), shown_until_acknowledged(Pid);
        none -> ok
    end.

shown_link(Pid) ->
    case lists:keyfind(Pid, 3, erts_debug:get_internal_state({link_list, self()})) of
        {erl_link, dist_process, Pid, State, _} -> {Pid, State};
        false -> none
    end.

%% Links and unlinks that cross on the way leave both sides of one mind. With a stock erl on a side that is
%% not asked: two of them lose a link in one of a hundred such runs.
case_links_cross(Peer) ->
    case [Node || Node <- [node(), Peer], not is_vmrun(Node)] of
        [] -> links_cross(Peer);
        Stock -> io:format("case_links_cross: not asked, ~p is a stock erl~n", [hd(Stock)])
    end.

is_vmrun(Node) -> lists:prefix("vmrun", erpc:call(Node, erlang, system_info, [system_version])).

links_cross(Peer) ->
    Self = self(),
    There = fun() -> receive {other, Here} -> link_and_unlink(Here, 100), Here ! ping, receive pong -> ok end,
        Here ! {mind, is_linked(Here)}, receive after infinity -> ok end end end,
    Here = fun() ->
                   Other = spawn(Peer, There),
                   Other ! {other, self()},
                   link_and_unlink(Other, 100),
                   receive ping -> Other ! pong end,
                   receive {mind, Linked} -> Self ! {minds, is_linked(Other), Linked} end,
                   exit(Other, kill)
           end,
    [spawn(Here) || _ <- lists:seq(1, 300)],
    Minds = [next() || _ <- lists:seq(1, 300)],
    [] = [M || {minds, OfHere, OfThere} = M <- Minds, OfHere =/= OfThere].

link_and_unlink(_, 0) -> ok;
link_and_unlink(Other, N) ->
    case rand:uniform(3) of
        1 -> link(Other);
        2 -> unlink(Other);
        3 -> erlang:yield()
    end,
    link_and_unlink(Other, N - 1).

is_linked(Other) ->
    {links, Links} = process_info(self(), links),
    lists:member(Other, Links).

case_monitors(Peer) ->
    Pid = spawn(Peer, timer, sleep, [infinity]),
    Ref = monitor(process, Pid),
    true = demonitor(Ref),
    Named = monitor(process, {echo, Peer}),
    Nobody = monitor(process, {nobody_here, Peer}),
    {'DOWN', Nobody, process, {nobody_here, Peer}, noproc} = next(),
    Tagged = monitor(process, Pid, [{tag, gone}]),
    exit(Pid, kill),
    {gone, Tagged, process, Pid, killed} = next(),
    true = demonitor(Named, [flush]),
    nothing = receive Other -> Other after 100 -> nothing end.

case_exit_signals(Peer) ->
    Self = self(),
    Pid = spawn(Peer, fun() ->
                              process_flag(trap_exit, true),
                              Self ! ready,
                              receive {'EXIT', From, Reason} -> Self ! {From, Reason} end
                      end),
    ready = next(),
    exit(Pid, {signal, "text"}),
    {Self, {signal, "text"}} = next().

case_links_break(Peer) ->
    process_flag(trap_exit, true),
    Pid = spawn_link(Peer, timer, sleep, [infinity]),
    Ref = monitor(process, Pid),
    true = erlang:disconnect_node(Peer),
    Both = lists:sort([next(), next()]),
    Both = lists:sort([{'EXIT', Pid, noconnection}, {'DOWN', Ref, process, Pid, noconnection}]),
    pong = net_adm:ping(Peer).

case_local_fun(Peer) ->
    X = length(nodes()) + 5,
    {X, Peer} = erpc:call(Peer, fun() -> {X, node()} end).

%% Its module is loaded when it is called.
case_fun_of_module_not_loaded(Peer) ->
    [begin code:delete(other_node), code:purge(other_node) end || _ <- [1, 2]],
    {_, Fun} = erpc:call(Peer, other_node, lend, [x]),
    false = erlang:module_loaded(other_node),
    {x, 1, Here} = Fun(1),
    Here = node(),
    true = erlang:module_loaded(other_node).

%% A fun knows its creator, wherever it goes. On nodes since OTP 27 that is the node's process init.
case_creator_of_fun(Peer) ->
    Here = node(),
    Self = self(),
    Kept = maps:from_list([{Node, erpc:call(Node, ?MODULE, kept_creator, [])} || Node <- [Here, Peer]]),
    %% What a fun says after its way over these nodes.
    Seen = fun(Creator, Way) ->
               {pid, lists:foldl(fun(Node, Pid) ->
                                     case Kept of
                                         #{Node := own} -> Pid;
                                         #{Node := Init} -> Init
                                     end
                                 end, Creator, Way)}
           end,
    {Creator, Fun} = erpc:call(Peer, other_node, lend, [x]),
    Peer = node(Creator),
    true = Seen(Creator, [Peer, Here]) =:= erlang:fun_info(Fun, pid),
    true = Seen(Creator, [Peer, Here]) =:= erlang:fun_info(binary_to_term(term_to_binary(Fun)), pid),
    true = Seen(Creator, [Peer, Here, Peer]) =:= erpc:call(Peer, erlang, fun_info, [Fun, pid]),
    Fun = erpc:call(Peer, erlang, hd, [[Fun]]),
    {Self, Own} = other_node:lend(y),
    true = Seen(Self, [Here, Peer]) =:= erpc:call(Peer, erlang, fun_info, [Own, pid]),
    true = Seen(Self, [Here, Peer, Here]) =:= erlang:fun_info(erpc:call(Peer, erlang, hd, [[Own]]), pid),
    true = (erts_debug:flat_size(Fun) > erts_debug:flat_size(Own)) =:= (maps:get(Here, Kept) =:= own).

%% Scripts of ours keep it.
kept_creator() ->
    {_, Fun} = other_node:lend(x),
    Own = {pid, self()},
    Init = {pid, whereis(init)},
    case {erlang:fun_info(Fun, pid), list_to_integer(erlang:system_info(otp_release)) >= 27} of
        {Own, false} -> own;
        {Own, true} -> "vmrun" ++ _ = erlang:system_info(system_version), own;
        {Init, true} -> whereis(init)
    end.

%% --- Output of the other node's processes comes here ---

case_group_leader(Peer) ->
    Self = self(),
    Leader = spawn_link(fun() -> leader(Self) end),
    group_leader(Leader, self()),
    spawn(Peer, other_node, print, ["hello"]),
    {printed, Text} = next(),
    "hello from " ++ Rest = lists:flatten(Text),
    true = Rest =:= atom_to_list(Peer) ++ "\n" orelse Rest =:= "'" ++ atom_to_list(Peer) ++ "'\n",
    io:put_chars(rpc:call(Peer, erlang, whereis, [user]), "written by another node\n").

leader(To) ->
    receive
        {io_request, From, ReplyAs, {put_chars, unicode, Chars}} ->
            To ! {printed, unicode:characters_to_list(Chars)},
            From ! {io_reply, ReplyAs, ok};
        {io_request, From, ReplyAs, {put_chars, unicode, M, F, A}} ->
            To ! {printed, unicode:characters_to_list(apply(M, F, A))},
            From ! {io_reply, ReplyAs, ok}
    end,
    leader(To).

%% Priority messages, and exit signals to aliases, which nodes since OTP 28 have. Older ones get the messages
%% as ordinary ones, and no exit signals to aliases.
case_priority(Peer) ->
    case has_priority(node()) of
        true -> priority_to(Peer, has_priority(Peer));
        false ->
            {'EXIT', {badarg, _}} = catch_of(fun() -> erlang:send({echo, Peer}, lost, [priority]) end),
            {'EXIT', {undef, _}} = catch_of(fun() -> erlang:exit(self(), normal, [priority]) end)
    end.

has_priority(Node) -> list_to_integer(erpc:call(Node, erlang, system_info, [otp_release])) >= 28.

priority_to(Peer, There) ->
    Self = self(),
    Pid = spawn(Peer, ?MODULE, priority_receiver, [Self, [priority || There]]),
    {Pid, Alias} = next(),
    Exit = fun(Why) -> {'EXIT', Self, Why} end,
    Large = lists:seq(1, 100000),
    Pid ! first,
    ok = erlang:send(Alias, p1, [priority]),
    ok = erlang:send(Alias, not_p, []),
    ok = erlang:send(Pid, by_pid, [priority]),
    ok = erlang:send({priority_receiver, Peer}, by_name, [priority]),
    ok = erlang:send(Alias, {p2, Large}, [priority, nosuspend]),
    true = erlang:exit(Pid, of_pid, [priority]),
    true = erlang:exit(Alias, ordinary, []),
    true = erlang:exit(Alias, of_alias, [priority]),
    true = erlang:exit(Alias, {large, Large}, [priority]),
    Got = received(Pid),
    Got = case There of
              true -> [p1, {p2, Large}, Exit(of_alias), Exit({large, Large}), first, not_p, by_pid, by_name,
                       Exit(of_pid), Exit(ordinary)];
              false -> [first, p1, not_p, by_pid, by_name, {p2, Large}, Exit(of_pid)]
          end,
    %% So it is with a signal that makes the connection: then it is not known yet what the node supports.
    [begin
         true = erlang:disconnect_node(Peer),
         Signal(),
         {What, Wanted} = {What, received(Pid)}
     end || {What, Signal, Wanted} <- [
         {alias, fun() -> erlang:send(Alias, p, [priority]) end, [p]},
         {pid, fun() -> erlang:send(Pid, by_pid, [priority]) end, [by_pid]},
         {name, fun() -> erlang:send({priority_receiver, Peer}, by_name, [priority]) end, [by_name]},
         {exit, fun() -> erlang:exit(Pid, of_pid, [priority]) end, [Exit(of_pid)]},
         {alias_exit, fun() -> erlang:exit(Alias, of_alias, [priority]) end, [Exit(of_alias) || There]}]],
    exit(Pid, kill),
    %% What ends there can be told in front of ordinary messages here.
    process_flag(trap_exit, true),
    Sleeper = fun(Options) -> spawn_opt(Peer, timer, sleep, [infinity], Options) end,
    {Both, B} = Sleeper([{link, [priority]}, {monitor, [priority]}]),
    Watched = Sleeper([]),
    W = monitor(process, Watched, [priority]),
    Linked = Sleeper([]),
    true = erlang:link(Linked, [priority]),
    Self ! ordinary,
    [exit(P, stop) || P <- [Both, Watched, Linked]],
    queued(5),
    Ends = [{'DOWN', B, process, Both, stop}, {'DOWN', W, process, Watched, stop}, {'EXIT', Both, stop},
            {'EXIT', Linked, stop}],
    true = lists:sort(Ends) =:= lists:sort([next() || _ <- Ends]),
    ordinary = next(),
    %% So long as an answer is awaited that brings such a monitor, there may be priority messages.
    {true, false} = {while_awaited(Peer, [priority]), may_get_priority()},
    {false, false} = {while_awaited(Peer, []), may_get_priority()}.

%% Whether there may be priority messages before the answer of a request has come, which is abandoned then.
while_awaited(Peer, Options) ->
    Id = spawn_request(Peer, erlang, node, [], [{monitor, Options}]),
    While = may_get_priority(),
    case erlang:spawn_request_abandon(Id) of
        true -> While;
        false ->  % it has come already, and the end may have overtaken it
            [{'DOWN', Id, process, _, _}, {spawn_reply, Id, ok, _}] = lists:sort([next(), next()]),
            while_awaited(Peer, Options)
    end.

may_get_priority() -> {_, May} = process_info(self(), priority_messages), May.

priority_receiver(To, Options) ->
    process_flag(trap_exit, true),
    register(priority_receiver, self()),
    To ! {self(), alias(Options)},
    tell_received().
tell_received() ->
    receive {tell, To} -> To ! {self(), all_there()} end,
    tell_received().
all_there() -> receive Message -> [Message | all_there()] after 0 -> [] end.

received(Pid) ->
    Pid ! {tell, self()},
    {Pid, Messages} = next(),
    Messages.

queued(N) ->
    {message_queue_len, Length} = process_info(self(), message_queue_len),
    Length =:= N orelse receive after 1 -> queued(N) end.

%% --- Groups and names of several nodes ---

%% Module pg of OTP 25 ends by an error when that of OTP 28 or later greets it.
case_pg(Peer) ->
    Compilers = [hd(string:lexemes(proplists:get_value(version, erpc:call(Node, pg, module_info, [compile])),
        ".")) || Node <- [node(), Peer]],
    lists:sort(Compilers) =:= ["10", "8"] orelse groups(Peer).

groups(Peer) ->
    Scope = pg_of_test,
    Start = fun(Node) -> erpc:call(Node, fun() -> Pid = whereis(Scope), Pid =/= undefined orelse
        begin {ok, New} = pg:start(Scope), unlink(New) end end) end,
    [Start(Node) || Node <- [node(), Peer]],
    {Monitor, []} = pg:monitor(Scope, group),
    Pid = spawn(Peer, timer, sleep, [infinity]),
    ok = erpc:call(Peer, pg, join, [Scope, group, Pid]),
    {Monitor, join, group, [Pid]} = next(),
    ok = pg:join(Scope, group, self()),
    {Monitor, join, group, [Here]} = next(),
    Here = self(),
    (fun Seen() -> lists:member(Here, erpc:call(Peer, pg, get_members, [Scope, group])) orelse Seen() end)(),
    exit(Pid, kill),
    {Monitor, leave, group, [Pid]} = next(),
    ok = pg:demonitor(Scope, Monitor),
    ok = pg:leave(Scope, group, Here).

case_global(Peer) ->
    pong = net_adm:ping(Peer),
    ok = global:sync(),
    Name = {test, node()},
    Pid = spawn(Peer, timer, sleep, [infinity]),
    yes = global:register_name(Name, Pid),
    no = erpc:call(Peer, global, register_name, [Name, self()]),
    Pid = erpc:call(Peer, global, whereis_name, [Name]),
    true = global:set_lock({Name, self()}, [node(), Peer]),
    false = erpc:call(Peer, global, set_lock, [{Name, Pid}, [node(), Peer], 0]),
    true = global:del_lock({Name, self()}, [node(), Peer]),
    yes = erpc:call(Peer, global, re_register_name, [Name, self()]),
    true = self() =:= global:whereis_name(Name),
    _ = global:unregister_name(Name),
    undefined = erpc:call(Peer, global, whereis_name, [Name]),
    exit(Pid, kill).

%% --- Calls ---

case_rpc(Peer) ->
    Peer = rpc:call(Peer, erlang, node, []),
    {badrpc, {'EXIT', {badarg, [{erlang, hd, [[]], _} | _]}}} = rpc:call(Peer, erlang, hd, [[]]),
    {badrpc, {'EXIT', {undef, [{no_such, f, [1], []} | _]}}} = rpc:call(Peer, no_such, f, [1]),
    {badrpc, {'EXIT', because}} = rpc:call(Peer, erlang, exit, [because]),
    thrown = rpc:call(Peer, erlang, throw, [thrown]),
    {badrpc, timeout} = rpc:call(Peer, timer, sleep, [infinity], 50),
    {badrpc, nodedown} = rpc:call(nobody@localhost, erlang, node, []),
    Key = rpc:async_call(Peer, ?MODULE, sum, [[1, 2, 3]]),
    6 = rpc:yield(Key),
    {[A, B], [nobody@localhost]} = rpc:multicall([node(), Peer, nobody@localhost], erlang, node, []),
    true = [A, B] =:= [node(), Peer],
    Peer = rpc:block_call(Peer, erlang, node, []),
    {[Peer], [nobody@localhost]} = rpc:sbcast([Peer, nobody@localhost], echo, {self(), sbcast}),
    {_, sbcast} = next(),
    abcast = rpc:abcast([Peer], echo, {self(), abcast}),
    {_, abcast} = next(),
    true = rpc:cast(Peer, ?MODULE, later, [self()]),
    {_, later, Peer} = next(),
    abcast = rpc:eval_everywhere([Peer], ?MODULE, later, [self()]),
    {_, later, Peer} = next(),
    Pid = rpc:call(Peer, erlang, whereis, [echo]),
    {registered_name, echo} = rpc:pinfo(Pid, registered_name),
    [1, 4, 9] = rpc:pmap({?MODULE, square}, [], [1, 2, 3]).

sum(List) -> lists:sum(List).
square(N) -> N * N.

case_erpc(Peer) ->
    Peer = erpc:call(Peer, erlang, node, []),
    {'EXIT', {{exception, badarg, [{erlang, hd, [[]], _}]}, _}}
        = catch_of(fun() -> erpc:call(Peer, erlang, hd, [[]]) end),
    {exit, {exception, because}} = class_of(fun() -> erpc:call(Peer, erlang, exit, [because]) end),
    {throw, thrown} = class_of(fun() -> erpc:call(Peer, erlang, throw, [thrown]) end),
    {error, {erpc, timeout}} = class_of(fun() -> erpc:call(Peer, timer, sleep, [infinity], 50) end),
    {error, {erpc, noconnection}} = class_of(fun() -> erpc:call(nobody@localhost, erlang, node, []) end),
    {error, {erpc, badarg}} = class_of(fun() -> erpc:call(Peer, erlang, node, not_a_list) end),
    {exit, {signal, stopped}}
        = class_of(fun() -> erpc:call(Peer, fun() -> exit(self(), stopped), receive after infinity -> ok end
            end) end),
    [{ok, Peer}, {error, {erpc, noconnection}}] = erpc:multicall([Peer, nobody@localhost], erlang, node, []),
    Id = erpc:send_request(Peer, ?MODULE, sum, [[4, 5]]),
    9 = erpc:receive_response(Id),
    Ids = erpc:send_request(Peer, ?MODULE, sum, [[1]], label, erpc:reqids_new()),
    {1, label, Left} = erpc:receive_response(Ids, 5000, true),
    no_request = erpc:receive_response(Left, 0, true),
    ok = erpc:cast(Peer, ?MODULE, later, [self()]),
    {_, later, Peer} = next(),
    ok = erpc:multicast([Peer], ?MODULE, later, [self()]),
    {_, later, Peer} = next().

catch_of(Fun) -> catch Fun().
class_of(Fun) -> try Fun() of Value -> {ok, Value} catch Class:Reason -> {Class, Reason} end.

%% A server there, a client here, with calls, casts, and the end of the server.
case_gen_server(Peer) ->
    {ok, Pid} = rpc:call(Peer, gen_server, start, [{local, counter_of_test}, counter, 5, []]),
    6 = gen_server:call({counter_of_test, Peer}, add),
    ok = gen_server:cast(Pid, add),
    8 = gen_server:call(Pid, add),
    {[{Peer, 9}], []} = gen_server:multi_call([Peer], counter_of_test, add),
    ok = gen_server:stop(Pid),
    {'EXIT', {noproc, _}} = catch_of(fun() -> gen_server:call({counter_of_test, Peer}, add) end),
    {'EXIT', {{nodedown, nobody@localhost}, _}}
        = catch_of(fun() -> gen_server:call({counter_of_test, nobody@localhost}, add) end).

case_proc_lib(Peer) ->
    Pid = proc_lib:spawn(Peer, ?MODULE, later, [self()]),
    {Pid, later, Peer} = next(),
    {ok, Pid2} = rpc:call(Peer, proc_lib, start, [?MODULE, acknowledged, [self()]]),
    {Pid2, later, Peer} = next().

acknowledged(To) ->
    proc_lib:init_ack({ok, self()}),
    later(To).
