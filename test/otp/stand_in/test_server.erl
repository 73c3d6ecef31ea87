%% What suites call in the test server below common_test.
-module(test_server).
-export([timetrap/1, timetrap_cancel/0, timetrap_cancel/1, timetrap_scale_factor/0, get_timetrap_info/0, seconds/1, minutes/1, hours/1,
         sleep/1, adjusted_sleep/1, format/1, format/2, format/3, fail/0, fail/1, comment/1, lookup_config/2,
         start_node/3, stop_node/1, start_peer/3, start_peer/5, peer_name/2, wait_for_node/1, os_type/0,
         is_native/1, is_cover/0, is_debug/0, is_commercial/0, is_asan/0, is_valgrind/0, purify_is_running/0,
         capture_start/0, capture_stop/0, capture_get/0, messages_get/0, messages_get/1, m_out_of_n/3, do_times/2, do_times/4,
         call_crash/3, call_crash/4, call_crash/5, timecall/3]).

timetrap(_) -> self().
timetrap_cancel() -> ok.
timetrap_cancel(_) -> ok.
timetrap_scale_factor() -> 1.
get_timetrap_info() -> ct:get_timetrap_info().
seconds(N) -> trunc(N * 1000).
minutes(N) -> trunc(N * 60000).
hours(N) -> trunc(N * 3600000).
sleep(Time) -> timer:sleep(Time).
adjusted_sleep(Time) -> timer:sleep(Time).
format(_) -> ok.
format(_, _) -> ok.
format(_, _, _) -> ok.
fail() -> ct:fail(fail).
fail(Reason) -> ct:fail(Reason).
comment(_) -> ok.
lookup_config(Key, Config) -> proplists:get_value(Key, Config).

%% Other nodes are what progname says, with the cookie of this one: see suite.py. A suite that is not run as a node has none.

start_peer(Options, Module, Case) when is_list(Options) -> start_peer(#{args => Options}, Module, Case);
start_peer(Options, Module, Case) ->
    is_alive() orelse ct:other_node(),
    Given = maps:get(args, Options, []),
    Name = maps:get(name, Options, peer_name(Module, Case)),
    peer:start_link(Options#{name => Name, args => cookie(Given) ++ ["-pa", filename:dirname(code:which(Module)) | Given]}).

start_peer(_, _, _, _Release, _) -> not_available.

peer_name(Module, Case) ->
    is_alive() orelse ct:other_node(),
    peer:random_name(lists:concat([Module, "-", Case])).

cookie(Args) ->
    case lists:member("-setcookie", Args) of
        true -> [];
        false -> ["-setcookie", atom_to_list(erlang:get_cookie())]
    end.

start_node(Name, slave, Options) ->
    is_alive() orelse ct:other_node(),
    slave:start(host(), Name, " " ++ proplists:get_value(args, Options, ""), no_link, ct:get_progname());
start_node(Name, peer, Options) ->
    is_alive() orelse ct:other_node(),
    case proplists:get_value(erl, Options, [this]) of
        [this] -> ok;
        _ -> exit({skipped, other_release})
    end,
    Args = string:lexemes(proplists:get_value(args, Options, ""), " "),
    Whole = #{name => lists:concat([Name]), longnames => net_kernel:longnames(), connection => 0, args => cookie(Args) ++ Args,
              wait_boot => case proplists:get_value(wait, Options, true) of true -> 60000; false -> false end},
    case peer:start(Whole) of
        {ok, Pid} -> remember(list_to_atom(lists:concat([Name, "@", host()])), Pid);
        {ok, Pid, Node} -> remember(Node, Pid);
        Error -> Error
    end.

remember(Node, Pid) ->
    persistent_term:put({?MODULE, Node}, Pid),
    {ok, Node}.

stop_node(Node) ->
    case persistent_term:get({?MODULE, Node}, none) of
        none -> rpc:call(Node, erlang, halt, []);
        Pid ->
            persistent_term:erase({?MODULE, Node}),
            catch peer:stop(Pid)
    end,
    true.

wait_for_node(_) -> ok.

host() -> list_to_atom(lists:last(string:lexemes(atom_to_list(node()), "@"))).

os_type() -> os:type().

is_native(_) -> false.
is_cover() -> false.
is_debug() -> false.
is_commercial() -> false.
is_asan() -> false.
is_valgrind() -> false.
purify_is_running() -> false.

capture_start() -> ct:capture_start().
capture_stop() -> ok.
capture_get() -> [].
messages_get() -> messages_get([]).
messages_get(Seen) -> receive M -> messages_get([M | Seen]) after 1 -> lists:reverse(Seen) end.
m_out_of_n(_, _, _) -> exit({skipped, m_out_of_n}).
do_times(0, _) -> ok;
do_times(N, F) -> F(), do_times(N - 1, F).
do_times(N, Module, Function, Args) -> do_times(N, fun() -> apply(Module, Function, Args) end).

call_crash(Module, Function, Args) -> call_crash(infinity, any, Module, Function, Args).
call_crash(Time, Module, Function, Args) -> call_crash(Time, any, Module, Function, Args).
call_crash(Time, Reason, Module, Function, Args) ->
    {Pid, Monitor} = spawn_monitor(Module, Function, Args),
    receive
        {'DOWN', Monitor, process, Pid, Why} when Reason =:= any; Why =:= Reason -> ok;
        {'DOWN', Monitor, process, Pid, Why} -> ct:fail({wrong_crash, Why})
    after Time -> exit(Pid, kill), exit(call_crash_timeout)
    end.

%% {Seconds, Answer}
timecall(Module, Function, Args) ->
    {Microseconds, Answer} = timer:tc(Module, Function, Args),
    {Microseconds / 1000000, Answer}.
