%% A node of a test that parts it from another: watches that one in every way there is, says when all of them
%% have ended and why, and goes on when the other is back.
-module(parted).
-export([main/1, start/0]).

start() -> main(init:get_plain_arguments()).

main([Other | Changes]) ->
    Peer = list_to_atom(Other),
    process_flag(trap_exit, true),
    register(echo, spawn_link(fun other_node:echo/0)),
    register(silent, spawn_link(timer, sleep, [infinity])),
    meet(Peer),
    lists:foreach(fun(Seconds) -> change_tick_time(list_to_integer(Seconds)) end, Changes),
    ok = net_kernel:monitor_nodes(true, [nodedown_reason]),
    Linked = spawn_link(Peer, timer, sleep, [infinity]),
    Monitor = monitor(process, {echo, Peer}),
    true = monitor_node(Peer, true),
    Callers = [spawn_monitor(fun() -> exit({answer, Call()}) end)
               || Call <- [fun() -> catch gen_server:call({silent, Peer}, question, infinity) end,
                           fun() -> rpc:call(Peer, timer, sleep, [infinity]) end,
                           fun() -> try erpc:call(Peer, timer, sleep, [infinity]) catch error:Reason ->
                               Reason end end]],
    io:format("watching~n"),
    receive {'EXIT', Linked, LinkReason} -> noconnection = LinkReason end,
    receive {'DOWN', Monitor, process, {echo, Peer}, MonitorReason} -> noconnection = MonitorReason end,
    receive {nodedown, Peer} -> ok end,
    [{'EXIT', {{nodedown, Peer}, {gen_server, call, _}}}, {badrpc, nodedown}, {erpc, noconnection}] =
        [receive {'DOWN', Ref, process, Pid, {answer, Answer}} -> Answer end || {Pid, Ref} <- Callers],
    receive {nodedown, Peer, [{nodedown_reason, Reason}]} -> io:format("lost: ~p; waiting~n", [Reason]) end,
    meet(Peer),
    io:format("together~n"),
    receive after infinity -> ok end.

%% Until a message has gone there and one has come back.
meet(Peer) ->
    net_adm:ping(Peer) =:= pong andalso
        case catch erpc:call(Peer, erlang, whereis, [echo], 5000) of
            Pid when is_pid(Pid) -> true;
            _ -> false
        end orelse begin
                       receive after 20 -> ok end,
                       meet(Peer)
                   end.

change_tick_time(Seconds) ->
    unchanged = net_kernel:set_net_ticktime(net_kernel:get_net_ticktime()),
    change_initiated = net_kernel:set_net_ticktime(Seconds, 1),
    {ongoing_change_to, Seconds} = net_kernel:get_net_ticktime(),
    {ongoing_change_to, Seconds} = net_kernel:set_net_ticktime(17),
    (fun Wait() -> net_kernel:get_net_ticktime() =:= Seconds orelse receive after 20 -> Wait() end end)(),
    unchanged = net_kernel:set_net_ticktime(Seconds).
