%% SPDX-License-Identifier: Apache-2.0
%% The client-server behaviour.
-module(gen_server).

-export([start/3, start/4, start_link/3, start_link/4, start_monitor/3, start_monitor/4, stop/1, stop/3,
         call/2, call/3, cast/2, reply/2, abcast/2, abcast/3, multi_call/2, multi_call/3, multi_call/4,
         send_request/2, send_request/4, wait_response/2, wait_response/3, receive_response/1,
         receive_response/2, receive_response/3, check_response/2, check_response/3, reqids_new/0,
         reqids_size/1, reqids_add/3, reqids_to_list/1, enter_loop/3, enter_loop/4, enter_loop/5,
         wake_hib/6]).
-export([init_it/6, system_continue/3, system_terminate/4, system_code_change/4, system_get_state/1,
         system_replace_state/2, format_status/2, format_log/1, format_log/2, print_event/3]).

-callback init(Args :: term()) ->
    {ok, State :: term()} | {ok, State :: term(), timeout() | hibernate | {continue, term()}} |
    {stop, Reason :: term()} | {error, Reason :: term()} | ignore.
-callback handle_call(Request :: term(), From :: {pid(), term()}, State :: term()) -> term().
-callback handle_cast(Request :: term(), State :: term()) -> term().
-callback handle_info(Info :: timeout | term(), State :: term()) -> term().
-callback handle_continue(Info :: term(), State :: term()) -> term().
-callback terminate(Reason :: term(), State :: term()) -> term().
-callback code_change(OldVsn :: term(), State :: term(), Extra :: term()) -> {ok, term()} | {error, term()}.
-callback format_status(Opt :: term(), StatusData :: [term()]) -> term().
-callback format_status(Status :: map()) -> map().
-optional_callbacks([handle_info/2, handle_continue/2, terminate/2, code_change/3, format_status/1,
                     format_status/2]).

%% What stays the same in a server's loop.
-record(server, {parent, name, module, hibernate_after}).

%% --- Start and stop ---

start(Mod, Args, Options) -> gen:start(?MODULE, nolink, Mod, Args, Options).
start(Name, Mod, Args, Options) -> gen:start(?MODULE, nolink, Name, Mod, Args, Options).
start_link(Mod, Args, Options) -> gen:start(?MODULE, link, Mod, Args, Options).
start_link(Name, Mod, Args, Options) -> gen:start(?MODULE, link, Name, Mod, Args, Options).
start_monitor(Mod, Args, Options) -> gen:start(?MODULE, monitor, Mod, Args, Options).
start_monitor(Name, Mod, Args, Options) -> gen:start(?MODULE, monitor, Name, Mod, Args, Options).

stop(Server) -> gen:stop(Server).
stop(Server, Reason, Timeout) -> gen:stop(Server, Reason, Timeout).

%% --- Requests ---

call(Server, Request) ->
    try gen:call(Server, '$gen_call', Request) of
        {ok, Reply} -> Reply
    catch exit:Reason -> exit({Reason, {?MODULE, call, [Server, Request]}})
    end.

call(Server, Request, Timeout) ->
    try gen:call(Server, '$gen_call', Request, Timeout) of
        {ok, Reply} -> Reply
    catch exit:Reason -> exit({Reason, {?MODULE, call, [Server, Request, Timeout]}})
    end.

cast(Server, Request) ->
    case gen:cast_target(Server) of
        undefined -> ok;
        Target -> catch erlang:send(Target, {'$gen_cast', Request}), ok
    end.

reply(Client, Reply) -> gen:reply(Client, Reply).

abcast(Name, Request) -> abcast([node() | nodes()], Name, Request).
abcast(Nodes, Name, Request) when is_list(Nodes), is_atom(Name) ->
    lists:foreach(fun(Node) -> cast({Name, Node}, Request) end, Nodes),
    abcast.

multi_call(Name, Request) -> multi_call([node() | nodes()], Name, Request).
multi_call(Nodes, Name, Request) -> multi_call(Nodes, Name, Request, infinity).
multi_call(Nodes, Name, Request, Timeout) ->
    Ids = [{Node, send_request({Name, Node}, Request)} || Node <- Nodes],
    Deadline = case Timeout of infinity -> infinity; _ -> {abs, erlang:monotonic_time(millisecond) + Timeout}
        end,
    Answers = [{Node, gen:receive_response(Id, Deadline)} || {Node, Id} <- Ids],
    {[{Node, Reply} || {Node, {reply, Reply}} <- Answers], [Node || {Node, Answer} <- Answers,
        not is_reply(Answer)]}.

is_reply({reply, _}) -> true;
is_reply(_) -> false.

send_request(Server, Request) -> gen:send_request(Server, '$gen_call', Request).
send_request(Server, Request, Label, Collection) ->
    gen:send_request(Server, '$gen_call', Request, Label, Collection).
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

%% --- The server's side: initialisation ---

init_it(Starter, self, Name, Mod, Args, Options) -> init_it(Starter, self(), Name, Mod, Args, Options);
init_it(Starter, Parent, FullName, Mod, Args, Options) ->
    Debug = gen:debug_options(FullName, Options),
    Server = #server{parent = Parent, name = gen:name(FullName), module = Mod,
        hibernate_after = gen:hibernate_after(Options)},
    GiveUp = fun(Answer, Class, Reason, Stack) ->
                      gen:unregister_name(FullName),
                      proc_lib:init_ack(Starter, Answer),
                      erlang:raise(Class, Reason, Stack)
              end,
    try {returned, Mod:init(Args)}
    of
        {returned, {ok, State}} ->
            proc_lib:init_ack(Starter, {ok, self()}),
            loop(Server, State, infinity, Debug);
        {returned, {ok, State, Next}} when Next =:= infinity; Next =:= hibernate; is_integer(Next), Next >= 0;
                                           tuple_size(Next) =:= 2, element(1, Next) =:= continue ->
            proc_lib:init_ack(Starter, {ok, self()}),
            loop(Server, State, Next, Debug);
        {returned, {stop, Reason}} -> GiveUp({error, Reason}, exit, Reason, []);
        {returned, {error, Reason}} -> GiveUp({error, Reason}, exit, normal, []);
        {returned, ignore} -> GiveUp(ignore, exit, normal, []);
        {returned, Other} ->
            Reason = {bad_return_value, Other},
            GiveUp({error, Reason}, exit, Reason, [])
    catch
        throw:Value ->
            init_thrown(Value, Starter, Server, Debug, GiveUp);
        error:Reason:Stack -> GiveUp({error, {Reason, Stack}}, error, Reason, Stack);
        exit:Reason:Stack -> GiveUp({error, Reason}, exit, Reason, Stack)
    end.

%% As with all callbacks, what init throws counts as returned.
init_thrown({ok, State}, Starter, Server, Debug, _) ->
    proc_lib:init_ack(Starter, {ok, self()}),
    loop(Server, State, infinity, Debug);
init_thrown({ok, State, Next}, Starter, Server, Debug, _) ->
    proc_lib:init_ack(Starter, {ok, self()}),
    loop(Server, State, Next, Debug);
init_thrown({stop, Reason}, _, _, _, GiveUp) -> GiveUp({error, Reason}, exit, Reason, []);
init_thrown({error, Reason}, _, _, _, GiveUp) -> GiveUp({error, Reason}, exit, normal, []);
init_thrown(ignore, _, _, _, GiveUp) -> GiveUp(ignore, exit, normal, []);
init_thrown(Other, _, _, _, GiveUp) ->
    GiveUp({error, {bad_return_value, Other}}, exit, {bad_return_value, Other}, []).

enter_loop(Mod, Options, State) -> enter_loop(Mod, Options, State, self(), infinity).
enter_loop(Mod, Options, State, Name = {Scope, _}) when Scope =:= local; Scope =:= global ->
    enter_loop(Mod, Options, State, Name, infinity);
enter_loop(Mod, Options, State, Name = {via, _, _}) -> enter_loop(Mod, Options, State, Name, infinity);
enter_loop(Mod, Options, State, Next) -> enter_loop(Mod, Options, State, self(), Next).
enter_loop(Mod, Options, State, FullName, Next) ->
    Server = #server{parent = gen:get_parent(), name = gen:get_proc_name(FullName), module = Mod,
        hibernate_after = gen:hibernate_after(Options)},
    loop(Server, State, Next, gen:debug_options(FullName, Options)).

%% --- The loop ---

loop(Server, State, {continue, Continue} = Msg, Debug) ->
    handled(call_back(Server, handle_continue, Continue, State), Server, State, Msg, undefined, Debug);
loop(#server{parent = P, name = N, module = M, hibernate_after = H}, State, hibernate, Debug) ->
    proc_lib:hibernate(?MODULE, wake_hib, [P, N, State, M, H, Debug]);
loop(#server{hibernate_after = After} = Server, State, infinity, Debug) ->
    receive Msg -> dispatch(Msg, Server, State, infinity, Debug, false)
    after After -> loop(Server, State, hibernate, Debug)
    end;
loop(Server, State, Time, Debug) ->
    Msg = receive Input -> Input after Time -> timeout end,
    dispatch(Msg, Server, State, Time, Debug, false).

wake_hib(Parent, Name, State, Mod, HibernateAfter, Debug) ->
    Server = #server{parent = Parent, name = Name, module = Mod, hibernate_after = HibernateAfter},
    Msg = receive Input -> Input end,
    dispatch(Msg, Server, State, hibernate, Debug, true).

dispatch(Msg, #server{parent = Parent} = Server, State, Time, Debug, Hibernated) ->
    case Msg of
        {'$gen_call', From, Request} when Debug =:= [] ->
            handle_call(Request, From, Request, Server, State, Debug);
        {'$gen_cast', Request} when Debug =:= [] ->
            handled(call_back(Server, handle_cast, Request, State), Server, State, Msg, undefined, Debug);
        {system, From, Request} ->
            sys:handle_system_msg(Request, From, Parent, ?MODULE, Debug, [Server, State, Time], Hibernated);
        {'EXIT', Parent, Reason} -> terminate(exit, Reason, [], Server, State, Msg, undefined, Debug);
        _ when Debug =:= [] -> handle_info(Msg, Server, State, Debug);
        _ ->
            NewDebug = sys:handle_debug(Debug, fun print_event/3, Server#server.name, {in, Msg}),
            case Msg of
                {'$gen_call', From, Request} -> handle_call(Request, From, Request, Server, State, NewDebug);
                {'$gen_cast', Request} ->
                    handled(call_back(Server, handle_cast, Request, State), Server, State, Msg, undefined,
                        NewDebug);
                _ -> handle_info(Msg, Server, State, NewDebug)
            end
    end.

%% A callback's outcome; thrown values count as returned.
call_back(#server{module = Mod}, Function, Arg, State) ->
    try {ok, Mod:Function(Arg, State)}
    catch
        throw:Value -> {ok, Value};
        Class:Reason:Stack -> {Class, Reason, Stack}
    end.

call_back(#server{module = Mod}, handle_call, Request, From, State) ->
    try {ok, Mod:handle_call(Request, From, State)}
    catch
        throw:Value -> {ok, Value};
        Class:Reason:Stack -> {Class, Reason, Stack}
    end.

handle_info(Msg, #server{module = Mod} = Server, State, Debug) ->
    case call_back(Server, handle_info, Msg, State) of
        {error, undef, [{Mod, handle_info, [_, _], _} | _]} = Failed ->
            case erlang:function_exported(Mod, handle_info, 2) of
                false ->
                    logger:log(warning, #{label => {?MODULE, no_handle_info}, module => Mod, message => Msg},
                               #{domain => [otp], report_cb => fun ?MODULE:format_log/2,
                                 error_logger => #{tag => warning_msg,
                                                   report_cb => fun ?MODULE:format_log/1}}),
                    loop(Server, State, infinity, Debug);
                true -> handled(Failed, Server, State, Msg, undefined, Debug)
            end;
        Outcome -> handled(Outcome, Server, State, Msg, undefined, Debug)
    end.

handle_call(Request, From, Msg, Server, State, Debug) ->
    case call_back(Server, handle_call, Request, From, State) of
        {ok, {reply, Reply, New}} ->
            loop(Server, New, infinity, answer(Server, From, Reply, New, Debug));
        {ok, {reply, Reply, New, Next}} ->
            loop(Server, New, Next, answer(Server, From, Reply, New, Debug));
        {ok, {stop, Reason, Reply, New}} ->
            try terminate(exit, Reason, [], Server, New, Msg, From, Debug)
            after answer(Server, From, Reply, New, Debug)
            end;
        Outcome -> handled(Outcome, Server, State, Msg, From, Debug)
    end.

answer(_, From, Reply, _, []) -> gen:reply(From, Reply), [];
answer(#server{name = Name}, {To, _} = From, Reply, State, Debug) ->
    gen:reply(From, Reply),
    sys:handle_debug(Debug, fun print_event/3, Name, {out, Reply, To, State}).

handled({ok, {noreply, State}}, Server, _, _, _, Debug) ->
    loop(Server, State, infinity, noted(Server, State, Debug));
handled({ok, {noreply, State, Next}}, Server, _, _, _, Debug) ->
    loop(Server, State, Next, noted(Server, State, Debug));
handled({ok, {stop, Reason, State}}, Server, _, Msg, From, Debug) ->
    terminate(exit, Reason, [], Server, State, Msg, From, Debug);
handled({ok, Other}, Server, State, Msg, From, Debug) ->
    terminate(exit, {bad_return_value, Other}, [], Server, State, Msg, From, Debug);
handled({Class, Reason, Stack}, Server, State, Msg, From, Debug) ->
    terminate(Class, Reason, Stack, Server, State, Msg, From, Debug).

noted(_, _, []) -> [];
noted(#server{name = Name}, State, Debug) ->
    sys:handle_debug(Debug, fun print_event/3, Name, {noreply, State}).

%% --- The end ---

terminate(Class, Reason, Stack, #server{module = Mod} = Server, State, Msg, From, Debug) ->
    Full = case Class of error -> {Reason, Stack}; _ -> Reason end,
    case erlang:function_exported(Mod, terminate, 2) of
        true ->
            case call_back(Server, terminate, Full, State) of
                {ok, _} -> ok;
                {C, R, S} ->
                    report(case C of error -> {R, S}; _ -> R end, Server, State, Msg, From, Debug),
                    erlang:raise(C, R, S)
            end;
        false -> ok
    end,
    case Class =:= exit andalso is_quiet(Reason) of
        true -> ok;
        false -> report(Full, Server, State, Msg, From, Debug)
    end,
    case Stack of
        [] -> exit(Reason);
        _ -> erlang:raise(Class, Reason, Stack)
    end.

is_quiet(normal) -> true;
is_quiet(shutdown) -> true;
is_quiet({shutdown, _}) -> true;
is_quiet(_) -> false.

report(Reason, #server{name = Name, module = Mod}, State, Msg, From, Debug) ->
    Status = status(Mod, #{state => State, message => Msg, reason => Reason, log => sys:get_log(Debug)},
        terminate),
    logger:log(error,
               #{label => {?MODULE, terminate}, name => Name, last_message => maps:get(message, Status),
                   state => maps:get(state, Status),
                 log => maps:get(log, Status), reason => maps:get(reason, Status),
                 client_info => gen:client_info(From), process_label => proc_lib:get_label(self())},
               #{domain => [otp], report_cb => fun ?MODULE:format_log/2,
                 error_logger => #{tag => error, report_cb => fun ?MODULE:format_log/1}}).

%% The callback module may say how its state is shown.
status(Mod, Map, Opt) ->
    case erlang:function_exported(Mod, format_status, 1) of
        true ->
            try maps:merge(Map, Mod:format_status(Map))
            catch _:_ -> Map#{state => "Mod:format_status/1 crashed"}
            end;
        false ->
            case erlang:function_exported(Mod, format_status, 2) of
                true when Opt =:= terminate ->
                    try Map#{state => Mod:format_status(Opt, [get(), maps:get(state, Map)])}
                    catch _:_ -> Map
                    end;
                _ -> Map
            end
    end.

format_log(#{label := {?MODULE, terminate}, name := Name, last_message := Msg, state := State, log := Log,
             reason := Reason, client_info := Client} = Report) ->
    {ClientFormat, ClientArgs} = gen:format_client(Client),
    {LogFormat, LogArgs} = case Log of
                               [] -> {"", []};
                               _ ->
                                   Each = lists:append(lists:join(",~n    ", ["~tp" || _ <- Log])),
                                   {"** Log ==~n** [" ++ Each ++ "]~n", Log}
                           end,
    {LabelFormat, LabelArgs} = report_text:label("** Process label == ~tp~n", Report),
    {"** Generic server ~tp terminating \n" ++ LabelFormat
     ++ "** Last message in was ~tp~n** When Server state == ~tp~n** Reason for termination ==~n** ~tp~n"
     ++ LogFormat ++ ClientFormat,
     [Name] ++ LabelArgs ++ [Msg, State, report_text:reason(Reason)] ++ LogArgs ++ ClientArgs};
format_log(#{label := {?MODULE, no_handle_info}, module := Mod, message := Msg}) ->
    {"** Undefined handle_info in ~tp~n** Unhandled message: ~tp~n", [Mod, Msg]}.

format_log(Report, Options) -> report_text:text(Report, Options, fun format_log/1, fun on_one_line/1).

on_one_line(#{label := {?MODULE, terminate}, name := Name, last_message := Msg, state := State, log := Log,
              reason := Reason, client_info := Client} = Report) ->
    {ClientFormat, ClientArgs} = gen:format_client_on_one_line(Client),
    {LabelFormat, LabelArgs} = report_text:label(" Label: ~tp.", Report),
    {LogFormat, LogArgs} = case Log of
                               [] -> {"", []};
                               _ -> {" Log: ~tp", [Log]}
                           end,
    {"Generic server ~tp terminating." ++ LabelFormat ++ " Reason: ~tp. Last message: ~tp. State: ~tp."
     ++ LogFormat ++ ClientFormat,
     [Name] ++ LabelArgs ++ [report_text:reason(Reason), Msg, State] ++ LogArgs ++ ClientArgs};
on_one_line(#{label := {?MODULE, no_handle_info}, module := Mod, message := Msg}) ->
    {"Undefined handle_info in ~tp. Unhandled message: ~tp.", [Mod, Msg]}.

%% --- System messages ---

system_continue(_Parent, Debug, [Server, State, Time]) -> loop(Server, State, Time, Debug).

system_terminate(Reason, _Parent, Debug, [Server, State, _]) ->
    terminate(exit, Reason, [], Server, State, [], undefined, Debug).

system_code_change([#server{module = Mod} = Server, State, Time], _Module, OldVsn, Extra) ->
    case catch Mod:code_change(OldVsn, State, Extra) of
        {ok, New} -> {ok, [Server, New, Time]};
        Other -> Other
    end.

system_get_state([_, State, _]) -> {ok, State}.

system_replace_state(Fun, [Server, State, Time]) ->
    New = Fun(State),
    {ok, New, [Server, New, Time]}.

format_status(Opt, [Dictionary, SysState, Parent, Debug, [#server{name = Name, module = Mod}, State, _]]) ->
    Shown = case erlang:function_exported(Mod, format_status, 1) of
                true -> [{data, [{"State",
                    maps:get(state, status(Mod, #{state => State, log => sys:get_log(Debug)}, Opt))}]}];
                false ->
                    case erlang:function_exported(Mod, format_status, 2) of
                        true ->
                            case catch Mod:format_status(Opt, [Dictionary, State]) of
                                {'EXIT', _} -> [{data, [{"State", State}]}];
                                Own when is_list(Own) -> Own;
                                Own -> [Own]
                            end;
                        false -> [{data, [{"State", State}]}]
                    end
            end,
    [{header, gen:format_status_header("Status for generic server", Name)},
     {data, [{"Status", SysState}, {"Parent", Parent}, {"Logged events", sys:get_log(Debug)}]} | Shown].

print_event(Device, {in, Msg}, Name) ->
    case Msg of
        {'$gen_call', {From, _}, Call} ->
            io:format(Device, "*DBG* ~tp got call ~tp from ~tw~n", [Name, Call, From]);
        {'$gen_cast', Cast} -> io:format(Device, "*DBG* ~tp got cast ~tp~n", [Name, Cast]);
        _ -> io:format(Device, "*DBG* ~tp got ~tp~n", [Name, Msg])
    end;
print_event(Device, {out, Msg, To, State}, Name) ->
    io:format(Device, "*DBG* ~tp sent ~tp to ~tw, new state ~tp~n", [Name, Msg, To, State]);
print_event(Device, {noreply, State}, Name) -> io:format(Device, "*DBG* ~tp new state ~tp~n", [Name, State]);
print_event(Device, Event, Name) -> io:format(Device, "*DBG* ~tp dbg  ~tp~n", [Name, Event]).
