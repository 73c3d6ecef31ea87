%% Calls on other nodes. A call spawns a process there with a monitor; the exit reason brings the result, marked with a reference
%% of the caller's, so that it is told from all other reasons. rpc builds on this.
-module(erpc).

-export([call/2, call/3, call/4, call/5, cast/2, cast/4, multicall/2, multicall/3, multicall/4, multicall/5, multicast/2, multicast/4,
         send_request/2, send_request/4, send_request/6, receive_response/1, receive_response/2, receive_response/3,
         wait_response/1, wait_response/2, wait_response/3, check_response/2, check_response/3,
         reqids_new/0, reqids_size/1, reqids_add/3, reqids_to_list/1]).
%% What is called on the other node, whoever that is; its names are those all nodes know. And what rpc needs.
-export([execute_call/4, execute_call/3, execute_cast/3, is_arg_error/4, trim_stack/4]).

-define(LONGEST, 4294967295).
-define(BAD, error({?MODULE, badarg})).
-define(IS_MFA(M, F, A), is_atom(M), is_atom(F), is_list(A)).
-define(IS_ID(Res, Id), is_reference(Res), is_reference(Id)).
-define(REQUEST, [{reply, error_only}, monitor]).
%% Makes an outcome happen in the function that was called: stack traces show it.
-define(GIVEN(Outcome),
        case Outcome of
            {ok, Given} -> Given;
            {throw, Given} -> throw(Given);
            {exit, Given} -> exit(Given);
            {error, Given} -> error(Given)
        end).

%% --- Call ---

call(Node, Fun) -> call(Node, Fun, infinity).
call(Node, Fun, Timeout) when is_function(Fun, 0) -> call(Node, erlang, apply, [Fun, []], Timeout);
call(_, _, _) -> ?BAD.
call(Node, M, F, A) -> call(Node, M, F, A, infinity).

call(Node, M, F, A, infinity) when Node =:= node(), ?IS_MFA(M, F, A) -> ?GIVEN(local_call(M, F, A));
call(Node, M, F, A, Timeout) when is_atom(Node), ?IS_MFA(M, F, A) ->
    Ms = milliseconds(Timeout),
    Res = make_ref(),
    Id = spawn_request(Node, ?MODULE, execute_call, [Res, M, F, A], ?REQUEST), % here: so the receive passes over older messages
    receive
        {spawn_reply, Id, error, Reason} -> ?GIVEN(not_spawned(Reason));
        {'DOWN', Id, process, _, Reason} -> ?GIVEN(outcome(Res, Reason))
    after Ms -> ?GIVEN(late(Id, Res))
    end;
call(_, _, _, _, _) -> ?BAD.

request(Node, Res, M, F, A) -> spawn_request(Node, ?MODULE, execute_call, [Res, M, F, A], ?REQUEST).

%% Outcomes: {ok, Value} or {Class, Reason}, as multicall answers them; GIVEN makes them happen.
outcome(Res, {Res, return, Value}) -> {ok, Value};
outcome(Res, {Res, throw, Thrown}) -> {throw, Thrown};
outcome(Res, {Res, exit, Reason}) -> {exit, {exception, Reason}};
outcome(Res, {Res, error, Reason, Stack}) -> {error, {exception, Reason, Stack}};
outcome(Res, {Res, error, {?MODULE, _} = Reason}) -> {error, Reason};
outcome(_, noconnection) -> {error, {?MODULE, noconnection}};
outcome(_, Reason) -> {exit, {signal, Reason}}.

not_spawned(Reason) -> {error, {?MODULE, Reason}}.

%% What has come meanwhile counts.
late(Id, Res) ->
    case abandon(Id) of
        true -> {error, {?MODULE, timeout}};
        false ->
            receive
                {spawn_reply, Id, error, Reason} -> not_spawned(Reason);
                {'DOWN', Id, process, _, Reason} -> outcome(Res, Reason)
            after 0 -> {error, {?MODULE, badarg}} % no request's
            end
    end.

abandon(Id) -> spawn_request_abandon(Id) orelse erlang:demonitor(Id, [info]).

local_call(M, F, A) ->
    try execute_call(M, F, A) of
        {return, Value} -> {ok, Value}
    catch
        throw:Thrown -> {throw, Thrown};
        exit:Reason -> {exit, {exception, Reason}};
        error:Reason:Stack ->
            case is_arg_error(Reason, M, F, A) of
                true -> {error, {?MODULE, Reason}};
                false -> {error, {exception, Reason, trim_stack(Stack, M, F, A)}}
            end
    end.

%% --- On the other node ---

execute_call(Res, M, F, A) ->
    exit(try {Res, return, apply(M, F, A)}
         catch
             throw:Thrown -> {Res, throw, Thrown};
             exit:Reason -> {Res, exit, Reason};
             error:Reason:Stack ->
                 case is_arg_error(Reason, M, F, A) of
                     true -> {Res, error, {?MODULE, Reason}};
                     false -> {Res, error, Reason, trim_stack(Stack, M, F, A)}
                 end
         end).

execute_call(M, F, A) -> {return, apply(M, F, A)}.

execute_cast(M, F, A) ->
    try apply(M, F, A)
    catch error:Reason:Stack ->
        case is_arg_error(Reason, M, F, A) of
            true -> error({?MODULE, Reason});
            false -> error({exception, {Reason, trim_stack(Stack, M, F, A)}})
        end
    end.

%% More arguments than functions can have.
is_arg_error(system_limit, _, _, A) ->
    try apply(?MODULE, nonexisting, A) of
        _ -> false
    catch
        error:system_limit -> true;
        _:_ -> false
    end;
is_arg_error(_, _, _, _) -> false.

%% Without our own part, and what called that.
trim_stack(Stack, M, F, A) when length(A) >= 0 ->
    {Theirs, Ours} = split_stack(Stack),
    case {Theirs, Ours} of
        {_, []} -> Stack;
        {[], _} -> [{M, F, A, []}];
        {[{M, F, A, _}], _} -> Theirs;
        _ ->
            case lists:last(Theirs) of
                {M, F, Arity, _} when Arity =:= length(A) -> Theirs;
                _ -> Theirs ++ [{M, F, length(A), []}]
            end
    end;
trim_stack(Stack, M, F, A) -> % no list: apply itself has failed
    case split_stack(Stack) of
        {[], _} -> [{erlang, apply, [M, F, A], []}];
        {Theirs, _} -> Theirs
    end.

split_stack(Stack) -> lists:splitwith(fun(Entry) -> not is_ours(Entry) end, Stack).

is_ours({?MODULE, Function, _, _}) -> Function =:= execute_call orelse Function =:= execute_cast;
is_ours(_) -> false.

%% --- Requests ---

send_request(Node, Fun) when is_atom(Node), is_function(Fun, 0) -> send_request(Node, erlang, apply, [Fun, []]);
send_request(_, _) -> ?BAD.

send_request(Node, M, F, A) when is_atom(Node), ?IS_MFA(M, F, A) ->
    Res = make_ref(),
    [Res | request(Node, Res, M, F, A)];
send_request(Node, Fun, Label, Ids) when is_atom(Node), is_function(Fun, 0), is_map(Ids) ->
    send_request(Node, erlang, apply, [Fun, []], Label, Ids);
send_request(_, _, _, _) -> ?BAD.

send_request(Node, M, F, A, Label, Ids) when is_atom(Node), ?IS_MFA(M, F, A), is_map(Ids) ->
    Res = make_ref(),
    Ids#{request(Node, Res, M, F, A) => [Res | Label]};
send_request(_, _, _, _, _, _) -> ?BAD.

receive_response(Id) -> receive_response(Id, infinity).

receive_response([Res | Id], Timeout) when ?IS_ID(Res, Id) ->
    Ms = milliseconds(Timeout),
    receive
        {spawn_reply, Id, error, Reason} -> ?GIVEN(not_spawned(Reason));
        {'DOWN', Id, process, _, Reason} -> ?GIVEN(outcome(Res, Reason))
    after Ms -> ?GIVEN(late(Id, Res))
    end;
receive_response(_, _) -> ?BAD.

receive_response(Ids, Timeout, Delete) when is_map(Ids), is_boolean(Delete) ->
    Ms = milliseconds(Timeout),
    case next_of(Ids, Ms) of
        none -> no_request;
        timeout ->
            abandon_all(Ids),
            error({?MODULE, timeout});
        {Id, Result} -> labelled(Id, Result, Ids, Delete, fun(Value) -> Value end)
    end;
receive_response(_, _, _) -> ?BAD.

wait_response(Id) -> wait_response(Id, 0).

wait_response([Res | Id], Timeout) when ?IS_ID(Res, Id) ->
    Ms = milliseconds(Timeout),
    receive
        {spawn_reply, Id, error, Reason} -> ?GIVEN(not_spawned(Reason));
        {'DOWN', Id, process, _, Reason} -> {response, ?GIVEN(outcome(Res, Reason))}
    after Ms -> no_response
    end;
wait_response(_, _) -> ?BAD.

wait_response(Ids, Timeout, Delete) when is_map(Ids), is_boolean(Delete) ->
    Ms = milliseconds(Timeout),
    case next_of(Ids, Ms) of
        none -> no_request;
        timeout -> no_response;
        {Id, Result} -> labelled(Id, Result, Ids, Delete, fun response/1)
    end;
wait_response(_, _, _) -> ?BAD.

check_response({spawn_reply, Id, error, Reason}, [Res | Id]) when ?IS_ID(Res, Id) -> ?GIVEN(not_spawned(Reason));
check_response({'DOWN', Id, process, _, Reason}, [Res | Id]) when ?IS_ID(Res, Id) -> {response, ?GIVEN(outcome(Res, Reason))};
check_response(_, [Res | Id]) when ?IS_ID(Res, Id) -> no_response;
check_response(_, _) -> ?BAD.

check_response(_, Ids, Delete) when map_size(Ids) =:= 0, is_boolean(Delete) -> no_request;
check_response({spawn_reply, Id, error, Reason}, Ids, Delete) when is_reference(Id), is_map_key(Id, Ids), is_boolean(Delete) ->
    labelled(Id, fun(_) -> not_spawned(Reason) end, Ids, Delete, fun response/1);
check_response({'DOWN', Id, process, _, Reason}, Ids, Delete) when is_reference(Id), is_map_key(Id, Ids), is_boolean(Delete) ->
    labelled(Id, fun(Res) -> outcome(Res, Reason) end, Ids, Delete, fun response/1);
check_response(_, Ids, Delete) when is_map(Ids), is_boolean(Delete) -> no_response;
check_response(_, _, _) -> ?BAD.

response(Value) -> {response, Value}.

%% The first that comes of a collection: whose, and fun(Res) that gives its outcome.
next_of(Ids, _) when map_size(Ids) =:= 0 -> none;
next_of(Ids, Ms) ->
    receive
        {spawn_reply, Id, error, Reason} when is_map_key(Id, Ids), is_reference(Id) -> {Id, fun(_) -> not_spawned(Reason) end};
        {'DOWN', Id, process, _, Reason} when is_map_key(Id, Ids), is_reference(Id) -> {Id, fun(Res) -> outcome(Res, Reason) end}
    after Ms -> timeout
    end.

labelled(Id, Result, Ids, Delete, Wrap) ->
    Left = case Delete of true -> maps:remove(Id, Ids); false -> Ids end,
    case map_get(Id, Ids) of
        [Res | Label] when is_reference(Res) ->
            case Result(Res) of
                {ok, Value} -> {Wrap(Value), Label, Left};
                {Class, Reason} -> ?GIVEN({Class, {Reason, Label, Left}})
            end;
        _ -> ?BAD
    end.

abandon_all(Ids) ->
    is_collection(Ids) orelse ?BAD,
    maps:foreach(fun(Id, [Res | _]) -> late(Id, Res) end, Ids).

is_collection(Ids) -> lists:all(fun({Id, [Res | _]}) -> is_reference(Id) andalso is_reference(Res); (_) -> false end, maps:to_list(Ids)).

reqids_new() -> #{}.

reqids_size(Ids) when is_map(Ids) -> map_size(Ids);
reqids_size(_) -> ?BAD.

reqids_add([Res | Id], Label, Ids) when ?IS_ID(Res, Id), is_map(Ids), not is_map_key(Id, Ids) -> Ids#{Id => [Res | Label]};
reqids_add(_, _, _) -> ?BAD.

reqids_to_list(Ids) when is_map(Ids) ->
    is_collection(Ids) orelse ?BAD,
    [{[Res | Id], Label} || {Id, [Res | Label]} <- maps:to_list(Ids)];
reqids_to_list(_) -> ?BAD.

%% --- On many nodes ---

multicall(Nodes, Fun) -> multicall(Nodes, Fun, infinity).
multicall(Nodes, Fun, Timeout) when is_function(Fun, 0) -> multicall(Nodes, erlang, apply, [Fun, []], Timeout);
multicall(_, _, _) -> ?BAD.
multicall(Nodes, M, F, A) -> multicall(Nodes, M, F, A, infinity).

%% One tag for all, so that waiting skips what was there before. Without a time limit this node's own call is made here.
multicall(Nodes, M, F, A, Timeout) when ?IS_MFA(M, F, A) ->
    Ms = milliseconds(Timeout),
    is_list(Nodes) andalso length_or_none(Nodes) =/= none andalso lists:all(fun erlang:is_atom/1, Nodes) orelse ?BAD,
    Deadline = deadline(Ms),
    Tag = make_ref(),
    Options = [{reply, error_only}, {reply_tag, Tag}, {monitor, [{tag, Tag}]}],
    {Ids, Local} = lists:mapfoldl(
        fun(Node, none) when Node =:= node(), Ms =:= infinity -> {local, wanted};
           (Node, Own) -> {spawn_request(Node, ?MODULE, execute_call, [Tag, M, F, A], Options), Own}
        end, none, Nodes),
    Known = case Local of wanted -> #{local => local_call(M, F, A)}; none -> #{} end,
    Asked = [Id || Id <- Ids, Id =/= local],
    Outcomes = collect(Tag, length(Asked), Deadline, Known),
    [outcome_of(Id, Tag, Outcomes) || Id <- Ids];
multicall(_, _, _, _, _) -> ?BAD.

length_or_none(List) ->
    try length(List)
    catch error:badarg -> none
    end.

collect(_, 0, _, Outcomes) -> Outcomes;
collect(Tag, Missing, Deadline, Outcomes) ->
    receive
        {Tag, Id, error, Reason} -> collect(Tag, Missing - 1, Deadline, Outcomes#{Id => not_spawned(Reason)});
        {Tag, Id, process, _, Reason} -> collect(Tag, Missing - 1, Deadline, Outcomes#{Id => outcome(Tag, Reason)})
    after left(Deadline) -> Outcomes
    end.

outcome_of(Id, _, Outcomes) when is_map_key(Id, Outcomes) -> map_get(Id, Outcomes);
outcome_of(Id, Tag, _) -> late_of(Tag, Id).

late_of(Tag, Id) ->
    case abandon(Id) of
        true -> {error, {?MODULE, timeout}};
        false ->
            receive
                {Tag, Id, error, Reason} -> not_spawned(Reason);
                {Tag, Id, process, _, Reason} -> outcome(Tag, Reason)
            end
    end.

cast(Node, Fun) when is_atom(Node), is_function(Fun, 0) -> cast(Node, erlang, apply, [Fun, []]);
cast(_, _) -> ?BAD.
cast(Node, M, F, A) when is_atom(Node), ?IS_MFA(M, F, A) ->
    spawn_request(Node, ?MODULE, execute_cast, [M, F, A], [{reply, no}]),
    ok;
cast(_, _, _, _) -> ?BAD.

multicast(Nodes, Fun) when is_function(Fun, 0) -> multicast(Nodes, erlang, apply, [Fun, []]);
multicast(_, _) -> ?BAD.
multicast(Nodes, M, F, A) ->
    length_or_none(Nodes) =/= none orelse ?BAD,
    lists:foreach(fun(Node) -> cast(Node, M, F, A) end, Nodes).

%% --- Time ---

milliseconds(infinity) -> infinity;
milliseconds(Ms) when is_integer(Ms), Ms >= 0, Ms =< ?LONGEST -> Ms;
milliseconds({abs, Time}) when is_integer(Time) ->
    case max(0, Time - erlang:monotonic_time(millisecond)) of
        Ms when Ms =< ?LONGEST -> Ms;
        _ -> ?BAD
    end;
milliseconds(_) -> ?BAD.

deadline(infinity) -> infinity;
deadline(Ms) -> erlang:monotonic_time(millisecond) + Ms.

left(infinity) -> infinity;
left(Deadline) -> max(0, Deadline - erlang:monotonic_time(millisecond)).
