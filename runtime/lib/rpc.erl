%% Calls on other nodes, the older interface: a failure is a value, {badrpc, Reason}. Most of it is erpc. The server rex serves
%% block_call and sbcast, and nodes in other languages (rpc_cnode).
-module(rpc).
-behaviour(gen_server).

-export([call/4, call/5, block_call/4, block_call/5, cast/4, async_call/4, yield/1, nb_yield/1, nb_yield/2,
         multicall/3, multicall/4, multicall/5, eval_everywhere/3, eval_everywhere/4, abcast/2, abcast/3, sbcast/2, sbcast/3,
         server_call/4, multi_server_call/2, multi_server_call/3, parallel_eval/1, pmap/3, pinfo/1, pinfo/2]).
-export([start/0, start_link/0, stop/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

-define(SERVER, rex).
-define(SPAWN, [{spawn_opt, [{message_queue_data, off_heap}]}]).
-define(LONGEST, 4294967295).

%% --- Calls ---

call(Node, M, F, A) -> call(Node, M, F, A, infinity).
call(Node, M, F, A, Timeout) -> as_value(fun() -> erpc:call(Node, M, F, A, Timeout) end).

async_call(Node, M, F, A) -> or_badarg(fun() -> erpc:send_request(Node, M, F, A) end).

yield(Key) -> as_value(fun() -> erpc:receive_response(Key) end).

nb_yield(Key) -> nb_yield(Key, 0).
nb_yield(Key, Timeout) ->
    case as_value(fun() -> erpc:wait_response(Key, Timeout) end) of
        no_response -> timeout;
        {response, {'EXIT', _} = Exit} -> {value, {badrpc, Exit}};
        {response, Value} -> {value, Value};
        Failed -> {value, Failed}
    end.

cast(Node, M, F, A) ->
    ok = or_badarg(fun() -> erpc:cast(Node, M, F, A) end),
    true.

multicall(M, F, A) -> multicall(M, F, A, infinity).
multicall(Nodes, M, F, A) when is_list(Nodes) -> multicall(Nodes, M, F, A, infinity);
multicall(M, F, A, Timeout) -> multicall([node() | nodes()], M, F, A, Timeout).
multicall(Nodes, M, F, A, Timeout) ->
    Outcomes = lists:zip(Nodes, or_badarg(fun() -> erpc:multicall(Nodes, M, F, A, Timeout) end)),
    Unreached = [Node || {Node, {error, {erpc, Reason}}} <- Outcomes, Reason =:= timeout orelse Reason =:= noconnection],
    {[value_of(Outcome) || {_, Outcome} <- Outcomes, not is_unreached(Outcome)], Unreached}.

is_unreached({error, {erpc, Reason}}) -> Reason =:= timeout orelse Reason =:= noconnection;
is_unreached(_) -> false.

value_of({ok, {'EXIT', _} = Exit}) -> {badrpc, Exit};
value_of({ok, Value}) -> Value;
value_of({Class, Reason}) -> failure(Class, Reason).

eval_everywhere(M, F, A) -> eval_everywhere([node() | nodes()], M, F, A).
eval_everywhere(Nodes, M, F, A) ->
    lists:foreach(fun(Node) -> cast(Node, M, F, A) end, Nodes),
    abcast.

as_value(Call) ->
    try Call() of
        {'EXIT', _} = Exit -> {badrpc, Exit};
        Value -> Value
    catch Class:Reason -> failure(Class, Reason)
    end.

or_badarg(Call) ->
    try Call()
    catch error:{erpc, badarg} -> error(badarg)
    end.

failure(throw, {'EXIT', _} = Exit) -> {badrpc, Exit};
failure(throw, Value) -> Value;
failure(exit, {exception, Reason}) -> {badrpc, {'EXIT', Reason}};
failure(exit, {signal, Reason}) -> {badrpc, {'EXIT', Reason}};
failure(exit, Reason) -> exit(Reason);
failure(error, {exception, Reason, Stack}) -> {badrpc, {'EXIT', {Reason, Stack}}};
failure(error, {erpc, badarg}) -> error(badarg);
failure(error, {erpc, noconnection}) -> {badrpc, nodedown};
failure(error, {erpc, Reason}) when Reason =:= timeout; Reason =:= notsup -> {badrpc, Reason};
failure(error, {erpc, Reason}) -> {badrpc, {'EXIT', Reason}};
failure(error, Reason) -> error(Reason).

%% In the server itself, one after the other.
block_call(Node, M, F, A) -> block_call(Node, M, F, A, infinity).
block_call(Node, M, F, A, Timeout) when is_atom(Node), is_atom(M), is_list(A), Timeout =:= infinity orelse
                                        is_integer(Timeout) andalso Timeout >= 0 andalso Timeout =< ?LONGEST ->
    try gen_server:call({?SERVER, Node}, {block_call, M, F, A, group_leader()}, Timeout)
    catch
        exit:{timeout, _} -> {badrpc, timeout};
        exit:{{nodedown, _}, _} -> {badrpc, nodedown};
        exit:Reason -> {badrpc, {'EXIT', Reason}}
    end;
block_call(_, _, _, _, _) -> error(function_clause).

parallel_eval(Calls) ->
    Nodes = [node() | nodes()],
    Keys = [async_call(lists:nth(I rem length(Nodes) + 1, Nodes), M, F, A) || {I, {M, F, A}} <- numbered(Calls)],
    [yield(Key) || Key <- Keys].

numbered(List) -> lists:zip(lists:seq(0, length(List) - 1), List).

pmap({M, F}, Extra, List) ->
    Results = parallel_eval([{M, F, [Element | Extra]} || Element <- List]),
    lists:any(fun({badrpc, _}) -> true; (_) -> false end, Results) andalso exit(badrpc),
    Results.

pinfo(Pid) when node(Pid) =:= node() -> process_info(Pid);
pinfo(Pid) -> call(node(Pid), erlang, process_info, [Pid]).
pinfo(Pid, Item) when node(Pid) =:= node() -> process_info(Pid, Item);
pinfo(Pid, Item) -> block_call(node(Pid), erlang, process_info, [Pid, Item]).

%% --- Messages to registered processes ---

abcast(Name, Message) -> abcast([node() | nodes()], Name, Message).
abcast(Nodes, Name, Message) ->
    lists:foreach(fun(Node) -> catch erlang:send({Name, Node}, Message) end, Nodes),
    abcast.

%% The servers tell whether there is such a process.
sbcast(Name, Message) -> sbcast([node() | nodes()], Name, Message).
sbcast(Nodes, Name, Message) -> answers(?SERVER, ask_all(Nodes, ?SERVER, {sbcast, Name, Message})).

server_call(Node, Name, Wrapper, Message) when is_atom(Node), is_atom(Name) ->
    case ask_all([Node], Name, Message) of
        [{Node, Monitor}] ->
            receive
                {'DOWN', Monitor, _, _, _} -> {error, nodedown};
                {Wrapper, Node, Reply} ->
                    demonitor(Monitor, [flush]),
                    Reply
            end
    end.

%% A server called Name answers {Name, Node, Reply} to {From, Message}.
multi_server_call(Name, Message) -> multi_server_call([node() | nodes()], Name, Message).
multi_server_call(Nodes, Name, Message) when is_list(Nodes), is_atom(Name) -> answers(Name, ask_all(Nodes, Name, Message)).

ask_all(Nodes, Name, Message) -> [{Node, ask(Node, Name, Message)} || Node <- Nodes, is_atom(Node)].

ask(Node, Name, Message) ->
    Monitor = erlang:monitor(process, {Name, Node}),
    catch {Name, Node} ! {self(), Message},
    Monitor.

answers(Name, Asked) ->
    Answers = [{Node, answer(Name, Node, Monitor)} || {Node, Monitor} <- Asked],
    {lists:reverse([Reply || {_, {ok, Reply}} <- Answers]), [Node || {Node, none} <- Answers]}.

answer(Name, Node, Monitor) ->
    receive
        {'DOWN', Monitor, _, _, _} -> none;
        {?SERVER, Node, {nonexisting_name, _}} ->
            demonitor(Monitor, [flush]),
            none;
        {Name, Node, Reply} ->
            demonitor(Monitor, [flush]),
            {ok, Reply}
    end.

%% --- The server ---

start() -> gen_server:start({local, ?SERVER}, ?MODULE, [], ?SPAWN).
start_link() -> gen_server:start_link({local, ?SERVER}, ?MODULE, [], ?SPAWN).
stop() -> gen_server:call(?SERVER, stop, infinity).

%% State: who waits for a process that we have spawned, by its monitor.
init([]) ->
    process_flag(trap_exit, true),
    {ok, #{}}.

handle_call({call, M, F, A, Leader}, To, Calls) ->
    {_, Monitor} = spawn_monitor(fun() -> called(Leader, fun() -> apply_call(M, F, A) end, fun(Reply) -> reply(To, Reply) end) end),
    {noreply, Calls#{Monitor => To}};
handle_call({block_call, M, F, A, Leader}, _, Calls) ->
    Own = group_leader(),
    group_leader(leader(Leader), self()),
    Reply = apply_call(M, F, A),
    group_leader(Own, self()),
    {reply, Reply, Calls};
handle_call(stop, _, Calls) -> {stop, normal, stopped, Calls};
handle_call(_, _, Calls) -> {noreply, Calls}.

handle_cast({cast, M, F, A, Leader}, Calls) ->
    spawn(fun() ->
                  group_leader(leader(Leader), self()),
                  erpc:execute_cast(M, F, A)
          end),
    {noreply, Calls};
handle_cast(_, Calls) -> {noreply, Calls}.

handle_info({'DOWN', Monitor, process, _, Reason}, Calls) when is_map_key(Monitor, Calls) ->
    Reason =:= normal orelse reply(map_get(Monitor, Calls), {badrpc, {'EXIT', Reason}}),
    {noreply, maps:remove(Monitor, Calls)};
handle_info({From, {sbcast, Name, Message}}, Calls) ->
    From ! {?SERVER, node(), case catch Name ! Message of
                                 {'EXIT', _} -> {nonexisting_name, Name};
                                 _ -> node()
                             end},
    {noreply, Calls};
handle_info({From, {send, Name, Message}}, Calls) ->
    case catch Name ! {From, Message} of
        {'EXIT', _} -> From ! {?SERVER, node(), {nonexisting_name, Name}};
        _ -> ok % it answers by itself
    end,
    {noreply, Calls};
handle_info({From, {call, M, F, A, Leader}}, Calls) -> % of a node in C
    handle_call({call, M, F, A, case Leader of send_stdout_to_caller -> {Leader, From}; _ -> Leader end}, {?SERVER, From}, Calls);
handle_info({From, features_request}, Calls) ->
    From ! {features_reply, node(), [erpc]},
    {noreply, Calls};
handle_info(_, Calls) -> {noreply, Calls}.

called({send_stdout_to_caller, Caller}, Call, Reply) ->
    Leader = rpc_cnode:start(Caller),
    group_leader(Leader, self()),
    Result = Call(),
    rpc_cnode:stop(Leader, fun() -> Reply(Result) end); % after all that was printed
called(Leader, Call, Reply) ->
    group_leader(leader(Leader), self()),
    Reply(Call()).

leader(Pid) when is_pid(Pid) -> Pid;
leader(user) -> whereis(user).

reply({?SERVER, From}, Reply) -> From ! {?SERVER, Reply};
reply(From, Reply) -> gen_server:reply(From, Reply).

apply_call(M, F, A) ->
    try apply(M, F, A) of
        {'EXIT', _} = Exit -> {badrpc, Exit};
        Value -> Value
    catch
        throw:{'EXIT', _} = Exit -> {badrpc, Exit};
        throw:Thrown -> Thrown;
        exit:Reason -> {badrpc, {'EXIT', Reason}};
        error:Reason:Stack ->
            case erpc:is_arg_error(Reason, M, F, A) of
                true -> {badrpc, {'EXIT', Reason}};
                false -> {badrpc, {'EXIT', {Reason, [Entry || Entry <- Stack, element(1, Entry) =/= ?MODULE]}}}
            end
    end.
