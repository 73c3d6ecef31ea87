%% SPDX-License-Identifier: Apache-2.0
%% System messages: asking any special process for its state, suspending it, tracing its events, ending it.
-module(sys).

-export([suspend/1, suspend/2, resume/1, resume/2, get_status/1, get_status/2, get_state/1, get_state/2,
         replace_state/2, replace_state/3, change_code/4, change_code/5, terminate/2, terminate/3, trace/2,
         trace/3, log/2, log/3, log_to_file/2, log_to_file/3, statistics/2, statistics/3, no_debug/1,
         no_debug/2, install/2, install/3, remove/2, remove/3]).
-export([handle_system_msg/6, handle_system_msg/7, handle_debug/4, debug_options/1, get_debug/3, get_log/1,
         print_log/1]).

-callback system_continue(Parent :: pid(), Debug :: list(), Misc :: term()) -> no_return().
-callback system_terminate(Reason :: term(), Parent :: pid(), Debug :: list(), Misc :: term()) -> no_return().
-callback system_code_change(Misc :: term(), Module :: module(), OldVsn :: term(), Extra :: term()) ->
    {ok, Misc1 :: term()}.
-callback system_get_state(Misc :: term()) -> {ok, State :: term()}.
-callback system_replace_state(Change :: fun((term()) -> term()), Misc :: term()) ->
    {ok, State :: term(), Misc1 :: term()}.

suspend(Name) -> request(Name, suspend).
suspend(Name, Timeout) -> request(Name, suspend, Timeout).
resume(Name) -> request(Name, resume).
resume(Name, Timeout) -> request(Name, resume, Timeout).
get_status(Name) -> request(Name, get_status).
get_status(Name, Timeout) -> request(Name, get_status, Timeout).
get_state(Name) -> state(request(Name, get_state)).
get_state(Name, Timeout) -> state(request(Name, get_state, Timeout)).
replace_state(Name, Fun) -> state(request(Name, {replace_state, Fun})).
replace_state(Name, Fun, Timeout) -> state(request(Name, {replace_state, Fun}, Timeout)).
change_code(Name, Module, OldVsn, Extra) -> request(Name, {change_code, Module, OldVsn, Extra}).
change_code(Name, Module, OldVsn, Extra, Timeout) ->
    request(Name, {change_code, Module, OldVsn, Extra}, Timeout).
terminate(Name, Reason) -> request(Name, {terminate, Reason}).
terminate(Name, Reason, Timeout) -> request(Name, {terminate, Reason}, Timeout).
trace(Name, Flag) -> request(Name, {debug, {trace, Flag}}).
trace(Name, Flag, Timeout) -> request(Name, {debug, {trace, Flag}}, Timeout).
log(Name, Flag) -> request(Name, {debug, {log, Flag}}).
log(Name, Flag, Timeout) -> request(Name, {debug, {log, Flag}}, Timeout).
log_to_file(Name, File) -> request(Name, {debug, {log_to_file, File}}).
log_to_file(Name, File, Timeout) -> request(Name, {debug, {log_to_file, File}}, Timeout).
statistics(Name, Flag) -> request(Name, {debug, {statistics, Flag}}).
statistics(Name, Flag, Timeout) -> request(Name, {debug, {statistics, Flag}}, Timeout).
no_debug(Name) -> request(Name, {debug, no_debug}).
no_debug(Name, Timeout) -> request(Name, {debug, no_debug}, Timeout).
install(Name, Fun) -> request(Name, {debug, {install, Fun}}).
install(Name, Fun, Timeout) -> request(Name, {debug, {install, Fun}}, Timeout).
remove(Name, Fun) -> request(Name, {debug, {remove, Fun}}).
remove(Name, Fun, Timeout) -> request(Name, {debug, {remove, Fun}}, Timeout).

request(Name, Request) -> request(Name, Request, 5000, []).
request(Name, Request, Timeout) -> request(Name, Request, Timeout, [Timeout]).
request(Name, Request, Timeout, Shown) ->
    try gen:call(Name, system, Request, Timeout) of
        {ok, Reply} -> Reply
    catch exit:Reason ->
        exit({Reason, {?MODULE, element(1, fun_name(Request)), [Name | element(2, fun_name(Request))]
            ++ Shown}})
    end.

fun_name({debug, {What, Value}}) -> {What, [Value]};
fun_name({debug, What}) -> {What, []};
fun_name(Request) when is_tuple(Request) -> {element(1, Request), tl(tuple_to_list(Request))};
fun_name(Request) -> {Request, []}.

state({ok, State}) -> State;
state({error, Reason}) -> error(Reason).

%% --- In the process that is asked ---

handle_system_msg(Msg, From, Parent, Module, Debug, Misc) ->
    handle_system_msg(Msg, From, Parent, Module, Debug, Misc, false).

handle_system_msg(Msg, From, Parent, Module, Debug, Misc, Hibernate) ->
    handle(running, Msg, From, Parent, Module, Debug, Misc, Hibernate).

handle(Was, Msg, From, Parent, Module, Debug0, Misc0, Hibernate) ->
    case command(Was, Msg, Parent, Module, Debug0, Misc0) of
        {suspended, Reply, Debug, Misc} ->
            gen:reply(From, Reply),
            suspended(Parent, Module, Debug, Misc, Hibernate);
        {running, Reply, Debug, Misc} ->
            gen:reply(From, Reply),
            Module:system_continue(Parent, Debug, Misc);
        {{terminating, Reason}, Reply, Debug, Misc} ->
            gen:reply(From, Reply),
            Module:system_terminate(Reason, Parent, Debug, Misc)
    end.

suspended(Parent, Module, Debug, Misc, true) ->
    receive
        Any when Any =/= {} -> self() ! Any
    after 0 -> erlang:garbage_collect()
    end,
    suspended(Parent, Module, Debug, Misc, false);
suspended(Parent, Module, Debug, Misc, Hibernate) ->
    receive
        {system, From, Msg} -> handle(suspended, Msg, From, Parent, Module, Debug, Misc, Hibernate);
        {'EXIT', Parent, Reason} -> Module:system_terminate(Reason, Parent, Debug, Misc)
    end.

command(_, suspend, _, _, Debug, Misc) -> {suspended, ok, Debug, Misc};
command(_, resume, _, _, Debug, Misc) -> {running, ok, Debug, Misc};
command(Was, get_state, _, Module, Debug, Misc) -> {Was, get_state_of(Module, Misc), Debug, Misc};
command(Was, {replace_state, Fun}, _, Module, Debug, Misc) ->
    {Reply, NewMisc} = replace_state_of(Module, Fun, Misc),
    {Was, Reply, Debug, NewMisc};
command(Was, get_status, Parent, Module, Debug, Misc) ->
    {Was, {status, self(), {module, Module}, [get(), Was, Parent, Debug, format_misc(Module, Was, Parent,
        Debug, Misc)]}, Debug, Misc};
command(Was, {debug, What}, _, _, Debug, Misc) ->
    {Reply, NewDebug} = debug_command(What, Debug),
    {Was, Reply, NewDebug, Misc};
command(_, {terminate, Reason}, _, _, Debug, Misc) -> {{terminating, Reason}, ok, Debug, Misc};
command(suspended, {change_code, Mod, Vsn, Extra}, _, Module, Debug, Misc) ->
    try Module:system_code_change(Misc, Mod, Vsn, Extra) of
        {ok, NewMisc} -> {suspended, ok, Debug, NewMisc};
        Other -> {suspended, {error, Other}, Debug, Misc}
    catch _:Reason -> {suspended, {error, {'EXIT', Reason}}, Debug, Misc}
    end;
command(Was, Other, _, _, Debug, Misc) -> {Was, {error, {unknown_system_msg, Other}}, Debug, Misc}.

get_state_of(Module, Misc) ->
    case erlang:function_exported(Module, system_get_state, 1) of
        true -> try Module:system_get_state(Misc)
                catch Class:Reason -> {error, {callback_failed, {Module, system_get_state}, {Class, Reason}}}
                end;
        false -> {ok, Misc}
    end.

replace_state_of(Module, Fun, Misc) ->
    try
        case erlang:function_exported(Module, system_replace_state, 2) of
            true -> {ok, State, NewMisc} = Module:system_replace_state(Fun, Misc), {{ok, State}, NewMisc};
            false -> NewMisc = Fun(Misc), {{ok, NewMisc}, NewMisc}
        end
    catch Class:Reason -> {{error, {callback_failed, {Module, system_replace_state}, {Class, Reason}}}, Misc}
    end.

format_misc(Module, Was, Parent, Debug, Misc) ->
    case erlang:function_exported(Module, format_status, 2) of
        true -> Module:format_status(normal, [get(), Was, Parent, Debug, Misc]);
        false -> Misc
    end.

%% --- Debug options: a list of {Fun | What, State} ---

debug_options(Options) -> lists:foldl(fun debug_option/2, [], Options).

debug_option(trace, Debug) -> put_debug(trace, true, Debug);
debug_option(log, Debug) -> put_debug(log, {10, []}, Debug);
debug_option({log, N}, Debug) -> put_debug(log, {N, []}, Debug);
debug_option(statistics, Debug) -> put_debug(statistics, start_statistics(), Debug);
debug_option({install, {Fun, State}}, Debug) -> put_debug(Fun, State, Debug);
debug_option({install, {Id, Fun, State}}, Debug) -> put_debug(Id, {Fun, State}, Debug);
debug_option(_, Debug) -> Debug.

put_debug(Key, Value, Debug) -> lists:keystore(Key, 1, Debug, {Key, Value}).

get_debug(Item, Debug, Default) -> proplists:get_value(Item, Debug, Default).

start_statistics() ->
    {reductions, Reductions} = process_info(self(), reductions),
    {erlang:localtime(), Reductions, 0, 0}.

debug_command({trace, true}, Debug) -> {ok, put_debug(trace, true, Debug)};
debug_command({trace, false}, Debug) -> {ok, lists:keydelete(trace, 1, Debug)};
debug_command({log, true}, Debug) -> {ok, put_debug(log, {10, logged(Debug)}, Debug)};
debug_command({log, {true, N}}, Debug) -> {ok, put_debug(log, {N, lists:sublist(logged(Debug), N)}, Debug)};
debug_command({log, false}, Debug) -> {ok, lists:keydelete(log, 1, Debug)};
debug_command({log, get}, Debug) -> {{ok, get_log(Debug)}, Debug};
debug_command({log, print}, Debug) -> print_log(Debug), {ok, Debug};
debug_command({statistics, true}, Debug) -> {ok, put_debug(statistics, start_statistics(), Debug)};
debug_command({statistics, false}, Debug) -> {ok, lists:keydelete(statistics, 1, Debug)};
debug_command({statistics, get}, Debug) ->
    case lists:keyfind(statistics, 1, Debug) of
        {_, {Start, Reductions0, In, Out}} ->
            {reductions, Reductions} = process_info(self(), reductions),
            {{ok, [{start_time, Start}, {current_time, erlang:localtime()},
                {reductions, Reductions - Reductions0},
                   {messages_in, In}, {messages_out, Out}]}, Debug};
        false -> {{ok, no_statistics}, Debug}
    end;
debug_command(no_debug, _) -> {ok, []};
debug_command({install, {Fun, State}}, Debug) -> {ok, put_debug(Fun, State, Debug)};
debug_command({install, {Id, Fun, State}}, Debug) -> {ok, put_debug(Id, {Fun, State}, Debug)};
debug_command({remove, Key}, Debug) -> {ok, lists:keydelete(Key, 1, Debug)};
debug_command(_, Debug) -> {unknown_debug, Debug}.

logged(Debug) ->
    case lists:keyfind(log, 1, Debug) of
        {_, {_, Events}} -> Events;
        false -> []
    end.

get_log(Debug) -> lists:reverse([Event || {Event, _, _} <- logged(Debug)]).

print_log(Debug) -> [Format(user, Event, Name) || {Event, Name, Format} <- lists:reverse(logged(Debug))], ok.

handle_debug(Debug, Format, Name, Event) ->
    lists:filtermap(fun(Option) -> debug_event(Option, Format, Name, Event) end, Debug).

debug_event({trace, true} = Option, Format, Name, Event) -> Format(user, Event, Name), {true, Option};
debug_event({log, {N, Events}}, Format, Name, Event) ->
    {true, {log, {N, lists:sublist([{Event, Name, Format} | Events], N)}}};
debug_event({statistics, {Start, Reductions, In, Out}}, _, _, Event) ->
    {true, {statistics, case element(1, Event) of
                            in -> {Start, Reductions, In + 1, Out};
                            out -> {Start, Reductions, In, Out + 1};
                            _ -> {Start, Reductions, In, Out}
                        end}};
debug_event({Id, {Fun, State}}, _, Name, Event) when is_function(Fun, 3) ->
    installed(Fun, State, Name, Event, fun(New) -> {Id, {Fun, New}} end);
debug_event({Fun, State}, _, Name, Event) when is_function(Fun, 3) ->
    installed(Fun, State, Name, Event, fun(New) -> {Fun, New} end);
debug_event(Other, _, _, _) -> {true, Other}.

%% A function that says done, or fails, is taken out.
installed(Fun, State, Name, Event, Wrap) ->
    try Fun(State, Event, Name) of
        done -> false;
        NewState -> {true, Wrap(NewState)}
    catch _:_ -> false
    end.
