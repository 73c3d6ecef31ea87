%% SPDX-License-Identifier: Apache-2.0
%% Processes that know their parent and ancestors, answer their starter when they are ready, and report a
%% crash.
-module(proc_lib).

-export([spawn/1, spawn/2, spawn/3, spawn/4, spawn_link/1, spawn_link/2, spawn_link/3, spawn_link/4,
         spawn_monitor/1, spawn_monitor/3, spawn_opt/2, spawn_opt/3, spawn_opt/4, spawn_opt/5, start/3,
         start/4, start/5, start_link/3, start_link/4, start_link/5, start_monitor/3, start_monitor/4,
         start_monitor/5, init_ack/1, init_ack/2, init_fail/2, init_fail/3, hibernate/3, stop/1, stop/3,
         initial_call/1, translate_initial_call/1, set_label/1, get_label/1,
         format/1, format/2, format/3, report_cb/2]).
-export([init_p/3, init_p/5, wake_up/3]).  % entry points of new processes

%% --- Starting without waiting ---

spawn(Fun) when is_function(Fun, 0) -> proc_lib:spawn_opt(Fun, []).
spawn(M, F, A) -> proc_lib:spawn_opt(M, F, A, []).
spawn_link(Fun) when is_function(Fun, 0) -> proc_lib:spawn_opt(Fun, [link]).
spawn_link(M, F, A) -> proc_lib:spawn_opt(M, F, A, [link]).
spawn_monitor(Fun) when is_function(Fun, 0) -> proc_lib:spawn_opt(Fun, [monitor]).
spawn_monitor(M, F, A) -> proc_lib:spawn_opt(M, F, A, [monitor]).

spawn(Node, Fun) -> proc_lib:spawn_opt(Node, Fun, []).
spawn(Node, M, F, A) -> proc_lib:spawn_opt(Node, M, F, A, []).
spawn_link(Node, Fun) -> proc_lib:spawn_opt(Node, Fun, [link]).
spawn_link(Node, M, F, A) -> proc_lib:spawn_opt(Node, M, F, A, [link]).

spawn_opt(Node, Fun, Options) when is_function(Fun, 0) ->
    erlang:spawn_opt(Node, ?MODULE, init_p, [own_name(), ancestors(), Fun], Options).
spawn_opt(Node, M, F, A, Options) when is_atom(M), is_atom(F), is_list(A) ->
    erlang:spawn_opt(Node, ?MODULE, init_p, [own_name(), ancestors(), M, F, A], Options).

spawn_opt(Fun, Options) when is_function(Fun, 0) ->
    erlang:spawn_opt(?MODULE, init_p, [own_name(), ancestors(), Fun], Options).
spawn_opt(M, F, A, Options) when is_atom(M), is_atom(F), is_list(A) ->
    erlang:spawn_opt(?MODULE, init_p, [own_name(), ancestors(), M, F, A], Options).

own_name() ->
    case erlang:process_info(self(), registered_name) of
        {registered_name, Name} -> Name;
        _ -> self()
    end.

ancestors() ->
    case get('$ancestors') of
        List when is_list(List) -> List;
        _ -> []
    end.

%% --- What a process is called in lists and reports ---

set_label(Label) ->
    put('$process_label', Label),
    ok.

get_label(Pid) when Pid =:= self() -> get('$process_label');
get_label(Pid) ->
    try erlang:process_info(Pid, dictionary) of
        {dictionary, Dictionary} -> proplists:get_value('$process_label', Dictionary);
        undefined -> undefined
    catch error:badarg -> undefined
    end.

%% --- Life of such a process ---

init_p(Parent, Ancestors, Fun) ->
    put('$ancestors', [Parent | Ancestors]),
    {module, M} = erlang:fun_info(Fun, module),
    {name, F} = erlang:fun_info(Fun, name),
    {arity, A} = erlang:fun_info(Fun, arity),
    put('$initial_call', {M, F, A}),
    try Fun()
    catch Class:Reason:Stack -> crashed(Class, Reason, Stack)
    end.

init_p(Parent, Ancestors, M, F, A) ->
    put('$ancestors', [Parent | Ancestors]),
    put('$initial_call', user_call(M, F, A)),
    guarded(M, F, A).

%% Behaviours start in gen:init_it/6; the callback module says more.
user_call(gen, init_it, [gen_server, _, _, supervisor, {_, Mod, _}, _]) -> {supervisor, Mod, 1};
user_call(gen, init_it, [gen_server, _, _, _, supervisor, {_, Mod, _}, _]) -> {supervisor, Mod, 1};
user_call(gen, init_it, [_, _, _, Mod, _, _]) -> {Mod, init, 1};
user_call(gen, init_it, [_, _, _, _, Mod, _, _]) -> {Mod, init, 1};
user_call(M, F, A) -> {M, F, length(A)}.

guarded(M, F, A) ->
    try apply(M, F, A)
    catch Class:Reason:Stack -> crashed(Class, Reason, Stack)
    end.

crashed(Class, Reason, Stack) ->
    case {Class, Reason} of
        {exit, normal} -> ok;
        {exit, shutdown} -> ok;
        {exit, {shutdown, _}} -> ok;
        _ -> report_crash(Class, Reason, Stack)
    end,
    exit(exit_reason(Class, Reason, Stack)).

exit_reason(exit, Reason, _) -> Reason;
exit_reason(error, Reason, Stack) -> {Reason, Stack};
exit_reason(throw, Value, Stack) -> {{nocatch, Value}, Stack}.

report_crash(Class, Reason, Stack) ->
    Info = fun(Item) -> erlang:process_info(self(), Item) end,
    Own = [{initial_call, initial_call_text(get('$initial_call'))},
           {pid, self()},
           case Info(registered_name) of [] -> {registered_name, []}; Name -> Name end]
        ++ [{process_label, Label} || Label <- [get('$process_label')], Label =/= undefined]
        ++ [{error_info, {Class, Reason, Stack}},
           {ancestors, ancestors()},
           {message_queue_len, element(2, Info(message_queue_len))},
           {messages, element(2, Info(messages))},
           {links, element(2, Info(links))},
           {dictionary, [Pair || {Key, _} = Pair <- get(), Key =/= '$ancestors', Key =/= '$initial_call',
                                 Key =/= '$process_label']},
           {trap_exit, element(2, Info(trap_exit))},
           {status, element(2, Info(status))},
           {heap_size, element(2, Info(heap_size))},
           {stack_size, element(2, Info(stack_size))},
           {reductions, element(2, Info(reductions))}],
    logger:log(error, #{label => {?MODULE, crash},
        report => [Own, [{neighbour, Its} || Pid <- neighbours([self()], []), Its <- about(Pid)]]},
               #{report_cb => fun ?MODULE:report_cb/2, domain => [otp, sasl],
                 logger_formatter => #{title => "CRASH REPORT"},
                 error_logger => #{tag => error_report, type => crash_report}}).

%% Those that are linked to the one that ends, directly or through others, and are going to end with it.
neighbours([Pid | Pids], Seen) ->
    case process_info(Pid, [links, trap_exit]) of
        [{links, Links}, {trap_exit, Trap}] when Pid =:= self(); not Trap ->
            New = [P || P <- Links, is_pid(P), node(P) =:= node(), not lists:member(P, Seen),
                not lists:member(P, Pids), P =/= Pid],
            neighbours(Pids ++ New, [Pid | Seen]);
        _ -> neighbours(Pids, Seen)
    end;
neighbours([], Seen) -> tl(lists:reverse(Seen)).

about(Pid) ->
    case process_info(Pid, [registered_name, dictionary, current_function, message_queue_len, links,
        trap_exit, status, heap_size,
                            stack_size, reductions, current_stacktrace]) of
        [Name, {dictionary, Dictionary}, Function | Rest] ->
            [[{pid, Pid}, Name, {initial_call,
                initial_call_text(proplists:get_value('$initial_call', Dictionary))},
              Function, {ancestors, proplists:get_value('$ancestors', Dictionary, [])} | Rest]];
        undefined -> []
    end.

initial_call_text({M, F, A}) when is_integer(A) ->
    {M, F, ["Argument__" ++ integer_to_list(N) || N <- lists:seq(1, A)]};
initial_call_text(Other) -> Other.

hibernate(M, F, A) -> erlang:hibernate(?MODULE, wake_up, [M, F, A]).

wake_up(M, F, A) -> guarded(M, F, A).

%% --- Starting and waiting for the word ---

start(M, F, A) -> start(M, F, A, infinity).
start(M, F, A, Timeout) -> start(M, F, A, Timeout, []).
start(M, F, A, Timeout, Options) ->
    unmonitored(Options) orelse error(badarg, [M, F, A, Timeout, Options]),
    {Pid, Monitor} = proc_lib:spawn_opt(M, F, A, [monitor | Options]),
    receive
        {ack, Pid, Answer} -> erlang:demonitor(Monitor, [flush]), Answer;
        {nack, Pid, Answer} -> receive {'DOWN', Monitor, process, Pid, _} -> Answer end;
        {'DOWN', Monitor, process, Pid, Reason} -> {error, Reason}
    after Timeout ->
        killed(Pid, Options),
        receive {'DOWN', Monitor, process, Pid, _} -> {error, timeout} end
    end.

unmonitored(Options) ->
    not lists:any(fun(O) -> O =:= monitor orelse is_tuple(O) andalso element(1, O) =:= monitor end, Options).

%% The end of a process that was too slow leaves no exit signal behind.
killed(Pid, Options) ->
    case lists:member(link, Options) of
        true ->
            unlink(Pid),
            exit(Pid, kill),
            receive {'EXIT', Pid, _} -> ok after 0 -> ok end;
        false -> exit(Pid, kill)
    end.

start_link(M, F, A) -> start_link(M, F, A, infinity).
start_link(M, F, A, Timeout) -> start_link(M, F, A, Timeout, []).
start_link(M, F, A, Timeout, Options) ->
    unmonitored(Options) orelse error(badarg, [M, F, A, Timeout, Options]),
    Pid = proc_lib:spawn_opt(M, F, A, [link | lists:delete(link, Options)]),
    receive
        {ack, Pid, Answer} -> Answer;
        {nack, Pid, Answer} -> forget(Pid), Answer;
        {'EXIT', Pid, Reason} -> {error, Reason}
    after Timeout ->
        unlink(Pid),
        Monitor = monitor(process, Pid),
        exit(Pid, kill),
        receive {'DOWN', Monitor, process, Pid, _} -> ok end,
        receive {'EXIT', Pid, _} -> ok after 0 -> ok end,
        {error, timeout}
    end.

%% A linked process that failed to start: its end must be over before the starter goes on, and leaves nothing
%% in the mailbox.
forget(Pid) ->
    unlink(Pid),
    Monitor = monitor(process, Pid),
    receive {'DOWN', Monitor, process, Pid, _} -> ok end,
    receive {'EXIT', Pid, _} -> ok after 0 -> ok end.

start_monitor(M, F, A) -> start_monitor(M, F, A, infinity).
start_monitor(M, F, A, Timeout) -> start_monitor(M, F, A, Timeout, []).
start_monitor(M, F, A, Timeout, Options) ->
    unmonitored(Options) orelse error(badarg, [M, F, A, Timeout, Options]),
    {Pid, Monitor} = proc_lib:spawn_opt(M, F, A, [monitor | Options]),
    receive
        {ack, Pid, Answer} -> {Answer, Monitor};
        {nack, Pid, Answer} -> {Answer, Monitor};
        {'DOWN', Monitor, process, Pid, Reason} = Down -> self() ! Down, {{error, Reason}, Monitor}
    after Timeout ->
        killed(Pid, Options),
        {{error, timeout}, Monitor}
    end.

init_ack(Answer) ->
    [Parent | _] = get('$ancestors'),
    init_ack(Parent, Answer).
init_ack(Parent, Answer) -> Parent ! {ack, self(), Answer}, ok.

init_fail(Answer, Exception) ->
    [Parent | _] = get('$ancestors'),
    init_fail(Parent, Answer, Exception).
init_fail(Parent, Answer, Exception) ->
    Parent ! {nack, self(), Answer},
    case Exception of
        {Class, Reason} -> erlang:raise(Class, Reason, []);
        {Class, Reason, Stack} -> erlang:raise(Class, Reason, Stack)
    end.

%% --- Stopping ---

stop(Process) -> stop(Process, normal, infinity).
stop(Process, Reason, Timeout) when Timeout =:= infinity; is_integer(Timeout), Timeout >= 0 ->
    Monitor = monitor(process, Process),
    {Sender, SenderMonitor} = erlang:spawn_monitor(fun() -> sys:terminate(Process, Reason, infinity) end),
    Outcome = await_down(Monitor, Timeout),
    exit(Sender, kill),
    erlang:demonitor(SenderMonitor, [flush]),
    erlang:demonitor(Monitor, [flush]),
    case Outcome of
        {down, Reason} -> ok;
        {down, Other} -> exit(Other);
        timeout -> exit(timeout)
    end.

await_down(Monitor, Timeout) ->
    receive {'DOWN', Monitor, _, _, Reason} -> {down, Reason}
    after Timeout -> timeout
    end.

%% --- Who is who ---

initial_call(Process) ->
    case known_call(Process) of
        {M, F, A} -> {M, F, [list_to_atom("Argument__" ++ integer_to_list(N)) || N <- lists:seq(1, A)]};
        false -> false
    end.

translate_initial_call(Process) ->
    case known_call(Process) of
        {M, F, A} -> {M, F, A};
        false -> {?MODULE, init_p, 5}
    end.

known_call(Pid) when is_pid(Pid) ->
    case erlang:process_info(Pid, dictionary) of
        {dictionary, Dictionary} ->
            case lists:keyfind('$initial_call', 1, Dictionary) of
                {_, Call} -> Call;
                false -> false
            end;
        undefined -> false
    end;
known_call(Info) when is_list(Info) ->
    case lists:keyfind(dictionary, 1, Info) of
        {dictionary, Dictionary} -> proplists:get_value('$initial_call', Dictionary, false);
        false -> false
    end;
known_call(_) -> false.

%% --- The text of a crash report ---

format(Report) -> format(Report, latin1).
format(Report, Encoding) -> format(Report, Encoding, unlimited).
format(Report, Encoding, Depth) -> text(Report, #{encoding => Encoding, depth => Depth}).

report_cb(#{label := {?MODULE, crash}, report := Report}, Options) -> text(Report, Options).

text(Report, Options) ->
    Default = #{encoding => utf8, depth => unlimited, chars_limit => unlimited, single_line => false},
    lists:flatten(crash_text:text(Report, maps:merge(Default, Options))).
