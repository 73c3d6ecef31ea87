%% SPDX-License-Identifier: Apache-2.0
%% A process that starts others, in order, and restarts them when they end.
-module(supervisor).
-behaviour(gen_server).

-export([start_link/2, start_link/3, start_child/2, restart_child/2, delete_child/2, terminate_child/2,
         which_children/1, which_child/2, count_children/1, stop/1, stop/3,
         check_childspecs/1, check_childspecs/2, get_childspec/2,
         get_callback_module/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3, format_log/1,
         format_log/2]).

-callback init(Args :: term()) ->
    {ok, {SupFlags :: map() | tuple(), [ChildSpec :: map() | tuple()]}} | ignore.

%% One child. A simple_one_for_one supervisor has one as the template; its running children are in
%% #sup.dynamic.
-record(child, {pid = undefined, id, start, restart = permanent, significant = false, shutdown, type = worker,
    modules}).

-record(sup, {name, strategy, intensity, period, auto_shutdown,
              children = [],   % [#child{}], the latest started first
              dynamic = #{},   % simple_one_for_one: Pid => Args, or {restarting, Pid} => Args
              restarts = [],   % times, seconds
              module, args}).

start_link(Mod, Args) -> gen_server:start_link(?MODULE, {self, Mod, Args}, []).
start_link(Name, Mod, Args) -> gen_server:start_link(Name, ?MODULE, {Name, Mod, Args}, []).

start_child(Sup, Spec) -> call(Sup, {start_child, Spec}).
restart_child(Sup, Id) -> call(Sup, {restart_child, Id}).
delete_child(Sup, Id) -> call(Sup, {delete_child, Id}).
terminate_child(Sup, Id) -> call(Sup, {terminate_child, Id}).
which_children(Sup) -> call(Sup, which_children).
which_child(Sup, Which) -> call(Sup, {which_child, Which}).
count_children(Sup) -> call(Sup, count_children).

stop(Sup) -> gen_server:stop(Sup).
stop(Sup, Reason, Timeout) -> gen_server:stop(Sup, Reason, Timeout).

get_callback_module(Pid) ->
    {status, _, _, [_, _, _, _, Misc]} = sys:get_status(Pid),
    {data, [{"State", #sup{module = Mod}}]} = lists:last(Misc),
    Mod.
get_childspec(Sup, Id) -> call(Sup, {get_childspec, Id}).

call(Sup, Request) -> gen_server:call(Sup, Request, infinity).

check_childspecs(Specs) -> check_childspecs(Specs, undefined).
check_childspecs(Specs, AutoShutdown) when is_list(Specs) ->
    case lists:member(AutoShutdown, [undefined, never, any_significant, all_significant]) of
        false -> {error, {badarg, AutoShutdown}};
        true ->
            case specs(Specs, case AutoShutdown of undefined -> any_significant; _ -> AutoShutdown end) of
                {ok, _} -> ok;
                Error -> Error
            end
    end;
check_childspecs(Specs, _) -> {error, {badarg, Specs}}.

%% --- Start ---

init({Name, Mod, Args}) ->
    process_flag(trap_exit, true),
    case Mod:init(Args) of
        {ok, {Flags, Specs}} ->
            case flags(Flags, #sup{name = full_name(Name, Mod), module = Mod, args = Args}) of
                {ok, Sup} -> init_children(Sup, Specs);
                {error, Reason} -> {stop, {supervisor_data, Reason}}
            end;
        ignore -> ignore;
        Other -> {stop, {bad_return, {Mod, init, Other}}}
    end.

full_name(self, Mod) -> {self(), Mod};
full_name(Name, _) -> Name.

init_children(#sup{strategy = simple_one_for_one}, Specs) when length(Specs) =/= 1 ->
    {stop, {bad_start_spec, Specs}};
init_children(Sup, Specs) ->
    case specs(Specs, Sup#sup.auto_shutdown) of
        {ok, [Template]} when Sup#sup.strategy =:= simple_one_for_one -> {ok, Sup#sup{children = [Template]}};
        {ok, Children} ->
            case start_all(Children, [], Sup) of
                {ok, Started} -> {ok, Sup#sup{children = Started}};
                {error, Started, Reason} ->
                    _ = stop_all(Started, Sup),
                    {stop, {shutdown, Reason}}
            end;
        {error, Reason} -> {stop, {start_spec, Reason}}
    end.

%% Starts in order; gives them latest first.
start_all([Child | Rest], Started, Sup) ->
    case start_one(Sup, Child) of
        {ok, undefined} when Child#child.restart =:= temporary -> start_all(Rest, Started, Sup);
        {ok, Pid} -> start_all(Rest, [Child#child{pid = Pid} | Started], Sup);
        {ok, Pid, _} -> start_all(Rest, [Child#child{pid = Pid} | Started], Sup);
        {error, Reason} ->
            report(start_error, Reason, Child, Sup),
            {error, Started, {failed_to_start_child, Child#child.id, Reason}}
    end;
start_all([], Started, _) -> {ok, Started}.

start_one(Sup, #child{start = {M, F, A}} = Child) ->
    case catch apply(M, F, A) of
        {ok, Pid} when is_pid(Pid) -> progress(Child#child{pid = Pid}, Sup), {ok, Pid};
        {ok, Pid, Extra} when is_pid(Pid) -> progress(Child#child{pid = Pid}, Sup), {ok, Pid, Extra};
        ignore -> {ok, undefined};
        {error, Reason} -> {error, Reason};
        Other -> {error, Other}
    end.

%% --- Specifications ---

flags(Map, Sup) when is_map(Map) ->
    check_flags(maps:merge(#{strategy => one_for_one, intensity => 1, period => 5, auto_shutdown => never},
        Map), Sup);
flags({Strategy, Intensity, Period}, Sup) ->
    check_flags(#{strategy => Strategy, intensity => Intensity, period => Period, auto_shutdown => never},
        Sup);
flags(Other, _) -> {error, {invalid_type, Other}}.

check_flags(#{strategy := S, intensity := I, period := P, auto_shutdown := A}, Sup) ->
    Known = lists:member(S, [one_for_one, one_for_all, rest_for_one, simple_one_for_one]),
    if not Known -> {error, {invalid_strategy, S}};
       not (is_integer(I) andalso I >= 0) -> {error, {invalid_intensity, I}};
       not (is_integer(P) andalso P > 0) -> {error, {invalid_period, P}};
       S =:= simple_one_for_one, A =/= never ->
           {error, {bad_combination, [{auto_shutdown, A}, {strategy, S}]}};
       A =/= never, A =/= any_significant, A =/= all_significant -> {error, {invalid_auto_shutdown, A}};
       true -> {ok, Sup#sup{strategy = S, intensity = I, period = P, auto_shutdown = A}}
    end.

specs(Specs, AutoShutdown) when is_list(Specs) -> specs(Specs, AutoShutdown, []);
specs(Specs, _) -> {error, {bad_child_specs, Specs}}.

specs([Spec | Rest], AutoShutdown, Done) ->
    case spec(Spec, AutoShutdown) of
        {ok, #child{id = Id} = Child} ->
            case lists:keymember(Id, #child.id, Done) of
                true -> {error, {duplicate_child_name, Id}};
                false -> specs(Rest, AutoShutdown, [Child | Done])
            end;
        Error -> Error
    end;
specs([], _, Done) -> {ok, lists:reverse(Done)}.

spec({Id, Start, Restart, Shutdown, Type, Modules}, AutoShutdown) ->
    spec(#{id => Id, start => Start, restart => Restart, shutdown => Shutdown, type => Type,
        modules => Modules}, AutoShutdown);
spec(Map, AutoShutdown) when is_map(Map) ->
    case Map of
        #{id := Id, start := {M, F, A} = Start} when is_atom(M), is_atom(F), is_list(A) ->
            Type = maps:get(type, Map, worker),
            check_child(#child{id = Id, start = Start, type = Type,
                               restart = maps:get(restart, Map, permanent),
                               significant = maps:get(significant, Map, false),
                               shutdown = maps:get(shutdown, Map, case Type of supervisor -> infinity; _ ->
                                   5000 end),
                               modules = maps:get(modules, Map, [M])}, AutoShutdown);
        #{id := _, start := Bad} -> {error, {invalid_mfa, Bad}};
        #{id := _} -> {error, missing_start};
        _ -> {error, missing_id}
    end;
spec(Other, _) -> {error, {invalid_child_spec, Other}}.

check_child(#child{restart = R, shutdown = S, type = T, modules = M, significant = G} = Child,
    AutoShutdown) ->
    Restart = lists:member(R, [permanent, transient, temporary]),
    Shutdown = S =:= infinity orelse S =:= brutal_kill orelse (is_integer(S) andalso S >= 0),
    if T =/= worker, T =/= supervisor -> {error, {invalid_child_type, T}};
       not Restart -> {error, {invalid_restart_type, R}};
       not is_boolean(G) -> {error, {invalid_significant, G}};
       G, AutoShutdown =:= never -> {error, {bad_combination, [{auto_shutdown, never}, {significant, true}]}};
       G, R =:= permanent -> {error, {bad_combination, [{restart, permanent}, {significant, true}]}};
       not Shutdown -> {error, {invalid_shutdown, S}};
       true -> check_modules(M, Child)
    end.

check_modules(dynamic, Child) -> {ok, Child};
check_modules(Modules, Child) when is_list(Modules) ->
    case [M || M <- Modules, not is_atom(M)] of
        [] -> {ok, Child};
        [M | _] -> {error, {invalid_module, M}}
    end;
check_modules(Modules, _) -> {error, {invalid_modules, Modules}}.

as_spec(#child{id = Id, start = Start, restart = R, significant = G, shutdown = S, type = T, modules = M}) ->
    #{id => Id, start => Start, restart => R, significant => G, shutdown => S, type => T, modules => M}.

%% --- Requests ---

handle_call({start_child, Extra}, _, #sup{strategy = simple_one_for_one, children = [Template]}
    = Sup) when is_list(Extra) ->
    #child{start = {M, F, A}} = Template,
    Args = A ++ Extra,
    case start_one(Sup, Template#child{start = {M, F, Args}}) of
        {ok, undefined} -> {reply, {ok, undefined}, Sup};
        {ok, Pid} -> {reply, {ok, Pid}, dynamic(Pid, Args, Sup)};
        {ok, Pid, More} -> {reply, {ok, Pid, More}, dynamic(Pid, Args, Sup)};
        Error -> {reply, Error, Sup}
    end;
handle_call({start_child, Spec}, _, Sup) ->
    case spec(Spec, Sup#sup.auto_shutdown) of
        {ok, #child{id = Id} = Child} ->
            case lists:keyfind(Id, #child.id, Sup#sup.children) of
                #child{pid = undefined} -> {reply, {error, already_present}, Sup};
                #child{pid = Pid} -> {reply, {error, {already_started, Pid}}, Sup};
                false -> start_new(Child, Sup)
            end;
        {error, Reason} -> {reply, {error, Reason}, Sup}
    end;
handle_call(which_children, _, #sup{strategy = simple_one_for_one,
    children = [#child{type = Type, modules = Modules}]} = Sup) ->
    {reply, [{undefined, shown(Key), Type, Modules} || Key <- maps:keys(Sup#sup.dynamic)], Sup};
handle_call(which_children, _, Sup) ->
    {reply, [{Id, shown(Pid), Type, Modules} || #child{id = Id, pid = Pid, type = Type,
        modules = Modules} <- Sup#sup.children], Sup};
handle_call({which_child, Pid}, _, #sup{strategy = simple_one_for_one,
    children = [#child{type = Type, modules = Modules}], dynamic = Dynamic} = Sup) ->
    case Dynamic of
        #{Pid := _} -> {reply, {ok, {undefined, Pid, Type, Modules}}, Sup};
        #{{restarting, Pid} := _} -> {reply, {ok, {undefined, restarting, Type, Modules}}, Sup};
        #{} -> {reply, {error, not_found}, Sup}
    end;
handle_call({which_child, Which}, _, Sup) ->
    case find(Which, Sup) of
        false -> {reply, {error, not_found}, Sup};
        #child{id = Id, pid = Pid, type = Type, modules = Modules} ->
            {reply, {ok, {Id, shown(Pid), Type, Modules}}, Sup}
    end;
handle_call(count_children, _, Sup) -> {reply, count(Sup), Sup};
handle_call({get_childspec, Pid}, _, #sup{strategy = simple_one_for_one, children = [Template],
    dynamic = Dynamic} = Sup) ->
    case is_map_key(Pid, Dynamic) of
        true -> {reply, {ok, as_spec(Template)}, Sup};
        false -> {reply, {error, not_found}, Sup}
    end;
handle_call({get_childspec, Which}, _, Sup) ->
    case find(Which, Sup) of
        false -> {reply, {error, not_found}, Sup};
        Child -> {reply, {ok, as_spec(Child)}, Sup}
    end;
handle_call({terminate_child, Pid}, _, #sup{strategy = simple_one_for_one, children = [Template],
    dynamic = Dynamic} = Sup) when is_pid(Pid) ->
    case Dynamic of
        #{Pid := _} ->
            stop_child(Template#child{pid = Pid}, Sup),
            {reply, ok, Sup#sup{dynamic = maps:remove(Pid, Dynamic)}};
        #{{restarting, Pid} := _} -> {reply, ok, Sup#sup{dynamic = maps:remove({restarting, Pid}, Dynamic)}};
        _ when node(Pid) =:= node() ->
            case is_process_alive(Pid) of
                true -> {reply, {error, not_found}, Sup};
                false -> {reply, ok, Sup}  % it is gone, which is what was asked for
            end;
        _ -> {reply, {error, not_found}, Sup}
    end;
handle_call({What, _}, _, #sup{strategy = simple_one_for_one} = Sup) when What =:= terminate_child;
    What =:= restart_child; What =:= delete_child ->
    {reply, {error, simple_one_for_one}, Sup};
handle_call({terminate_child, Id}, _, Sup) ->
    case lists:keyfind(Id, #child.id, Sup#sup.children) of
        false -> {reply, {error, not_found}, Sup};
        Child ->
            stop_child(Child, Sup),
            {reply, ok, stopped(Child, Sup)}
    end;
handle_call({restart_child, Id}, _, Sup) ->
    case lists:keyfind(Id, #child.id, Sup#sup.children) of
        #child{pid = undefined} = Child ->
            case start_one(Sup, Child) of
                {ok, Pid} -> {reply, {ok, Pid}, replace(Child#child{pid = Pid}, Sup)};
                {ok, Pid, Extra} -> {reply, {ok, Pid, Extra}, replace(Child#child{pid = Pid}, Sup)};
                Error -> {reply, Error, Sup}
            end;
        #child{pid = {restarting, _}} -> {reply, {error, restarting}, Sup};
        #child{} -> {reply, {error, running}, Sup};
        false -> {reply, {error, not_found}, Sup}
    end;
handle_call({delete_child, Id}, _, Sup) ->
    case lists:keyfind(Id, #child.id, Sup#sup.children) of
        #child{pid = undefined} ->
            {reply, ok, Sup#sup{children = lists:keydelete(Id, #child.id, Sup#sup.children)}};
        #child{pid = {restarting, _}} -> {reply, {error, restarting}, Sup};
        #child{} -> {reply, {error, running}, Sup};
        false -> {reply, {error, not_found}, Sup}
    end.

dynamic(Pid, Args, #sup{dynamic = Dynamic} = Sup) -> Sup#sup{dynamic = Dynamic#{Pid => Args}}.

start_new(Child, #sup{children = Children} = Sup) ->
    case start_one(Sup, Child) of
        {ok, undefined} when Child#child.restart =:= temporary -> {reply, {ok, undefined}, Sup};
        {ok, Pid} -> {reply, {ok, Pid}, Sup#sup{children = [Child#child{pid = Pid} | Children]}};
        {ok, Pid, Extra} -> {reply, {ok, Pid, Extra},
            Sup#sup{children = [Child#child{pid = Pid} | Children]}};
        {error, Reason} -> {reply, {error, {Reason, Child}}, Sup}
    end.

%% By id, or by pid.
find(Which, #sup{children = Children}) ->
    case lists:keyfind(Which, #child.id, Children) of
        false when is_pid(Which) -> lists:keyfind(Which, #child.pid, Children);
        Found -> Found
    end.

shown({restarting, _}) -> restarting;
shown(Pid) -> Pid.

count(#sup{strategy = simple_one_for_one, children = [#child{type = Type}], dynamic = Dynamic}) ->
    Size = map_size(Dynamic),
    Active = length([Pid || Pid <- maps:keys(Dynamic), is_pid(Pid)]),
    [{specs, 1}, {active, Active}, {supervisors, case Type of supervisor -> Size; worker -> 0 end},
     {workers, case Type of worker -> Size; supervisor -> 0 end}];
count(#sup{children = Children}) ->
    Supervisors = length([C || #child{type = supervisor} = C <- Children]),
    [{specs, length(Children)}, {active, length([C || #child{pid = Pid} = C <- Children, is_pid(Pid)])},
     {supervisors, Supervisors}, {workers, length(Children) - Supervisors}].

replace(#child{id = Id} = Child, #sup{children = Children} = Sup) ->
    Sup#sup{children = lists:keyreplace(Id, #child.id, Children, Child)}.

%% A child that is down for good: temporary ones are forgotten, others keep their specification.
stopped(#child{restart = temporary, id = Id}, #sup{children = Children} = Sup) ->
    Sup#sup{children = lists:keydelete(Id, #child.id, Children)};
stopped(Child, Sup) -> replace(Child#child{pid = undefined}, Sup).

handle_cast({try_again, Key}, #sup{strategy = simple_one_for_one, children = [Template],
    dynamic = Dynamic} = Sup) ->
    case Dynamic of
        #{Key := Args} ->
            {restarting, Pid} = Key,
            outcome(restart_dynamic(Pid, Args, Template, Sup#sup{dynamic = maps:remove(Key, Dynamic)}));
        _ -> {noreply, Sup}
    end;
handle_cast({try_again, Id}, #sup{children = Children} = Sup) ->
    case lists:keyfind(Id, #child.id, Children) of
        #child{pid = {restarting, _}} = Child -> outcome(restart(Child, Sup));
        _ -> {noreply, Sup}
    end.

handle_info({'EXIT', Pid, Reason}, Sup) -> outcome(child_ended(Pid, Reason, Sup));
handle_info(Message, Sup) ->
    logger:log(error, "Supervisor received unexpected message: ~tp~n", [Message],
        #{domain => [otp], error_logger => #{tag => error}}),
    {noreply, Sup}.

outcome({ok, Sup}) -> {noreply, Sup};
outcome({shutdown, Sup}) -> {stop, shutdown, Sup}.

%% --- Restarts ---

child_ended(Pid, Reason, #sup{strategy = simple_one_for_one, children = [Template],
    dynamic = Dynamic} = Sup) ->
    case maps:take(Pid, Dynamic) of
        {Args, Rest} ->
            #child{start = {M, F, _}} = Template,
            ended(Reason, Template#child{pid = Pid, start = {M, F, Args}}, Sup#sup{dynamic = Rest});
        error -> {ok, Sup}
    end;
child_ended(Pid, Reason, #sup{children = Children} = Sup) ->
    case lists:keyfind(Pid, #child.pid, Children) of
        #child{} = Child -> ended(Reason, Child, Sup);
        false -> {ok, Sup}
    end.

ended(Reason, #child{restart = permanent} = Child, Sup) ->
    report(child_terminated, Reason, Child, Sup),
    counted_restart(Child, Sup);
ended(Reason, Child, Sup) when Reason =:= normal; Reason =:= shutdown; tuple_size(Reason) =:= 2,
    element(1, Reason) =:= shutdown ->
    auto_shutdown(Child, gone(Child, Sup));
ended(Reason, #child{restart = transient} = Child, Sup) ->
    report(child_terminated, Reason, Child, Sup),
    counted_restart(Child, Sup);
ended(Reason, #child{restart = temporary} = Child, Sup) ->
    report(child_terminated, Reason, Child, Sup),
    auto_shutdown(Child, gone(Child, Sup)).

gone(_, #sup{strategy = simple_one_for_one} = Sup) -> Sup;
gone(Child, Sup) -> stopped(Child, Sup).

auto_shutdown(#child{significant = true}, #sup{auto_shutdown = any_significant} = Sup) -> {shutdown, Sup};
auto_shutdown(#child{significant = true}, #sup{auto_shutdown = all_significant, children = Children} = Sup) ->
    case [C || #child{significant = true, pid = Pid} = C <- Children, Pid =/= undefined] of
        [] -> {shutdown, Sup};
        _ -> {ok, Sup}
    end;
auto_shutdown(_, Sup) -> {ok, Sup}.

counted_restart(Child, Sup) ->
    case count_restart(Sup) of
        {ok, Counted} -> restart(Child, Counted);
        {too_many, Counted} ->
            report(shutdown, reached_max_restart_intensity, Child, Counted),
            {shutdown, gone(Child, Counted)}
    end.

count_restart(#sup{intensity = Intensity, period = Period, restarts = Restarts} = Sup) ->
    Now = erlang:monotonic_time(second),
    Recent = [Now | [T || T <- Restarts, T >= Now - Period]],
    case length(Recent) > Intensity of
        true -> {too_many, Sup#sup{restarts = Recent}};
        false -> {ok, Sup#sup{restarts = Recent}}
    end.

restart(#child{pid = Pid, start = {_, _, Args}}, #sup{strategy = simple_one_for_one, children = [Template]}
    = Sup) ->
    restart_dynamic(Pid, Args, Template, Sup);
restart(Child, #sup{strategy = one_for_one} = Sup) ->
    case start_one(Sup, Child) of
        {ok, Pid} -> {ok, replace(Child#child{pid = Pid}, Sup)};
        {ok, Pid, _} -> {ok, replace(Child#child{pid = Pid}, Sup)};
        {error, Reason} -> failed_restart(Reason, Child, Sup)
    end;
restart(Child, #sup{strategy = rest_for_one, children = Children} = Sup) ->
    {After, [_ | Before]} = lists:splitwith(fun(#child{id = Id}) -> Id =/= Child#child.id end, Children),
    restart_group(Child, After, Before, Sup);
restart(Child, #sup{strategy = one_for_all, children = Children} = Sup) ->
    Others = lists:keydelete(Child#child.id, #child.id, Children),
    Stopped = stop_all(Others, Sup),
    Group = [case Id =:= Child#child.id of
                 true -> C#child{pid = undefined};
                 false -> lists:keyfind(Id, #child.id, Stopped)
             end || #child{id = Id} = C <- Children, Id =:= Child#child.id orelse lists:keymember(Id,
             #child.id, Stopped)],
    start_group(lists:reverse(Group), [], Sup).

%% `After`: what was started later, to be stopped and started again too. `Before` stays.
restart_group(Child, After, Before, Sup) ->
    Stopped = stop_all(After, Sup),
    start_group([Child#child{pid = undefined} | lists:reverse(Stopped)], Before, Sup).

start_group(Children, Before, Sup) ->
    case start_group_each(Children, Before, Sup) of
        {ok, Started} -> {ok, Sup#sup{children = Started}};
        {error, Reason, Failed, Rest, Started} ->
            %% Those not reached stay down until the failed one is tried again.
            Down = lists:reverse([C#child{pid = undefined} || C <- Rest]),
            failed_restart(Reason, Failed, Sup#sup{children = Down ++ [Failed | Started]})
    end.

start_group_each([Child | Rest], Started, Sup) ->
    case start_one(Sup, Child) of
        {ok, undefined} when Child#child.restart =:= temporary -> start_group_each(Rest, Started, Sup);
        {ok, Pid} -> start_group_each(Rest, [Child#child{pid = Pid} | Started], Sup);
        {ok, Pid, _} -> start_group_each(Rest, [Child#child{pid = Pid} | Started], Sup);
        {error, Reason} -> {error, Reason, Child, Rest, Started}
    end;
start_group_each([], Started, _) -> {ok, Started}.

restart_dynamic(Pid, Args, #child{start = {M, F, _}} = Template, Sup) ->
    Child = Template#child{pid = Pid, start = {M, F, Args}},
    case start_one(Sup, Child) of
        {ok, undefined} -> {ok, Sup};
        {ok, New} -> {ok, dynamic(New, Args, Sup)};
        {ok, New, _} -> {ok, dynamic(New, Args, Sup)};
        {error, Reason} ->
            report(start_error, Reason, Child, Sup),
            retry({restarting, Pid}, Child, Sup#sup{dynamic = (Sup#sup.dynamic)#{{restarting, Pid} => Args}})
    end.

failed_restart(Reason, #child{pid = Pid, id = Id} = Child, Sup) ->
    report(start_error, Reason, Child, Sup),
    Old = case Pid of {restarting, _} -> Pid; _ -> {restarting, Pid} end,
    retry(Id, Child, replace(Child#child{pid = Old}, Sup)).

%% A start that failed counts as a restart; the next attempt goes through the mailbox so that other requests
%% get their turn.
retry(Key, Child, Sup) ->
    case count_restart(Sup) of
        {ok, Counted} -> gen_server:cast(self(), {try_again, Key}), {ok, Counted};
        {too_many, Counted} ->
            report(shutdown, reached_max_restart_intensity, Child, Counted),
            {shutdown, Counted}
    end.

%% --- Stopping ---

terminate(_Reason, #sup{strategy = simple_one_for_one, children = [Template], dynamic = Dynamic} = Sup) ->
    Pids = [Pid || Pid <- maps:keys(Dynamic), is_pid(Pid)],
    stop_dynamic(Pids, Template, Sup);
terminate(_Reason, #sup{children = Children} = Sup) -> _ = stop_all(Children, Sup), ok.

%% Latest first; gives what remains known of them.
stop_all(Children, Sup) ->
    lists:foreach(fun(Child) -> stop_child(Child, Sup) end, Children),
    [Child#child{pid = undefined} || #child{restart = Restart} = Child <- Children, Restart =/= temporary].

stop_child(#child{pid = Pid} = Child, Sup) when is_pid(Pid) ->
    case shutdown(Child) of
        ok -> ok;
        {error, normal} when Child#child.restart =/= permanent -> ok;
        {error, Reason} -> report(shutdown_error, Reason, Child, Sup)
    end;
stop_child(_, _) -> ok.

shutdown(#child{pid = Pid, shutdown = Shutdown}) ->
    Monitor = monitor(process, Pid),
    case Shutdown of
        brutal_kill ->
            exit(Pid, kill),
            receive {'DOWN', Monitor, process, Pid, Reason} -> flushed(Pid, Reason, killed) end;
        Time ->
            exit(Pid, shutdown),
            receive {'DOWN', Monitor, process, Pid, Reason} -> flushed(Pid, Reason, shutdown)
            after Time ->
                exit(Pid, kill),
                receive {'DOWN', Monitor, process, Pid, Reason} -> flushed(Pid, Reason, shutdown) end
            end
    end.

%% The exit message of a stopped child must not be taken for a crash; it also says how the child ended if the
%% monitor came too late.
flushed(Pid, Reason, Expected) ->
    unlink(Pid),
    True = receive {'EXIT', Pid, Why} when Reason =:= noproc -> Why;
                   {'EXIT', Pid, _} -> Reason
           after 0 -> Reason
           end,
    case True of
        Expected -> ok;
        {shutdown, _} when Expected =:= shutdown -> ok;
        _ -> {error, True}
    end.

%% Thousands of children are told at once, then awaited together.
stop_dynamic(Pids, #child{shutdown = Shutdown} = Template, Sup) ->
    Signal = case Shutdown of brutal_kill -> kill; _ -> shutdown end,
    Monitors = maps:from_list([{monitor(process, Pid), Pid} || Pid <- Pids]),
    [begin unlink(Pid), exit(Pid, Signal) end || Pid <- Pids],
    Timer = case Shutdown of
                Time when is_integer(Time) -> erlang:start_timer(Time, self(), kill);
                _ -> undefined
            end,
    await_dynamic(Monitors, Timer, Template, Sup).

await_dynamic(Monitors, Timer, _, _) when map_size(Monitors) =:= 0 ->
    _ = Timer =/= undefined andalso erlang:cancel_timer(Timer),
    ok;
await_dynamic(Monitors, Timer, Template, Sup) ->
    receive
        {'DOWN', Monitor, process, Pid, Reason} when is_map_key(Monitor, Monitors) ->
            case Reason of
                shutdown -> ok;
                {shutdown, _} -> ok;
                normal when Template#child.restart =/= permanent -> ok;
                noproc -> ok;
                killed when Template#child.shutdown =:= brutal_kill -> ok;
                _ -> report(shutdown_error, Reason, Template#child{pid = Pid}, Sup)
            end,
            await_dynamic(maps:remove(Monitor, Monitors), Timer, Template, Sup);
        {timeout, Timer, kill} ->
            [exit(Pid, kill) || Pid <- maps:values(Monitors)],
            await_dynamic(Monitors, undefined, Template, Sup)
    end.

code_change(_OldVsn, #sup{module = Mod, args = Args} = Sup, _Extra) ->
    case Mod:init(Args) of
        {ok, {Flags, Specs}} ->
            case flags(Flags, Sup) of
                {ok, New} ->
                    case specs(Specs, New#sup.auto_shutdown) of
                        {ok, [_] = Children} when New#sup.strategy =:= simple_one_for_one ->
                            {ok, New#sup{children = Children}};
                        {ok, _} when New#sup.strategy =:= simple_one_for_one ->
                            {error, {bad_start_spec, Specs}};
                        {ok, Children} -> {ok, New#sup{children = merged(Children, Sup)}};
                        Error -> Error
                    end;
                Error -> Error
            end;
        ignore -> {ok, Sup};
        Error -> Error
    end.

%% New specifications for running children; running ones without a specification stay.
merged(New, #sup{children = Old}) ->
    Kept = [C || #child{id = Id} = C <- Old, not lists:keymember(Id, #child.id, New)],
    Updated = [case lists:keyfind(Id, #child.id, Old) of
                   #child{pid = Pid} -> C#child{pid = Pid};
                   false -> C
               end || #child{id = Id} = C <- New],
    lists:reverse(Updated) ++ Kept.

%% --- Reports ---

progress(Child, #sup{name = Name}) ->
    logger:log(info, #{label => {?MODULE, progress}, report => [{supervisor, Name},
        {started, offender(Child)}]},
               #{domain => [otp, sasl], report_cb => fun ?MODULE:format_log/2,
                 error_logger => #{tag => info_report, type => progress,
                                   report_cb => fun ?MODULE:format_log/1}}).

report(Context, Reason, Child, #sup{name = Name}) ->
    logger:log(error, #{label => {?MODULE, Context},
                        report => [{supervisor, Name}, {errorContext, Context}, {reason, Reason},
                            {offender, offender(Child)}]},
               #{domain => [otp, sasl], report_cb => fun ?MODULE:format_log/2,
                 logger_formatter => #{title => "SUPERVISOR REPORT"},
                 error_logger => #{tag => error_report, type => supervisor_report,
                                   report_cb => fun ?MODULE:format_log/1}}).

offender(#child{pid = Pid, id = Id, start = Start, restart = R, significant = G, shutdown = S, type = T}) ->
    [{pid, shown(Pid)}, {id, Id}, {mfargs, Start}, {restart_type, R}, {significant, G}, {shutdown, S},
        {child_type, T}].

format_log(#{label := {?MODULE, progress}, report := [{supervisor, Name}, {started, Child}]}) ->
    {"    supervisor: ~tp~n    started: ~tp~n", [Name, Child]};
format_log(#{report := [{supervisor, Name}, {errorContext, Context}, {reason, Reason}, {offender, Child}]}) ->
    {"    supervisor: ~tp~n    errorContext: ~tp~n    reason: ~tp~n    offender: ~tp~n",
        [Name, Context, Reason, Child]}.

format_log(Report, Options) -> report_text:text(Report, Options, fun format_log/1, fun on_one_line/1).

on_one_line(#{label := {?MODULE, progress}, report := [{supervisor, Name}, {started, Child}]}) ->
    {"Supervisor: ~tp. Started: id=~w,~w=~w.", [Name | brief(Child)]};
on_one_line(#{report := [{supervisor, Name}, {errorContext, Context}, {reason, Reason},
                         {offender, Child}]}) ->
    {"Supervisor: ~tp. Context: ~tp. Reason: ~tp. Offender: id=~w,~w=~w.",
     [Name, Context, Reason | brief(Child)]}.

brief(Child) ->
    {id, Id} = lists:keyfind(id, 1, Child),
    {What, Value} = case lists:keyfind(pid, 1, Child) of
                        false -> lists:keyfind(nb_children, 1, Child);
                        Pid -> Pid
                    end,
    [Id, What, Value].
