%% The state machine behaviour.
%%
%% An event is {Type, Content}. Those to be handled before the mailbox is looked
%% at again are in a queue; postponed ones are kept aside, the last first, and go
%% to the front of the queue when the state changes. A running time-out is in a
%% map from its kind (timeout, state_timeout or {timeout, Name}) to
%% {Reference, Content}; one of time zero is an entry {due, Kind, Reference} in
%% the queue instead of a timer.
-module(gen_statem).

-export([start/3, start/4, start_link/3, start_link/4, start_monitor/3, start_monitor/4, stop/1, stop/3,
         cast/2, call/2, call/3, reply/1, reply/2, send_request/2, send_request/4, wait_response/1, wait_response/2,
         wait_response/3, receive_response/1, receive_response/2, receive_response/3, check_response/2,
         check_response/3, reqids_new/0, reqids_size/1, reqids_add/3, reqids_to_list/1,
         enter_loop/4, enter_loop/5, enter_loop/6]).
-export([init_it/6, wakeup/2, system_continue/3, system_terminate/4, system_code_change/4, system_get_state/1,
         system_replace_state/2, format_status/2, format_log/1, format_log/2, print_event/3]).

-callback init(Args :: term()) -> term().
-callback callback_mode() -> atom() | [atom()].
-callback handle_event(Type :: term(), Content :: term(), State :: term(), Data :: term()) -> term().
-callback terminate(Reason :: term(), State :: term(), Data :: term()) -> term().
-callback code_change(OldVsn :: term(), State :: term(), Data :: term(), Extra :: term()) -> term().
-callback format_status(Status :: map()) -> map().
-callback format_status(Opt :: term(), StatusData :: [term()]) -> term().
-optional_callbacks([handle_event/4, terminate/3, code_change/4, format_status/1, format_status/2]).

-record(m, {parent, name, modules,           % the callback module is the first
              mode = state_functions, enter = false,  % from callback_mode/0
            hibernate_after = infinity,
            debug = [],
            state, data,
            postponed = [],
            timers = #{}}).

-define(STACK, element(2, process_info(self(), current_stacktrace))).

%% What the actions of a transition come to.
-record(t, {note = none, postpone = false, hibernate = false, next_events = [], timeouts = [], replies = []}).

%% Interface

start(Mod, Args, Options) -> gen:start(?MODULE, nolink, Mod, Args, Options).
start(Name, Mod, Args, Options) -> gen:start(?MODULE, nolink, Name, Mod, Args, Options).
start_link(Mod, Args, Options) -> gen:start(?MODULE, link, Mod, Args, Options).
start_link(Name, Mod, Args, Options) -> gen:start(?MODULE, link, Name, Mod, Args, Options).
start_monitor(Mod, Args, Options) -> gen:start(?MODULE, monitor, Mod, Args, Options).
start_monitor(Name, Mod, Args, Options) -> gen:start(?MODULE, monitor, Name, Mod, Args, Options).

stop(Server) -> gen:stop(Server).
stop(Server, Reason, Timeout) -> gen:stop(Server, Reason, Timeout).

cast(Server, Message) ->
    case gen:cast_target(Server) of
        undefined -> ok;
        Target ->
            catch erlang:send(Target, {'$gen_cast', Message}),
            ok
    end.

call(Server, Request) -> call(Server, Request, infinity).

call(Server, Request, {clean_timeout, T}) -> call(Server, Request, T);
call(Server, Request, {dirty_timeout, T}) -> call(Server, Request, T);
call(Server, Request, Timeout) ->
    try gen:call(Server, '$gen_call', Request, Timeout) of
        {ok, Reply} -> Reply
    catch exit:Reason -> exit({Reason, {?MODULE, call, [Server, Request, Timeout]}})
    end.

reply({reply, From, Reply}) -> reply(From, Reply);
reply(Replies) when is_list(Replies) -> lists:foreach(fun reply/1, Replies).

reply(From, Reply) -> gen:reply(From, Reply).

send_request(Server, Request) -> gen:send_request(Server, '$gen_call', Request).
send_request(Server, Request, Label, Collection) -> gen:send_request(Server, '$gen_call', Request, Label, Collection).
wait_response(Id) -> gen:wait_response(Id, infinity).
wait_response(Id, Timeout) -> gen:wait_response(Id, Timeout).
wait_response(Collection, Timeout, Delete) -> gen:wait_response(Collection, Timeout, Delete).
receive_response(Id) -> gen:receive_response(Id, infinity).
receive_response(Id, Timeout) -> gen:receive_response(Id, Timeout).
receive_response(Collection, Timeout, Delete) -> gen:receive_response(Collection, Timeout, Delete).
check_response(Message, Id) -> gen:check_response(Message, Id).
check_response(Message, Collection, Delete) -> gen:check_response(Message, Collection, Delete).
reqids_new() -> gen:reqids_new().
reqids_size(Collection) -> gen:reqids_size(Collection).
reqids_add(Id, Label, Collection) -> gen:reqids_add(Id, Label, Collection).
reqids_to_list(Collection) -> gen:reqids_to_list(Collection).

%% Initialisation

init_it(Starter, self, Name, Mod, Args, Options) -> init_it(Starter, self(), Name, Mod, Args, Options);
init_it(Starter, Parent, FullName, Mod, Args, Options) ->
    M0 = machine(Parent, FullName, Mod, Options),
    GiveUp = fun(Answer, Class, Reason, Stack) ->
                     gen:unregister_name(FullName),
                     proc_lib:init_ack(Starter, Answer),
                     erlang:raise(Class, Reason, Stack)
             end,
    Result = try Mod:init(Args)
             catch
                 throw:Value -> Value;
                 error:E:S -> report(error, E, S, [], M0), GiveUp({error, {E, S}}, error, E, S);
                 exit:E:S -> report(exit, E, S, [], M0), GiveUp({error, E}, exit, E, S)
             end,
    case Result of
        {ok, State, Data} -> begin_machine(Starter, with_mode(M0), State, Data, []);
        {ok, State, Data, Actions} -> begin_machine(Starter, with_mode(M0), State, Data, Actions);
        {stop, Reason} -> GiveUp({error, Reason}, exit, Reason, []);
        {error, Reason} -> GiveUp({error, Reason}, exit, normal, []);
        ignore -> GiveUp(ignore, exit, normal, []);
        Other ->
            Bad = {bad_return_from_init, Other},
            report(error, Bad, ?STACK, [], M0),
            GiveUp({error, Bad}, exit, Bad, [])
    end.

machine(Parent, FullName, Mod, Options) ->
    #m{parent = Parent, name = gen:name(FullName), modules = [Mod],
       debug = gen:debug_options(FullName, Options), hibernate_after = gen:hibernate_after(Options)}.

with_mode(#m{modules = [Mod | _]} = M) ->
    Modes = case Mod:callback_mode() of
                L when is_list(L) -> L;
                One -> [One]
            end,
    case [X || X <- Modes, X =:= state_functions orelse X =:= handle_event_function] of
        [Mode] -> M#m{mode = Mode, enter = lists:member(state_enter, Modes)};
        _ -> error({bad_return_from_callback_mode, Modes})
    end.

begin_machine(Starter, M, State, Data, Actions) ->
    proc_lib:init_ack(Starter, {ok, self()}),
    started(M, State, Data, Actions).

started(M0, State, Data, Actions) ->
    M = noted({enter, hd(M0#m.modules), State}, M0#m{state = State, data = Data}),
    Event = {internal, init_state},
    case actions(Actions, #t{note = {consume, Event, State}}, M) of
        {error, Action} -> terminate(error, {bad_action_from_state_function, Action}, ?STACK, Event, [], M);
        {T, M1} -> enter_and_go(State, T, Event, [], M1#m{state = State})
    end.

%% The initial state is entered from itself.
enter_and_go(Old, T, Event, Queue, M) ->
    case enter(Old, T, M, Event, Queue) of
        {T1, M1} -> settle(T1, Queue, M1)
    end.

enter_loop(Mod, Options, State, Data) -> enter_loop(Mod, Options, State, Data, self(), []).

enter_loop(Mod, Options, State, Data, Actions) when is_list(Actions) ->
    enter_loop(Mod, Options, State, Data, self(), Actions);
enter_loop(Mod, Options, State, Data, Name) -> enter_loop(Mod, Options, State, Data, Name, []).

enter_loop(Mod, Options, State, Data, FullName, Actions) ->
    _ = gen:get_proc_name(FullName),
    started(with_mode(machine(gen:get_parent(), FullName, Mod, Options)), State, Data, Actions).

%% The loop

next([{due, Kind, Ref} | Queue], M) ->
    case M#m.timers of
        #{Kind := {Ref, Content}} -> event(Kind, Content, Queue, forget(Kind, M));
        #{} -> next(Queue, M)
    end;
next([{Type, Content} | Queue], M) -> event(Type, Content, Queue, M);
next([], #m{hibernate_after = After} = M) ->
    receive Message -> message(Message, M)
    after After -> proc_lib:hibernate(?MODULE, wakeup, [M, false])
    end.

wakeup(M, _) ->
    receive Message -> message(Message, M) end.

message({'$gen_call', From, Request}, M) -> event({call, From}, Request, [], M);
message({'$gen_cast', Request}, M) -> event(cast, Request, [], M);
message({timeout, Ref, Kind} = Message, #m{timers = Timers} = M) ->
    case Timers of
        #{Kind := {Ref, Content}} -> event(Kind, Content, [], forget(Kind, M));
        #{} -> event(info, Message, [], M)
    end;
message({system, From, Request}, #m{parent = Parent, debug = Debug} = M) ->
    sys:handle_system_msg(Request, From, Parent, ?MODULE, Debug, M, false);
message({'EXIT', Parent, Reason}, #m{parent = Parent} = M) ->
    terminate(exit, Reason, ?STACK, {info, {'EXIT', Parent, Reason}}, [], M);
message(Message, M) -> event(info, Message, [], M).

%% Any event ends the wait of an event time-out.
event(Type, Content, Queue, M0) ->
    M = noted({in, {Type, Content}, M0#m.state}, cancel(timeout, M0)),
    Event = {Type, Content},
    case call_state(Type, Content, M) of
        {ok, Result} -> result(Result, Event, Queue, M);
        {Class, Reason, Stack} -> terminate(Class, Reason, Stack, Event, Queue, M)
    end.

call_state(Type, Content, #m{modules = [Mod | _], mode = Mode, state = State, data = Data}) ->
    try
        case Mode of
            state_functions -> {ok, Mod:State(Type, Content, Data)};
            handle_event_function -> {ok, Mod:handle_event(Type, Content, State, Data)}
        end
    catch
        throw:Result -> {ok, Result};
        Class:Reason:Stack -> {Class, Reason, Stack}
    end.

result(keep_state_and_data, E, Q, M) -> transition(M#m.state, M#m.data, false, [], E, Q, M);
result({keep_state, Data}, E, Q, M) -> transition(M#m.state, Data, false, [], E, Q, M);
result({keep_state_and_data, As}, E, Q, M) -> transition(M#m.state, M#m.data, false, As, E, Q, M);
result({keep_state, Data, As}, E, Q, M) -> transition(M#m.state, Data, false, As, E, Q, M);
result({next_state, State, Data}, E, Q, M) -> transition(State, Data, false, [], E, Q, M);
result({next_state, State, Data, As}, E, Q, M) -> transition(State, Data, false, As, E, Q, M);
result(repeat_state_and_data, E, Q, M) -> transition(M#m.state, M#m.data, true, [], E, Q, M);
result({repeat_state_and_data, As}, E, Q, M) -> transition(M#m.state, M#m.data, true, As, E, Q, M);
result({repeat_state, Data}, E, Q, M) -> transition(M#m.state, Data, true, [], E, Q, M);
result({repeat_state, Data, As}, E, Q, M) -> transition(M#m.state, Data, true, As, E, Q, M);
result(stop, E, Q, M) -> terminate(exit, normal, ?STACK, E, Q, M);
result({stop, Reason}, E, Q, M) -> terminate(exit, Reason, ?STACK, E, Q, M);
result({stop, Reason, Data}, E, Q, M) -> terminate(exit, Reason, ?STACK, E, Q, M#m{data = Data});
result({stop_and_reply, Reason, Replies}, E, Q, M) -> stop_and_reply(Reason, Replies, E, Q, M);
result({stop_and_reply, Reason, Replies, Data}, E, Q, M) -> stop_and_reply(Reason, Replies, E, Q, M#m{data = Data});
result(Other, E, Q, M) -> terminate(error, {bad_return_from_state_function, Other}, ?STACK, E, Q, M).

stop_and_reply(Reason, Replies, E, Q, M) ->
    case actions(Replies, #t{}, M) of
        {error, Action} -> terminate(error, {bad_reply_action_from_state_function, Action}, ?STACK, E, Q, M);
        {T, M1} ->
            try terminate(exit, Reason, ?STACK, E, Q, M1)
            after send_replies(T, M1)
            end
    end.

%% Repeat: the state is entered again, but nothing else of a state change
%% happens. Order of things: postpone, the new state's enter call, then the
%% queue is put together.
transition(State, Data, Repeat, Actions, Event, Queue, #m{state = Old} = M0) ->
    case actions(Actions, #t{}, M0) of
        {error, Action} ->
            terminate(error, {bad_action_from_state_function, Action}, ?STACK, Event, Queue, M0#m{state = State, data = Data});
        {T0, M1} ->
            {What, M2} = case T0#t.postpone of
                             true -> {postpone, M1#m{postponed = [Event | M1#m.postponed]}};
                             false -> {consume, M1}
                         end,
            T = T0#t{note = {What, Event, Old}},
            M3 = M2#m{state = State, data = Data},
            if
                State =/= Old ->
                    Retried = lists:reverse(M3#m.postponed, Queue),
                    enter_and_go(Old, T, Event, Retried, cancel(state_timeout, M3#m{postponed = []}));
                Repeat -> enter_and_go(Old, T, Event, Queue, M3);
                true -> settle(T, Queue, M3)
            end
    end.

enter(_, T, #m{enter = false} = M, _, _) -> {T, M};
enter(Old, T, #m{state = State} = M, Event, Queue) ->
    case call_state(enter, Old, M) of
        {ok, Result} ->
            case enter_result(Result, State, M#m.data) of
                {go, Data, Actions, Again} ->
                    case enter_actions(Actions, T, M) of
                        {error, Action} ->
                            terminate(error, {bad_state_enter_action_from_state_function, Action}, ?STACK, Event, Queue, M);
                        {T1, M1} when Again -> enter(Old, T1, M1#m{data = Data}, Event, Queue);
                        {T1, M1} -> {T1, M1#m{data = Data}}
                    end;
                {stop, Reason, Data} -> terminate(exit, Reason, ?STACK, Event, Queue, M#m{data = Data});
                {stop_and_reply, Reason, Replies, Data} -> stop_and_reply(Reason, Replies, Event, Queue, M#m{data = Data});
                bad -> terminate(error, {bad_state_enter_return_from_state_function, Result}, ?STACK, Event, Queue, M)
            end;
        {Class, Reason, Stack} -> terminate(Class, Reason, Stack, Event, Queue, M)
    end.

enter_result(keep_state_and_data, _, Data) -> {go, Data, [], false};
enter_result({keep_state_and_data, Actions}, _, Data) -> {go, Data, Actions, false};
enter_result({keep_state, Data}, _, _) -> {go, Data, [], false};
enter_result({keep_state, Data, Actions}, _, _) -> {go, Data, Actions, false};
enter_result({next_state, State, Data}, State, _) -> {go, Data, [], false};
enter_result({next_state, State, Data, Actions}, State, _) -> {go, Data, Actions, false};
enter_result(repeat_state_and_data, _, Data) -> {go, Data, [], true};
enter_result({repeat_state_and_data, Actions}, _, Data) -> {go, Data, Actions, true};
enter_result({repeat_state, Data}, _, _) -> {go, Data, [], true};
enter_result({repeat_state, Data, Actions}, _, _) -> {go, Data, Actions, true};
enter_result(stop, _, Data) -> {stop, normal, Data};
enter_result({stop, Reason}, _, Data) -> {stop, Reason, Data};
enter_result({stop, Reason, Data}, _, _) -> {stop, Reason, Data};
enter_result({stop_and_reply, Reason, Replies}, _, Data) -> {stop_and_reply, Reason, Replies, Data};
enter_result({stop_and_reply, Reason, Replies, Data}, _, _) -> {stop_and_reply, Reason, Replies, Data};
enter_result(_, _, _) -> bad.

enter_actions(Actions, T, M) ->
    case actions(Actions, T, M) of
        {#t{postpone = P, next_events = N}, _} when P =/= T#t.postpone; N =/= T#t.next_events -> {error, Actions};
        Result -> Result
    end.

%% After the transition: replies go out, time-outs start, the queue continues.
settle(T, Queue, M0) ->
    {What, Event, Old} = T#t.note,
    M1 = noted({What, Event, Old, M0#m.state}, send_replies(T, M0)),
    {Due, M} = start_timeouts(lists:reverse(T#t.timeouts), [], M1),
    Queue1 = lists:reverse(T#t.next_events, Queue) ++ Due,
    case T#t.hibernate andalso Queue1 =:= [] of
        true -> proc_lib:hibernate(?MODULE, wakeup, [M, true]);
        false -> next(Queue1, M)
    end.

send_replies(#t{replies = Replies}, M) ->
    lists:foldr(fun({{To, _} = From, Reply}, Before) ->
                        gen:reply(From, Reply),
                        noted({out, Reply, To}, Before)
                end, M, Replies).

%% Actions

actions(Actions, T, M) when is_list(Actions) -> actions_list(Actions, T, M);
actions(Action, T, M) -> actions_list([Action], T, M).

actions_list([Action | Actions], T, M) ->
    case action(Action, T, M) of
        {error, _} = Error -> Error;
        {#t{} = T1, M1} -> actions_list(Actions, T1, M1);
        T1 -> actions_list(Actions, T1, M)
    end;
actions_list([], T, M) -> {T, M};
actions_list(Other, _, _) -> {error, Other}.

action(postpone, T, _) -> T#t{postpone = true};
action({postpone, B}, T, _) when is_boolean(B) -> T#t{postpone = B};
action(hibernate, T, _) -> T#t{hibernate = true};
action({hibernate, B}, T, _) when is_boolean(B) -> T#t{hibernate = B};
action({next_event, Type, Content} = Action, T, _) ->
    case is_event_type(Type) of
        true -> T#t{next_events = [{Type, Content} | T#t.next_events]};
        false -> {error, Action}
    end;
action({reply, {_, _} = From, Reply}, T, _) -> T#t{replies = [{From, Reply} | T#t.replies]};
action({change_callback_module, Mod}, T, #m{modules = [_ | Mods]} = M) when is_atom(Mod) ->
    {T, with_mode(M#m{modules = [Mod | Mods]})};
action({push_callback_module, Mod}, T, #m{modules = Mods} = M) when is_atom(Mod) ->
    {T, with_mode(M#m{modules = [Mod | Mods]})};
action(pop_callback_module, T, #m{modules = [_, Mod | Mods]} = M) -> {T, with_mode(M#m{modules = [Mod | Mods]})};
action(Time, T, _) when Time =:= infinity; is_integer(Time), Time >= 0 -> timeout_action(timeout, Time, Time, [], T);
action({Kind, cancel}, T, _) -> timeout_action(Kind, cancel, undefined, [], T);
action({Kind, update, Content}, T, _) -> timeout_action(Kind, update, Content, [], T);
action({Kind, Time, Content}, T, _) -> timeout_action(Kind, Time, Content, [], T);
action({Kind, Time, Content, Options}, T, _) ->
    timeout_action(Kind, Time, Content, if is_list(Options) -> Options; true -> [Options] end, T);
action(Action, _, _) -> {error, Action}.

timeout_action(Kind, Time, Content, Options, T) ->
    case is_timeout_kind(Kind) andalso
        (Time =:= infinity orelse Time =:= cancel orelse Time =:= update orelse is_integer(Time)) of
        true -> T#t{timeouts = [{Kind, Time, Content, Options} | T#t.timeouts]};
        false -> {error, {Kind, Time, Content}}
    end.

is_timeout_kind(timeout) -> true;
is_timeout_kind(state_timeout) -> true;
is_timeout_kind({timeout, _}) -> true;
is_timeout_kind(_) -> false.

is_event_type({call, {_, _}}) -> true;
is_event_type(cast) -> true;
is_event_type(info) -> true;
is_event_type(internal) -> true;
is_event_type(Type) -> is_timeout_kind(Type).

%% Time-outs

start_timeouts([{Kind, Time, Content, Options} | Timeouts], Due, M) ->
    case Time of
        update ->
            case M#m.timers of
                #{Kind := {Ref, _}} ->
                    start_timeouts(Timeouts, Due, M#m{timers = (M#m.timers)#{Kind := {Ref, Content}}});
                #{} -> start_timeouts([{Kind, 0, Content, []} | Timeouts], Due, M)
            end;
        _ when Time =:= cancel; Time =:= infinity -> start_timeouts(Timeouts, Due, cancel(Kind, M));
        0 ->
            Ref = make_ref(),
            M1 = cancel(Kind, M),
            start_timeouts(Timeouts, [{due, Kind, Ref} | Due], remember(Kind, Ref, Content, M1));
        _ ->
            M1 = cancel(Kind, M),
            Ref = erlang:start_timer(Time, self(), Kind, Options),
            start_timeouts(Timeouts, Due, remember(Kind, Ref, Content, M1))
    end;
start_timeouts([], Due, M) -> {lists:reverse(Due), M}.

remember(Kind, Ref, Content, #m{timers = Timers} = M) -> M#m{timers = Timers#{Kind => {Ref, Content}}}.

forget(Kind, #m{timers = Timers} = M) -> M#m{timers = maps:remove(Kind, Timers)}.

%% A timer that has just fired has its message taken out of the mailbox.
cancel(Kind, #m{timers = Timers} = M) ->
    case Timers of
        #{Kind := {Ref, _}} ->
            case erlang:cancel_timer(Ref) of
                false -> receive {timeout, Ref, _} -> ok after 0 -> ok end;
                _ -> ok
            end,
            M#m{timers = maps:remove(Kind, Timers)};
        #{} -> M
    end.

%% The end

terminate(Class, Reason, Stack, Event, Queue, #m{modules = [Mod | _], state = State, data = Data} = M) ->
    Events = case Event of none -> []; _ -> [Event | Queue] end,
    case erlang:function_exported(Mod, terminate, 3) of
        true ->
            try Mod:terminate(Reason, State, Data) of
                _ -> ok
            catch
                throw:_ -> ok;
                C:R:S ->
                    report(C, R, S, Events, M),
                    erlang:raise(C, R, S)
            end;
        false -> ok
    end,
    case Class =:= exit andalso is_quiet(Reason) of
        true -> noted({terminate, Reason, State}, M);
        false -> report(Class, Reason, Stack, Events, M)
    end,
    erlang:raise(Class, Reason, Stack).

is_quiet(normal) -> true;
is_quiet(shutdown) -> true;
is_quiet({shutdown, _}) -> true;
is_quiet(_) -> false.

report(Class, Reason, Stack, Events, #m{name = Name, modules = [Mod | _] = Mods, mode = Mode, enter = Enter} = M) ->
    Status = status(Mod, #{state => M#m.state, data => M#m.data, reason => Reason, log => sys:get_log(M#m.debug)}, terminate),
    logger:log(error,
               #{label => {?MODULE, terminate}, name => Name, queue => Events, postponed => M#m.postponed,
                 modules => Mods, callback_mode => Mode, state_enter => Enter,
                 state => shown_state(Status), log => maps:get(log, Status), timeouts => timeouts(M),
                 reason => {Class, maps:get(reason, Status), Stack}, client_info => gen:client_info(client(Events))},
               #{domain => [otp], report_cb => fun ?MODULE:format_log/2,
                 error_logger => #{tag => error, report_cb => fun ?MODULE:format_log/1}}).

client([{{call, From}, _} | _]) -> From;
client(_) -> undefined.

timeouts(#m{timers = Timers}) -> {map_size(Timers), [{Kind, Content} || {Kind, {_, Content}} <- maps:to_list(Timers)]}.

%% The callback module may say how its state is shown: format_status/1, or the older format_status/2 in place of state and data.
status(Mod, Map, Opt) ->
    case erlang:function_exported(Mod, format_status, 1) of
        true ->
            try maps:merge(Map, Mod:format_status(Map))
            catch _:_ -> Map#{state => "Mod:format_status/1 crashed", data => "Mod:format_status/1 crashed"}
            end;
        false ->
            case erlang:function_exported(Mod, format_status, 2) of
                true ->
                    try Map#{shown => Mod:format_status(Opt, [get(), maps:get(state, Map), maps:get(data, Map)])}
                    catch _:_ -> Map#{shown => "Mod:format_status/2 crashed"}
                    end;
                false -> Map
            end
    end.

shown_state(#{shown := Shown}) -> Shown;
shown_state(#{state := State, data := Data}) -> {State, Data}.

format_log(#{label := {?MODULE, terminate}, name := Name, queue := Events, postponed := Postponed,
             modules := Mods, callback_mode := Mode, state_enter := Enter, state := State, log := Log,
             timeouts := {Running, _} = Timeouts, reason := {Class, _, _} = Why, client_info := Client}) ->
    {Reason, Stack} = shown_reason(Why),
    Parts = [{"** State machine ~tp terminating~n", [Name]}]
        ++ [{"** Last event = ~tp~n", [hd(Events)]} || Events =/= []]
        ++ [{"** When server state  = ~tp~n", [State]},
             {"** Reason for termination = ~tw:~tp~n", [Class, Reason]},
             {"** Callback modules = ~tp~n", [Mods]},
             {"** Callback mode = ~tp~n", [case Enter of true -> [Mode, state_enter]; false -> Mode end]}]
        ++ [{"** Queued = ~tp~n", [tl(Events)]} || length(Events) > 1]
        ++ [{"** Postponed = ~tp~n", [Postponed]} || Postponed =/= []]
        ++ [{"** Stacktrace =~n**  ~tp~n", [Stack]} || Stack =/= []]
        ++ [{"** Time-outs: ~tp~n", [Timeouts]} || Running > 0]
        ++ [{"** Log =~n**  ~tp~n", [Log]} || Log =/= []]
        ++ [gen:format_client(Client)],
    joined(Parts).

joined(Parts) ->
    {Formats, Args} = lists:unzip(Parts),
    {lists:append(Formats), lists:append(Args)}.

shown_reason({error, undef, [{M, F, A, _} | Stack] = All}) ->
    case report_text:undefined(M, F, A) of
        false -> {undef, All};
        Why -> {Why, Stack}
    end;
shown_reason({_, Reason, Stack}) -> {Reason, Stack}.

format_log(Report, Options) -> report_text:text(Report, Options, fun format_log/1, fun on_one_line/1).

on_one_line(#{label := {?MODULE, terminate}, name := Name, queue := Events, state := State, log := Log,
              reason := Why, client_info := Client}) ->
    {Reason, Stack} = shown_reason(Why),
    joined([{"State machine ~tp terminating. Reason: ~tp", [Name, Reason]}]
           ++ [{". Stack: ~tp", [Stack]} || Stack =/= []]
           ++ [{". Last event: ~tp", [hd(Events)]} || Events =/= []]
           ++ [{". State: ~tp", [State]}]
           ++ [{". Log: ~tp", [Log]} || Log =/= []]
           ++ [{".", []}, gen:format_client_on_one_line(Client)]).

%% System messages and debugging

noted(_, #m{debug = []} = M) -> M;
noted(Event, #m{debug = Debug, name = Name} = M) ->
    M#m{debug = sys:handle_debug(Debug, fun ?MODULE:print_event/3, Name, Event)}.

print_event(Device, Event, Name) -> io:format(Device, "*DBG* ~tp ~ts~n", [Name, event_text(Event)]).

event_text({enter, Mod, State}) -> io_lib:format("enter ~tp in state ~tp", [Mod, State]);
event_text({in, Event, State}) -> io_lib:format("receive ~ts in state ~tp", [what(Event), State]);
event_text({out, Reply, To}) -> io_lib:format("send ~tp to ~tw", [Reply, To]);
event_text({What, Event, State, State}) -> io_lib:format("~tw ~ts in state ~tp", [What, what(Event), State]);
event_text({What, Event, Old, New}) -> io_lib:format("~tw ~ts in state ~tp => ~tp", [What, what(Event), Old, New]);
event_text({terminate, Reason, State}) -> io_lib:format("terminate ~tp in state ~tp", [Reason, State]);
event_text(Event) -> io_lib:format("~tp", [Event]).

what({{call, {Pid, _}}, Request}) -> io_lib:format("call ~tp from ~tp", [Request, Pid]);
what({Type, Content}) -> io_lib:format("~tp ~tp", [Type, Content]).

system_continue(_, Debug, M) -> next([], M#m{debug = Debug}).

system_terminate(Reason, _, Debug, M) -> terminate(exit, Reason, ?STACK, none, [], M#m{debug = Debug}).

system_code_change(#m{modules = [Mod | _]} = M, _, OldVsn, Extra) ->
    case catch Mod:code_change(OldVsn, M#m.state, M#m.data, Extra) of
        {ok, State, Data} -> {ok, with_mode(M#m{state = State, data = Data})};
        Error -> Error
    end.

system_get_state(#m{state = State, data = Data}) -> {ok, {State, Data}}.

system_replace_state(Fun, M) ->
    {State, Data} = New = Fun({M#m.state, M#m.data}),
    {ok, New, M#m{state = State, data = Data}}.

format_status(Opt, [_, SysState, Parent, Debug, #m{name = Name, modules = [Mod | _] = Mods} = M]) ->
    Status = status(Mod, #{state => M#m.state, data => M#m.data, log => sys:get_log(Debug)}, Opt),
    [{header, gen:format_status_header("Status for state machine", Name)},
     {data, [{"Status", SysState}, {"Parent", Parent}, {"Modules", Mods}, {"Time-outs", timeouts(M)},
             {"Logged Events", maps:get(log, Status)}, {"Postponed", M#m.postponed}]}
     | case Status of
           #{shown := Own} when is_list(Own) -> Own;
           #{shown := Own} -> [Own];
           #{} -> [{data, [{"State", shown_state(Status)}]}]
       end].
