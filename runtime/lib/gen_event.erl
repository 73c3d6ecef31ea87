%% SPDX-License-Identifier: Apache-2.0
%% The event manager behaviour: one process that hands every event to a changing
%% set of handlers. A handler is known by its module or {Module, Id}; the newest
%% is called first. A supervised handler is linked to the process that added it,
%% which is told when the handler goes.
-module(gen_event).

-export([start/0, start/1, start/2, start_link/0, start_link/1, start_link/2, start_monitor/0,
         start_monitor/1, start_monitor/2, stop/1, stop/3, notify/2, sync_notify/2, add_handler/3,
         add_sup_handler/3, delete_handler/3, swap_handler/3, swap_sup_handler/3, which_handlers/1, call/3,
         call/4, send_request/3, send_request/5, wait_response/2, wait_response/3, receive_response/2,
         receive_response/3, check_response/2, check_response/3, reqids_new/0, reqids_size/1, reqids_add/3,
         reqids_to_list/1]).
-export([init_it/6, wakeup/1, system_continue/3, system_terminate/4, system_code_change/4, system_get_state/1,
         system_replace_state/2, format_status/2, format_log/1, format_log/2, print_event/3]).

-callback init(Args :: term()) -> term().
-callback handle_event(Event :: term(), State :: term()) -> term().
-callback handle_call(Request :: term(), State :: term()) -> term().
-callback handle_info(Info :: term(), State :: term()) -> term().
-callback terminate(Args :: term(), State :: term()) -> term().
-callback code_change(OldVsn :: term(), State :: term(), Extra :: term()) -> term().
-callback format_status(Status :: map()) -> map().
-optional_callbacks([handle_info/2, terminate/2, code_change/3, format_status/1]).

-record(h, {module, id = false, state, supervisor = false}).
-record(m, {parent, name, hibernate_after, debug = [], handlers = []}).

%% Interface

start() -> gen:start(?MODULE, nolink, [], [], []).
start(Options) when is_list(Options) -> gen:start(?MODULE, nolink, [], [], Options);
start(Name) -> start(Name, []).
start(Name, Options) -> gen:start(?MODULE, nolink, Name, [], [], Options).
start_link() -> gen:start(?MODULE, link, [], [], []).
start_link(Options) when is_list(Options) -> gen:start(?MODULE, link, [], [], Options);
start_link(Name) -> start_link(Name, []).
start_link(Name, Options) -> gen:start(?MODULE, link, Name, [], [], Options).
start_monitor() -> gen:start(?MODULE, monitor, [], [], []).
start_monitor(Options) when is_list(Options) -> gen:start(?MODULE, monitor, [], [], Options);
start_monitor(Name) -> start_monitor(Name, []).
start_monitor(Name, Options) -> gen:start(?MODULE, monitor, Name, [], [], Options).

stop(Manager) -> gen:stop(Manager).
stop(Manager, Reason, Timeout) -> gen:stop(Manager, Reason, Timeout).

notify(Manager, Event) ->
    case gen:cast_target(Manager) of
        undefined when is_atom(Manager) -> error(badarg, [Manager, Event]);
        undefined -> ok;
        Target ->
            Target ! {notify, Event},
            ok
    end.

sync_notify(Manager, Event) -> request(Manager, {sync_notify, Event}).

add_handler(Manager, Handler, Args) -> request(Manager, {add_handler, Handler, Args}).

add_sup_handler(Manager, Handler, Args) -> request(Manager, {add_sup_handler, Handler, Args, self()}).

delete_handler(Manager, Handler, Args) -> request(Manager, {delete_handler, Handler, Args}).

swap_handler(Manager, {Old, OldArgs}, {New, NewArgs}) ->
    request(Manager, {swap_handler, Old, OldArgs, New, NewArgs}).

swap_sup_handler(Manager, {Old, OldArgs}, {New, NewArgs}) ->
    request(Manager, {swap_sup_handler, Old, OldArgs, New, NewArgs, self()}).

which_handlers(Manager) -> request(Manager, which_handlers).

call(Manager, Handler, Query) -> request(Manager, {call, Handler, Query}, 5000).

call(Manager, Handler, Query, Timeout) -> request(Manager, {call, Handler, Query}, Timeout).

request(Manager, Request) -> request(Manager, Request, infinity).

request(Manager, Request, Timeout) ->
    {ok, Reply} = gen:call(Manager, self(), Request, Timeout),
    Reply.

send_request(Manager, Handler, Query) -> gen:send_request(Manager, self(), {call, Handler, Query}).
send_request(Manager, Handler, Query, Label, Collection) ->
    gen:send_request(Manager, self(), {call, Handler, Query}, Label, Collection).
wait_response(Id, Timeout) -> reply_of(gen:wait_response(Id, Timeout)).
wait_response(Collection, Timeout, Delete) -> reply_of(gen:wait_response(Collection, Timeout, Delete)).
receive_response(Id, Timeout) -> reply_of(gen:receive_response(Id, Timeout)).
receive_response(Collection, Timeout, Delete) -> reply_of(gen:receive_response(Collection, Timeout, Delete)).
check_response(Message, Id) -> reply_of(gen:check_response(Message, Id)).
check_response(Message, Collection, Delete) -> reply_of(gen:check_response(Message, Collection, Delete)).
reqids_new() -> gen:reqids_new().
reqids_size(Collection) -> gen:reqids_size(Collection).
reqids_add(Id, Label, Collection) -> gen:reqids_add(Id, Label, Collection).
reqids_to_list(Collection) -> gen:reqids_to_list(Collection).

%% An error the manager answers counts as an error of the request.
reply_of({reply, {error, _} = Error}) -> Error;
reply_of({{reply, {error, _} = Error}, Label, Collection}) -> {Error, Label, Collection};
reply_of(Other) -> Other.

%% The manager

init_it(Starter, self, Name, Mod, Args, Options) -> init_it(Starter, self(), Name, Mod, Args, Options);
init_it(Starter, Parent, FullName, _, _, Options) ->
    process_flag(trap_exit, true),
    Debug = gen:debug_options(FullName, Options),
    proc_lib:init_ack(Starter, {ok, self()}),
    loop(#m{parent = Parent, name = gen:name(FullName), debug = Debug,
            hibernate_after = gen:hibernate_after(Options)}, false).

loop(M, true) -> proc_lib:hibernate(?MODULE, wakeup, [M]);
loop(#m{hibernate_after = After} = M, false) ->
    receive Message -> message(Message, M)
    after After -> loop(M, true)
    end.

wakeup(M) ->
    receive Message -> message(Message, M) end.

message({system, From, Request}, #m{parent = Parent, debug = Debug} = M) ->
    sys:handle_system_msg(Request, From, Parent, ?MODULE, Debug, M, false);
message({'EXIT', Parent, Reason}, #m{parent = Parent} = M) -> stopped(Reason, M);
message(Message, #m{debug = []} = M) -> handle(Message, M);
message(Message, #m{debug = Debug, name = Name} = M) ->
    handle(Message, M#m{debug = sys:handle_debug(Debug, fun ?MODULE:print_event/3, Name, {in, Message})}).

%% Requests carry the caller's pid where other behaviours have a label.
handle({notify, Event}, M) -> go(all(handle_event, Event, M));
handle({_, From, {sync_notify, Event}}, M) ->
    Result = all(handle_event, Event, M),
    gen:reply(From, ok),
    go(Result);
handle({'EXIT', From, Reason} = Exit, M) ->
    {Gone, Kept} = lists:partition(fun(#h{supervisor = S}) -> S =:= From end, M#m.handlers),
    case Gone of
        [] -> go(all(handle_info, Exit, M));
        _ ->
            [ended(H, {stop, Reason}, shutdown, Exit, M) || H <- Gone],
            go({M#m{handlers = Kept}, false})
    end;
handle({_, From, {call, Handler, Query}}, M) -> answer_call(find(Handler, M), Query, From, M);
handle({_, From, {add_handler, Handler, Args}}, M) -> answer(From, add(Handler, Args, false, M));
handle({_, From, {add_sup_handler, Handler, Args, Pid}}, M) -> answer(From, add(Handler, Args, Pid, M));
handle({_, From, {delete_handler, Handler, Args}}, M) ->
    case find(Handler, M) of
        false -> answer(From, {{error, module_not_found}, M, false});
        H ->
            Reply = ended(H, Args, normal, delete, M),
            answer(From, {Reply, without(H, M), false})
    end;
handle({_, From, {swap_handler, Old, OldArgs, New, NewArgs}}, M) ->
    answer(From, swap(Old, OldArgs, New, NewArgs, kept, M));
handle({_, From, {swap_sup_handler, Old, OldArgs, New, NewArgs, Pid}}, M) ->
    answer(From, swap(Old, OldArgs, New, NewArgs, Pid, M));
handle({_, From, which_handlers}, M) ->
    answer(From, {[name(H) || H <- M#m.handlers], M, false});
handle(Info, M) -> go(all(handle_info, Info, M)).

go({M, Hibernate}) -> loop(M, Hibernate).

answer(From, {Reply, M, Hibernate}) ->
    gen:reply(From, Reply),
    loop(M, Hibernate).

%% Handlers

name(#h{module = Mod, id = false}) -> Mod;
name(#h{module = Mod, id = {id, Id}}) -> {Mod, Id}.

handler({Mod, Id}) -> #h{module = Mod, id = {id, Id}};
handler(Mod) -> #h{module = Mod}.

find(Handler, #m{handlers = Hs}) ->
    #h{module = Mod, id = Id} = handler(Handler),
    case [H || #h{module = Mod1, id = Id1} = H <- Hs, Mod1 =:= Mod, Id1 =:= Id] of
        [H | _] -> H;
        [] -> false
    end.

%% The same handler may have been added more than once: the newest is meant.
without(H, #m{handlers = Hs} = M) -> M#m{handlers = lists:delete(H, Hs)}.

replaced(Old, New, #m{handlers = Hs} = M) ->
    {Before, [_ | After]} = lists:splitwith(fun(H) -> H =/= Old end, Hs),
    M#m{handlers = Before ++ [New | After]}.

add(Handler, Args, Supervisor, M) ->
    H = handler(Handler),
    case (catch (H#h.module):init(Args)) of
        {ok, State} -> {ok, added(H#h{state = State}, Supervisor, M), false};
        {ok, State, hibernate} -> {ok, added(H#h{state = State}, Supervisor, M), true};
        Other -> {Other, M, false}
    end.

added(H, Supervisor, #m{handlers = Hs} = M) ->
    is_pid(Supervisor) andalso link(Supervisor),
    M#m{handlers = [H#h{supervisor = Supervisor} | Hs]}.

swap(Old, OldArgs, New, NewArgs, Supervisor, M) ->
    {M1, Result, OldSupervisor} =
        case find(Old, M) of
            false -> {M, error, false};
            H -> {without(H, M), ended(H, OldArgs, swapped, {swap, New}, M), H#h.supervisor}
        end,
    Sup = case Supervisor of kept -> OldSupervisor; _ -> Supervisor end,
    case add(New, {NewArgs, Result}, Sup, M1) of
        {ok, M2, Hibernate} -> {ok, M2, Hibernate};
        {Other, M2, _} -> {{error, Other}, M2, false}
    end.

%% Every handler in turn; hibernates if one of them asks for it.
all(Function, Event, #m{handlers = Hs} = M) ->
    {Kept, Hibernate} = each(Hs, Function, Event, M),
    {M#m{handlers = Kept}, Hibernate}.

each([H | Hs], Function, Event, M) ->
    {Mine, Hib1} = one(H, Function, Event, M),
    {Others, Hib2} = each(Hs, Function, Event, M),
    {Mine ++ Others, Hib1 orelse Hib2};
each([], _, _, _) -> {[], false}.

one(#h{module = Mod, state = State} = H, Function, Event, M) ->
    case (catch Mod:Function(Event, State)) of
        {ok, New} -> {[H#h{state = New}], false};
        {ok, New, hibernate} -> {[H#h{state = New}], true};
        {swap_handler, Args, New, Handler, NewArgs} ->
            Result = ended(H#h{state = New}, Args, swapped, {swap, Handler}, M),
            case add(Handler, {NewArgs, Result}, H#h.supervisor, M#m{handlers = []}) of
                {ok, #m{handlers = Added}, Hibernate} -> {Added, Hibernate};
                _ -> {[], false}
            end;
        remove_handler ->
            _ = ended(H, remove_handler, normal, Event, M),
            {[], false};
        {'EXIT', {undef, [{Mod, handle_info, [_, _], _} | _]}} when Function =:= handle_info ->
            logger:log(warning, #{label => {?MODULE, no_handle_info}, module => Mod, message => Event},
                       #{domain => [otp], report_cb => fun ?MODULE:format_log/2,
                         error_logger => #{tag => warning_msg, report_cb => fun ?MODULE:format_log/1}}),
            {[H], false};
        Other ->
            _ = ended(H, {error, Other}, Other, Event, M),
            {[], false}
    end.

answer_call(false, _, From, M) -> answer(From, {{error, bad_module}, M, false});
answer_call(#h{module = Mod, state = State} = H, Query, From, M) ->
    case (catch Mod:handle_call(Query, State)) of
        {ok, Reply, New} -> answer(From, {Reply, replaced(H, H#h{state = New}, M), false});
        {ok, Reply, New, hibernate} -> answer(From, {Reply, replaced(H, H#h{state = New}, M), true});
        {swap_handler, Reply, Args, New, Handler, NewArgs} ->
            Result = ended(H#h{state = New}, Args, swapped, {swap, Handler}, M),
            {_, M1, Hibernate} = add(Handler, {NewArgs, Result}, H#h.supervisor, without(H, M)),
            answer(From, {Reply, M1, Hibernate});
        {remove_handler, Reply} ->
            _ = ended(H, remove_handler, normal, Query, M),
            answer(From, {Reply, without(H, M), false});
        {'EXIT', Reason} ->
            _ = ended(H, {error, {'EXIT', Reason}}, {'EXIT', Reason}, Query, M),
            answer(From, {{error, {'EXIT', Reason}}, without(H, M), false});
        Other ->
            _ = ended(H, {error, Other}, Other, Query, M),
            answer(From, {{error, Other}, without(H, M), false})
    end.

%% A handler goes: terminate/2 is called, its supervisor told, and if it did not
%% go by itself a report is written.
ended(#h{module = Mod, state = State, supervisor = Supervisor} = H, Args, Reason, LastEvent, M) ->
    Result = case erlang:function_exported(Mod, terminate, 2) of
                 true -> (catch Mod:terminate(Args, State));
                 false -> ok
             end,
    case Supervisor of
        false -> ok;
        Pid ->
            Why = case LastEvent of {swap, New} -> {swapped, New, Pid}; _ -> Reason end,
            Pid ! {gen_event_EXIT, name(H), Why},
            Others = [x || #h{supervisor = S} <- M#m.handlers, S =:= Pid],
            Pid =:= M#m.parent orelse length(Others) > 1 orelse unlink(Pid)
    end,
    report(H, Reason, LastEvent, M),
    Result.

report(_, Quiet, _, _) when Quiet =:= normal; Quiet =:= shutdown; Quiet =:= swapped -> ok;
report(H, Reason, LastEvent, #m{name = Name}) ->
    logger:log(error,
               #{label => {?MODULE, terminate}, handler => name(H), name => Name, last_message => LastEvent,
                 state => maps:get(state, status(H)), reason => Reason,
                 process_label => proc_lib:get_label(self())},
               #{domain => [otp], report_cb => fun ?MODULE:format_log/2,
                 error_logger => #{tag => error, report_cb => fun ?MODULE:format_log/1}}).

status(#h{module = Mod, state = State}) ->
    case erlang:function_exported(Mod, format_status, 1) of
        true ->
            try maps:merge(#{state => State}, Mod:format_status(#{state => State}))
            catch _:_ -> #{state => "Mod:format_status/1 crashed"}
            end;
        false -> #{state => State}
    end.

format_log(#{label := {?MODULE, terminate}, handler := Handler, name := Name, last_message := Event,
             state := State, reason := Reason} = Report) ->
    {LabelFormat, LabelArgs} = report_text:label("** Process label == ~tp~n", Report),
    {"** gen_event handler ~tp crashed.~n** Was installed in ~tp~n" ++ LabelFormat
     ++ "** Last event was: ~tp~n** When handler state == ~tp~n** Reason == ~tp~n",
     [Handler, Name] ++ LabelArgs ++ [Event, State, shown_reason(Reason)]};
format_log(#{label := {?MODULE, no_handle_info}, module := Mod, message := Message}) ->
    {"** Undefined handle_info in ~tp~n** Unhandled message: ~tp~n", [Mod, Message]}.

format_log(Report, Options) -> report_text:text(Report, Options, fun format_log/1, fun on_one_line/1).

on_one_line(#{label := {?MODULE, terminate}, handler := Handler, name := Name, last_message := Event,
              state := State, reason := Reason} = Report) ->
    {LabelFormat, LabelArgs} = report_text:label(" Label: ~tp.", Report),
    {"Generic event handler ~tp crashed. Installed: ~tp." ++ LabelFormat
     ++ " Last event: ~tp. State: ~tp. Reason: ~tp.",
     [Handler, Name] ++ LabelArgs ++ [Event, State, shown_reason(Reason)]};
on_one_line(#{label := {?MODULE, no_handle_info}, module := Mod, message := Message}) ->
    {"Undefined handle_info in ~tp. Unhandled message: ~tp.", [Mod, Message]}.

shown_reason({'EXIT', Reason}) -> report_text:reason(Reason);
shown_reason(Reason) -> Reason.

%% The manager ends
stopped(Reason, #m{handlers = Hs} = M) ->
    [ended(H, stop, shutdown, stop, M) || H <- Hs],
    exit(Reason).

%% System messages

print_event(Device, {in, {notify, Event}}, Name) ->
    io:format(Device, "*DBG* ~tp got event ~tp~n", [Name, Event]);
print_event(Device, {in, {_, _, {call, Handler, Query}}}, Name) ->
    io:format(Device, "*DBG* ~tp(~tp) got call ~tp~n", [Name, Handler, Query]);
print_event(Device, {in, Message}, Name) -> io:format(Device, "*DBG* ~tp got ~tp~n", [Name, Message]);
print_event(Device, Event, Name) -> io:format(Device, "*DBG* ~tp dbg  ~tp~n", [Name, Event]).

system_continue(_, Debug, M) -> loop(M#m{debug = Debug}, false).

system_terminate(Reason, _, _, M) -> stopped(Reason, M).

system_code_change(#m{handlers = Hs} = M, Module, OldVsn, Extra) ->
    Changed = [case H of
                   #h{module = Module, state = State} ->
                       {ok, New} = Module:code_change(OldVsn, State, Extra),
                       H#h{state = New};
                   _ -> H
               end || H <- Hs],
    {ok, M#m{handlers = Changed}}.

system_get_state(#m{handlers = Hs}) ->
    {ok, [{Mod, case Id of {id, I} -> I; false -> false end, State} || #h{module = Mod, id = Id,
        state = State} <- Hs]}.

system_replace_state(Fun, #m{handlers = Hs} = M) ->
    {States, New} =
        lists:unzip([begin
                         Key = case Id of {id, I} -> I; false -> false end,
                         {Mod, Key, State1} = S = try Fun({Mod, Key, State}) catch _:_ ->
                             {Mod, Key, State} end,
                         {S, H#h{state = State1}}
                     end || #h{module = Mod, id = Id, state = State} = H <- Hs]),
    {ok, States, M#m{handlers = New}}.

format_status(_, [_, SysState, Parent, _, #m{name = Name, handlers = Hs}]) ->
    [{header, gen:format_status_header("Status for event handler", Name)},
     {data, [{"Status", SysState}, {"Parent", Parent}]},
     {items, {"Installed handlers", [{H#h.module, maps:get(state, status(H))} || H <- Hs]}}].
