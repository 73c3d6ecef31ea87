%% The process that knows which sockets there are, and who wants to hear of their end. The native
%% functions of prim_socket tell it {'$socket', add | del, Socket}. Functions and results are those of
%% OTP's module of that name.
-module(socket_registry).
-compile({no_auto_import, [monitor/1, monitor/2]}).

-export([start/0, number_of/0, which_sockets/1, monitor/1, monitor/2, cancel_monitor/1, number_of_monitors/0,
         number_of_monitors/1, which_monitors/1, monitored_by/1]).

-record(monitor, {socket, shown_as, pid}).

-record(s, {sockets = #{}, % Socket => its monitors
            monitors = #{}, % Reference => #monitor{}
            watched = #{}}). % Pid => how its end is heard of, for those that monitor

%% ---- For others ----

number_of() -> length(request(sockets)).

%% All (true), those with an item of their information, or those for which a function of it says true.
%% A function that fails is a bad argument. It runs in the caller: no socket waits for it.
which_sockets(true) -> request(sockets);
which_sockets(false) -> [];
which_sockets({Key, Value} = Filter) -> chosen(fun(Info) -> maps:find(Key, Info) =:= {ok, Value} end, Filter);
which_sockets(Filter) when is_function(Filter, 1) -> chosen(Filter, Filter);
which_sockets(Filter) -> error(badarg, [Filter]).

chosen(Is, Filter) ->
    try [Socket || {_, Ref} = Socket <- request(sockets), Is(prim_socket:info(Ref)) =:= true]
    catch _:_ -> error(badarg, [Filter])
    end.

monitor(Socket) -> monitor(Socket, #{}).

%% msocket: what is to stand in the message in the socket's place.
monitor(Socket, Opts) when is_map(Opts) -> request({monitor, Socket, maps:get(msocket, Opts, Socket)});
monitor(Socket, Opts) -> error(badarg, [Socket, Opts]).

cancel_monitor(Ref) when is_reference(Ref) -> request({cancel, Ref});
cancel_monitor(Ref) -> error(badarg, [Ref]).

number_of_monitors() -> request(number_of_monitors).
number_of_monitors(Of) -> length(which_monitors(Of)).
%% Of a process or of a socket.
which_monitors(Of) -> request({monitors, Of}).
monitored_by(Socket) -> request({monitored_by, Socket}).

request(Request) ->
    Ref = make_ref(),
    Registry = registry(),
    Registry ! {?MODULE, self(), Ref, Request},
    receive {?MODULE, Registry, Ref, Reply} -> Reply end.

%% It is there when prim_socket is.
registry() ->
    case whereis(?MODULE) of
        undefined ->
            _ = prim_socket:info(),
            registry();
        Pid -> Pid
    end.

%% ---- The process ----

start() ->
    register(?MODULE, self()),
    process_flag(trap_exit, true),
    loop(#s{}).

loop(S) ->
    receive
        {'$socket', add, Socket} -> loop(S#s{sockets = (S#s.sockets)#{Socket => []}});
        {'$socket', del, Socket} -> loop(gone(Socket, S));
        {?MODULE, From, Ref, Request} ->
            {Reply, New} = answer(Request, From, S),
            From ! {?MODULE, self(), Ref, Reply},
            loop(New);
        {'DOWN', _, process, Pid, _} ->
            Without = lists:foldl(fun forget/2, S, monitors_of(Pid, S)),
            loop(Without#s{watched = maps:remove(Pid, Without#s.watched)});
        _ -> loop(S)
    end.

answer(sockets, _, S) -> {maps:keys(S#s.sockets), S};
answer(number_of_monitors, _, S) -> {maps:size(S#s.monitors), S};
answer({monitors, Of}, _, S) -> {monitors_of(Of, S), S};
answer({monitored_by, Socket}, _, S) ->
    {lists:usort([(maps:get(Ref, S#s.monitors))#monitor.pid || Ref <- monitors_of(Socket, S)]), S};
answer({monitor, Socket, ShownAs}, Pid, S) ->
    Ref = make_ref(),
    case S#s.sockets of
        #{Socket := Monitors} ->
            Monitor = #monitor{socket = Socket, shown_as = ShownAs, pid = Pid},
            {Ref, watch(Pid, S#s{sockets = (S#s.sockets)#{Socket := [Ref | Monitors]},
                                 monitors = (S#s.monitors)#{Ref => Monitor}})};
        _ ->
            Pid ! {'DOWN', Ref, socket, ShownAs, nosock},
            {Ref, S}
    end;
answer({cancel, Ref}, Pid, S) ->
    case S#s.monitors of
        #{Ref := #monitor{pid = Pid}} -> {ok, unwatch(Pid, forget(Ref, S))};
        #{Ref := _} -> {{error, not_owner}, S};
        _ -> {{error, unknown_monitor}, S}
    end.

gone(Socket, S) ->
    Told = lists:foldl(fun(Ref, Before) ->
                               #monitor{pid = Pid, shown_as = ShownAs} = maps:get(Ref, Before#s.monitors),
                               Pid ! {'DOWN', Ref, socket, ShownAs, closed},
                               unwatch(Pid, forget(Ref, Before))
                       end, S, monitors_of(Socket, S)),
    Told#s{sockets = maps:remove(Socket, Told#s.sockets)}.

monitors_of(Pid, S) when is_pid(Pid) -> [Ref || {Ref, #monitor{pid = P}} <- maps:to_list(S#s.monitors), P =:= Pid];
monitors_of(Socket, S) -> maps:get(Socket, S#s.sockets, []).

forget(Ref, S) ->
    {#monitor{socket = Socket}, Monitors} = maps:take(Ref, S#s.monitors),
    Rest = lists:delete(Ref, maps:get(Socket, S#s.sockets)),
    S#s{monitors = Monitors, sockets = (S#s.sockets)#{Socket := Rest}}.

watch(Pid, S) when is_map_key(Pid, S#s.watched) -> S;
watch(Pid, S) -> S#s{watched = (S#s.watched)#{Pid => erlang:monitor(process, Pid)}}.

%% Unless it has other monitors.
unwatch(Pid, S) ->
    case monitors_of(Pid, S) of
        [] ->
            {Ref, Watched} = maps:take(Pid, S#s.watched),
            erlang:demonitor(Ref, [flush]),
            S#s{watched = Watched};
        _ -> S
    end.
