%% SPDX-License-Identifier: Apache-2.0
%% Drivers loaded at run time. Who loaded what, how often, and who wants to know
%% of it is the business of one process, registered as erl_ddll and started at the
%% first call; the machine opens and closes libraries for it (vmrun_ddll).
%%
%% A driver stays while processes use it: each load counts one use of the calling
%% process, each unload takes one back, the end of a process all of its. With the
%% last use gone it waits for its ports to close (or closes them: kill_ports),
%% then it is unloaded; a load in the meantime keeps it.
-module(ddll_server).

-export([not_linked_in/0]).
%% The built-in functions of these names of erl_ddll.
-export([try_load/3, try_unload/2, monitor/2, demonitor/1, loaded_drivers/0, info/2, format_error_int/1]).

%% ---- Calls ---------------------------------------------------------------------

try_load(Path, Name, Options) ->
    try {text(Path), text(Name), load_options(Options, {[], none, none})} of
        {Dir, Text, Parsed} -> call({load, Dir, Text, Parsed})
    catch
        error:_ -> badarg(try_load, [Path, Name, Options])
    end.

try_unload(Name, Options) ->
    try {text(Name), unload_options(Options, {false, none})} of
        {Text, Parsed} -> call({unload, Text, Parsed})
    catch
        error:_ -> badarg(try_unload, [Name, Options])
    end.

monitor(driver, {Name, When} = Item) when When =:= loaded; When =:= unloaded; When =:= unloaded_only ->
    try text(Name) of
        Text -> call({monitor, Name, Text, When})
    catch
        error:_ -> badarg(monitor, [driver, Item])
    end;
monitor(Tag, Item) -> badarg(monitor, [Tag, Item]).

demonitor(Ref) when is_reference(Ref) -> call({demonitor, Ref});
demonitor(Ref) -> badarg(demonitor, [Ref]).

loaded_drivers() -> {ok, [Name || {Name, _, _, _} <- visible()]}.

info(Name, Tag) ->
    Answer = try call({info, text(Name), Tag}) catch error:_ -> badarg end,
    case Answer of
        {ok, Value} -> Value;
        badarg -> badarg(info, [Name, Tag])
    end.

format_error_int({open_error, Text}) when is_list(Text) -> Text;
format_error_int(inconsistent) -> "The driver is loaded already from another place or with other options";
format_error_int(permanent) -> "The driver is permanent";
format_error_int(not_loaded) -> "There is no such driver";
format_error_int(not_loaded_by_this_process) -> "This process has not loaded the driver";
format_error_int(linked_in_driver) -> "The driver is linked in";
format_error_int(pending_reload) -> "The driver waits to be reloaded already";
format_error_int(pending_process) -> "Other processes use the driver";
format_error_int(bad_driver_name) -> "The library holds a driver of another name";
format_error_int(no_driver_init) -> "The library has no driver_init";
format_error_int(driver_init_failed) -> "The driver could not initialise itself";
format_error_int(driver_incorrect_version) ->
    "The driver was made for another version of the driver interface";
format_error_int(already_loaded) -> "The driver is loaded already";
format_error_int(load_cancelled) -> "Another process cancelled the loading";
format_error_int(Error) -> badarg(format_error_int, [Error]).

%% Raised as by the built-in function.
-spec badarg(atom(), [term()]) -> no_return().
badarg(Function, Arguments) ->
    try error(badarg)
    catch error:badarg:Stack -> erlang:raise(error, badarg, [{erl_ddll, Function, Arguments, []} | tl(Stack)])
    end.

not_linked_in() -> [Name || {Name, _, false, _} <- visible()].

text(Name) when is_atom(Name), Name =/= [] -> atom_to_list(Name);
text(Name) -> unicode:characters_to_list(iolist_to_binary(Name)).

load_options([], Parsed) -> Parsed;
load_options([{driver_options, []} | T], {_, M, R}) -> load_options(T, {[], M, R});
load_options([{driver_options, [kill_ports]} | T], {_, M, R}) -> load_options(T, {[kill_ports], M, R});
load_options([{monitor, M} | T], {O, _, R}) when M =:= pending; M =:= pending_driver ->
    load_options(T, {O, M, R});
load_options([{reload, R} | T], {O, M, _}) when R =:= pending; R =:= pending_driver ->
    load_options(T, {O, M, R}).

unload_options([], Parsed) -> Parsed;
unload_options([kill_ports | T], {_, M}) -> unload_options(T, {true, M});
unload_options([{monitor, M} | T], {K, _}) when M =:= pending; M =:= pending_driver ->
    unload_options(T, {K, M}).

%% Drivers of the machine's own that no program opens by name are not shown.
visible() -> [D || {Name, _, _, _} = D <- vmrun_ddll:all(),
    not lists:member(Name, ["spawn", "fd", "vanilla"])].

%% ---- The server ---------------------------------------------------------------

%% What is known of a driver that was loaded with us.
-record(driver, {dir,
                 options = [],
                 users = #{},        % pid => times loaded
                 % loaded | unloading (waits for its ports) | {reloading, Dir, Options, Pid}
                 state = loaded,
                 monitors = []}).    % {Ref, Pid, Name, loaded | unloaded | unloaded_only}, the latest first

call(Request) ->
    Server = server(),
    Ref = erlang:monitor(process, Server),
    Server ! {call, self(), Ref, Request},
    receive
        {Ref, Answer} -> erlang:demonitor(Ref, [flush]), Answer;
        {'DOWN', Ref, _, _, _} -> erlang:error(noproc)
    end.

server() ->
    case whereis(erl_ddll) of
        undefined -> start_server();
        Pid -> Pid
    end.

%% Of two that start one at a time the second finds the name taken, and ends.
start_server() ->
    {Pid, Ref} = spawn_monitor(fun() -> register(erl_ddll, self()), group_leader(whereis(init), self()),
        serve(#{}, #{}) end),
    Pid ! {ping, self(), Ref},
    receive
        {pong, Ref} -> erlang:demonitor(Ref, [flush]), Pid;
        {'DOWN', Ref, _, _, _} -> server()
    end.

%% Drivers by name; processes that use one, each with our monitor on it.
serve(Drivers, Processes) ->
    receive
        {ping, From, Ref} ->
            From ! {pong, Ref},
            serve(Drivers, Processes);
        {call, From, Ref, Request} ->
            Watched = watch(From, Request, Processes),
            {Answer, After} = handle(Request, From, Drivers),
            From ! {Ref, Answer},
            serve(After, Watched);
        {driver_unloaded, Name} ->
            serve(unloaded(Name, Drivers), Processes);
        {'DOWN', _, process, Pid, _} ->
            serve(maps:fold(fun(Name, D, All) -> forget(Name, D, Pid, All) end, Drivers, Drivers),
                maps:remove(Pid, Processes));
        _ ->
            serve(Drivers, Processes)
    end.

watch(Pid, Request, Processes) when element(1, Request) =:= load; element(1, Request) =:= monitor;
    element(1, Request) =:= unload ->
    case Processes of
        #{Pid := _} -> Processes;
        _ -> Processes#{Pid => erlang:monitor(process, Pid)}
    end;
watch(_, _, Processes) -> Processes.

handle({load, Dir, Name, {Options, Monitor, none}}, From, All) ->
    case state_of(Name, All) of
        absent -> load_now(Dir, Name, Options, From, All);
        {known, #driver{dir = Dir, options = Options, state = {reloading, _, _, _}} = D} ->
            pending_load(Name, add_user(From, D), From, Monitor, All);
        {known, #driver{state = {killing, _}} = D} ->
            pending_load(Name, D#driver{state = {reloading, Dir, Options, From}}, From, Monitor, All);
        {known, #driver{dir = Dir, options = Options} = D} ->
            {{ok, already_loaded}, All#{Name => add_user(From, keep(Name, D))}};
        {known, _} -> {{error, inconsistent}, All};
        {other, Error} -> {{error, Error}, All}
    end;
handle({load, Dir, Name, {Options, Monitor, Reload}}, From, All) ->
    case state_of(Name, All) of
        absent -> {{error, not_loaded}, All};
        {known, #driver{state = State}} when element(1, State) =:= reloading;
            element(1, State) =:= reload_wanted -> {{error, pending_reload}, All};
        {known, #driver{users = Users} = D} ->
            case {map_size(maps:remove(From, Users)), Reload} of
                {N, pending_driver} when N > 0 -> {{error, pending_process}, All};
                _ when not is_map_key(From, Users) -> {{error, not_loaded_by_this_process}, All};
                {0, _} -> reload(Dir, Name, Options, Monitor, From, D, All);
                {_, pending} when Options =:= [kill_ports] ->
                    reload_for_all(Dir, Name, Options, Monitor, From, D, All);
                {_, pending} -> pending_process(Name, D#driver{state = {reload_wanted, Dir, Options, From}},
                    From, Monitor, loaded, All)
            end;
        {other, Error} -> {{error, Error}, All}
    end;
handle({unload, Name, {Kill, Monitor}}, From, All) ->
    case state_of(Name, All) of
        absent -> {{error, not_loaded}, All};
        {other, Error} -> {{error, Error}, All};
        {known, #driver{users = Users, options = Options} = D0} ->
            D = case Kill of true -> D0#driver{options = [kill_ports]}; false ->
                D0#driver{options = Options} end,
            case Users of
                #{From := N} ->
                    Left = drop_use(From, N, Users),
                    case map_size(Left) of
                        0 -> unload_now(Name, D#driver{users = Left}, From, Monitor, All);
                        _ -> pending_process(Name, D#driver{users = Left}, From, Monitor, unloaded, All)
                    end;
                _ when map_size(Users) =:= 0 -> unload_now(Name, D, From, Monitor, All);
                _ -> {{error, not_loaded_by_this_process}, All}
            end
    end;
handle({monitor, Given, Name, When}, From, All) ->
    Ref = make_ref(),
    case state_of(Name, All) of
        {known, #driver{state = State} = D} ->
            case {When, State} of
                {loaded, loaded} -> From ! {'UP', Ref, driver, Given, loaded}, {Ref, All};
                {loaded, {reloading, _, _, _}} -> {Ref, All#{Name => add_monitor(Ref, From, Name, When, D)}};
                {loaded, _} -> From ! {'DOWN', Ref, driver, Given, load_cancelled}, {Ref, All};
                {_, _} -> {Ref, All#{Name => add_monitor(Ref, From, Name, When, D)}}
            end;
        {other, permanent} when When =/= unloaded_only ->
            From ! {'UP', Ref, driver, Given, permanent}, {Ref, All};
        _ -> From ! {'DOWN', Ref, driver, Given, unloaded}, {Ref, All}
    end;
handle({demonitor, Ref}, From, All) ->
    {true, maps:map(fun(_, D) ->
        D#driver{monitors = [M || M <- D#driver.monitors, {element(1, M), element(2, M)} =/= {Ref, From}]}
            end, All)};
handle({info, Name, Tag}, _, All) ->
    case lists:keyfind(Name, 1, visible()) of
        false -> {badarg, All};
        {_, Ports, LinkedIn, Permanent} ->
            {info_item(Tag, maps:get(Name, All, #driver{}), Ports, LinkedIn, Permanent), All}
    end.

info_item(processes, D, _, _, _) -> {ok, maps:to_list(D#driver.users)};
info_item(driver_options, D, _, _, _) -> {ok, D#driver.options};
info_item(port_count, _, Ports, _, _) -> {ok, Ports};
info_item(linked_in_driver, _, _, LinkedIn, _) -> {ok, LinkedIn};
info_item(permanent, _, _, _, Permanent) -> {ok, Permanent};
info_item(awaiting_load, D, _, _, _) -> {ok, waiting(D, fun(When) -> When =:= loaded end)};
info_item(awaiting_unload, D, _, _, _) -> {ok, waiting(D, fun(When) -> When =/= loaded end)};
info_item(_, _, _, _, _) -> badarg.

waiting(#driver{monitors = Monitors}, Wanted) ->
    Count = fun(Pid, All) -> All#{Pid => maps:get(Pid, All, 0) + 1} end,
    maps:to_list(lists:foldl(Count, #{}, [Pid || {_, Pid, _, When} <- Monitors, Wanted(When)])).

%% absent; one of ours; one that is not ours to load or unload.
state_of(Name, All) ->
    case {All, lists:keyfind(Name, 1, visible())} of
        {_, {_, _, true, _}} -> {other, linked_in_driver};
        {_, {_, _, _, true}} -> {other, permanent};
        {#{Name := D}, _} -> {known, D};
        _ -> absent
    end.

add_user(Pid, #driver{users = Users} = D) -> D#driver{users = Users#{Pid => maps:get(Pid, Users, 0) + 1}}.

drop_use(Pid, 1, Users) -> maps:remove(Pid, Users);
drop_use(Pid, N, Users) -> Users#{Pid := N - 1}.

add_monitor(Ref, Pid, Name, When, D) ->
    D#driver{monitors = [{Ref, Pid, list_to_atom(Name), When} | D#driver.monitors]}.

load_now(Dir, Name, Options, From, All) ->
    case vmrun_ddll:open(library(Dir, Name), Name) of
        ok -> {{ok, loaded}, All#{Name => add_user(From, #driver{dir = Dir, options = Options})}};
        {error, _} = Error -> {Error, All}
    end.

library(Dir, Name) -> Dir ++ "/" ++ Name ++ ".so".

%% A driver that was to be unloaded stays.
keep(_, #driver{state = loaded} = D) -> D;
keep(Name, #driver{dir = Dir} = D) ->
    case vmrun_ddll:keep(Name) of
        true -> ok;
        false ->
            %% Its last port has just closed: it is loaded again as soon as it has gone.
            receive {driver_unloaded, Name} -> ok end,
            vmrun_ddll:open(library(Dir, Name), Name)
    end,
    tell(fun(unloaded) -> {'UP', unload_cancelled}; (_) -> none end, D#driver{state = loaded}).

pending_load(Name, D, From, Monitor, All) ->
    pending(pending_driver, Name, D, From, Monitor =/= none, loaded, All).
pending_process(Name, D, From, Monitor, When, All) ->
    pending(pending_process, Name, D, From, Monitor =:= pending, When, All).

pending(Status, Name, D, _, false, _, All) -> {{ok, Status}, All#{Name => D}};
pending(Status, Name, D, From, true, When, All) ->
    Ref = make_ref(),
    {{ok, Status, Ref}, All#{Name => add_monitor(Ref, From, Name, When, D)}}.

%% The last use is gone.
unload_now(Name, D, From, Monitor, All) ->
    case close(Name, D) of
        unloaded when Monitor =:= none -> {{ok, unloaded}, gone(Name, D, All)};
        unloaded ->
            %% Who wants to know is told by the message, though there is nothing to wait for.
            Ref = make_ref(),
            {{ok, pending_driver, Ref}, gone(Name, add_monitor(Ref, From, Name, unloaded, D), All)};
        pending -> pending(pending_driver, Name, D#driver{state = closing_state(D)}, From, Monitor =/= none,
            unloaded, All);
        Error -> {{error, Error}, All}
    end.

closing_state(#driver{options = [kill_ports]}) -> {killing, ports};
closing_state(_) -> unloading.

close(Name, #driver{options = Options}) ->
    Ports = case Options of
                [kill_ports] -> vmrun_ddll:lock(Name);
                [] -> []
            end,
    Result = vmrun_ddll:close(Name),
    [exit(Port, driver_unloaded) || Port <- Ports],
    Result.

%% It is not loaded any more; driver_unloaded may still come for it, and finds nothing.
gone(Name, #driver{state = {reloading, Dir, Options, _}} = D, All) -> load_again(Dir, Name, Options, D, All);
gone(Name, D, All) ->
    tell(fun(loaded) -> {'DOWN', load_cancelled}; (_) -> {'DOWN', unloaded} end, D),
    maps:remove(Name, All).

unloaded(Name, All) ->
    case All of
        #{Name := #driver{state = loaded}} -> All;
        #{Name := D} -> gone(Name, D, All);
        _ -> All
    end.

reload(Dir, Name, Options, Monitor, From, D, All) ->
    Reloading = D#driver{state = {reloading, Dir, Options, From}},
    case close(Name, D#driver{options = Options}) of
        unloaded ->
            After = load_again(Dir, Name, Options, Reloading, All),
            case After of
                #{Name := _} -> {{ok, loaded}, After};
                _ -> {get_failure(), After}
            end;
        pending -> pending_load(Name, Reloading, From, Monitor, All);
        Error -> {{error, Error}, All}
    end.

%% With its ports killed it need not wait for the other processes: they have the new one.
reload_for_all(Dir, Name, Options, Monitor, From, D, All) ->
    Reloading = D#driver{state = {reloading, Dir, Options, From}},
    case close(Name, D#driver{options = Options}) of
        pending -> pending_process(Name, Reloading, From, Monitor, loaded, All);
        unloaded -> {{ok, loaded}, load_again(Dir, Name, Options, Reloading, All)};
        Error -> {{error, Error}, All}
    end.

get_failure() -> erase(failure).

load_again(Dir, Name, Options, #driver{state = {reloading, _, _, Pid}, users = Users} = D, All) ->
    case vmrun_ddll:open(library(Dir, Name), Name) of
        ok ->
            Again = tell(fun(loaded) -> {'UP', loaded}; (_) -> {'DOWN', unloaded} end,
                D#driver{dir = Dir, options = Options, state = loaded}),
            Kept = case map_size(Users) of 0 -> add_user(Pid, Again); _ -> Again end,
            All#{Name => Kept};
        {error, Reason} = Error ->
            put(failure, Error),
            tell(fun(loaded) -> {'DOWN', {load_failure, Reason}}; (_) -> {'DOWN', unloaded} end, D),
            maps:remove(Name, All)
    end.

%% Tells those for whom Message says something; they are not told again.
tell(Message, #driver{monitors = Monitors} = D) ->
    Left = [M || {Ref, Pid, Name, When} = M <- Monitors,
                 case Message(When) of
                     none -> true;
                     {Tag, What} -> Pid ! {Tag, Ref, driver, Name, What}, false
                 end],
    D#driver{monitors = Left}.

%% A process is gone.
forget(Name, #driver{users = Users, monitors = Monitors} = D0, Pid, All) ->
    D = D0#driver{users = maps:remove(Pid, Users), monitors = [M || M <- Monitors, element(2, M) =/= Pid]},
    case {map_size(Users), D} of
        {N, #driver{users = Left}} when N > 0, map_size(Left) =:= 0 ->
            {_, After} = unload_now(Name, D, Pid, none, All#{Name => D}),
            After;
        {_, #driver{users = Left, state = {reload_wanted, Dir, Options, Other}}} when map_size(Left) =:= 1 ->
            {_, After} = reload(Dir, Name, Options, none, Other, D#driver{state = loaded}, All#{Name => D}),
            After;
        _ -> All#{Name => D}
    end.
