%% SPDX-License-Identifier: Apache-2.0
%% What the behaviours share: starting under a name, calls with monitors and aliases, replies, stopping.
-module(gen).

-export([start/5, start/6, init_it/6, init_it/7, call/3, call/4, cast_target/1, reply/2, stop/1, stop/3,
         send_request/3, send_request/5, wait_response/2, wait_response/3, receive_response/2,
         receive_response/3, check_response/2, check_response/3, reqids_new/0, reqids_size/1, reqids_add/3,
         reqids_to_list/1, debug_options/2, hibernate_after/1, register_name/1, unregister_name/1,
         get_proc_name/1, name/1, get_parent/0, where/1, format_status/4, format_status_header/2,
         client_info/1, format_client/1, format_client_on_one_line/1]).

%% --- Start ---

%% LinkP: link | nolink | monitor.
start(GenMod, LinkP, Name, Mod, Args, Options) ->
    case where(Name) of
        undefined -> spawn_it(GenMod, LinkP, Name, Mod, Args, Options);
        Pid when LinkP =:= monitor -> {error, {already_started, Pid}};
        Pid -> {error, {already_started, Pid}}
    end.

start(GenMod, LinkP, Mod, Args, Options) -> spawn_it(GenMod, LinkP, self, Mod, Args, Options).

spawn_it(GenMod, LinkP, Name, Mod, Args, Options) ->
    Timeout = proplists:get_value(timeout, Options, infinity),
    SpawnOptions = proplists:get_value(spawn_opt, Options, []),
    Init = [GenMod, self(), parent_of(LinkP), Name, Mod, Args, Options],
    case LinkP of
        link -> proc_lib:start_link(?MODULE, init_it, Init, Timeout, SpawnOptions);
        nolink -> proc_lib:start(?MODULE, init_it, Init, Timeout, SpawnOptions);
        monitor ->
            case proc_lib:start_monitor(?MODULE, init_it, Init, Timeout, SpawnOptions) of
                {{ok, Pid}, Monitor} -> {ok, {Pid, Monitor}};
                {Other, Monitor} -> erlang:demonitor(Monitor, [flush]), Other
            end
    end.

parent_of(link) -> self();
parent_of(_) -> self.

init_it(GenMod, Starter, Parent, Mod, Args, Options) ->
    init_it(GenMod, Starter, Parent, self, Mod, Args, Options).

init_it(GenMod, Starter, Parent, Name, Mod, Args, Options) ->
    case register_name(Name) of
        true -> GenMod:init_it(Starter, Parent, name_or_self(Name), Mod, Args, Options);
        {false, Pid} -> proc_lib:init_ack(Starter, {error, {already_started, Pid}})
    end.

name_or_self(self) -> self();
name_or_self(Name) -> Name.

where({local, Name}) when is_atom(Name) -> whereis(Name);
where({global, Name}) -> global:whereis_name(Name);
where({via, Module, Name}) -> Module:whereis_name(Name);
where(Other) -> error(badarg, [Other]).

register_name(self) -> true;
register_name({local, Name} = Full) ->
    try register(Name, self())
    catch error:_ -> {false, where(Full)}
    end;
register_name({global, Name} = Full) ->
    case global:register_name(Name, self()) of
        yes -> true;
        no -> {false, where(Full)}
    end;
register_name({via, Module, Name} = Full) ->
    case Module:register_name(Name, self()) of
        yes -> true;
        no -> {false, where(Full)}
    end.

unregister_name({local, Name}) -> try unregister(Name) catch _:_ -> ok end;
unregister_name({global, Name}) -> _ = global:unregister_name(Name);
unregister_name({via, Module, Name}) -> _ = Module:unregister_name(Name);
unregister_name(Pid) when is_pid(Pid) -> Pid.

%% The name a server goes by in reports.
name({local, Name}) -> Name;
name({global, Name}) -> Name;
name({via, _, Name}) -> Name;
name(Pid) when is_pid(Pid) -> Pid.

%% The name of this process, if it is registered under it.
get_proc_name(Pid) when is_pid(Pid) -> Pid;
get_proc_name({local, Name} = Full) ->
    where(Full) =:= self() orelse exit(process_not_registered),
    Name;
get_proc_name({global, Name} = Full) ->
    where(Full) =:= self() orelse exit(process_not_registered_globally),
    Name;
get_proc_name({via, Module, Name} = Full) ->
    where(Full) =:= self() orelse exit({process_not_registered_via, Module}),
    Name.

get_parent() ->
    case get('$ancestors') of
        [Parent | _] when is_pid(Parent) -> Parent;
        [Parent | _] when is_atom(Parent) -> whereis(Parent);
        _ -> exit(process_was_not_started_by_proc_lib)
    end.

%% --- Call ---

call(Process, Label, Request) -> call(Process, Label, Request, 5000).

call(Process, Label, Request, Timeout) when Timeout =:= infinity; is_integer(Timeout), Timeout >= 0 ->
    case target(Process) of
        Pid when Pid =:= self() -> exit(calling_self);
        Target -> do_call(Target, Label, Request, Timeout)
    end.

do_call(Target, Label, Request, infinity) ->
    Monitor = erlang:monitor(process, Target),
    _ = erlang:send(Target, {Label, {self(), Monitor}, Request}, [noconnect]),
    receive
        {Monitor, Reply} -> erlang:demonitor(Monitor, [flush]), {ok, Reply};
        {'DOWN', Monitor, _, _, noconnection} -> exit({nodedown, node_of(Target)});
        {'DOWN', Monitor, _, _, Reason} -> exit(Reason)
    end;
do_call(Target, Label, Request, Timeout) ->
    Monitor = erlang:monitor(process, Target, [{alias, demonitor}]),
    Tag = [alias | Monitor],
    _ = erlang:send(Target, {Label, {self(), Tag}, Request}, [noconnect]),
    receive
        {Tag, Reply} -> erlang:demonitor(Monitor, [flush]), {ok, Reply};
        {'DOWN', Monitor, _, _, noconnection} -> exit({nodedown, node_of(Target)});
        {'DOWN', Monitor, _, _, Reason} -> exit(Reason)
    after Timeout ->
        erlang:demonitor(Monitor, [flush]),
        receive {Tag, Reply} -> {ok, Reply}
        after 0 -> exit(timeout)
        end
    end.

node_of({_, Node}) -> Node;
node_of(Pid) -> node(Pid).

target(Pid) when is_pid(Pid) -> Pid;
target(Name) when is_atom(Name) ->
    case whereis(Name) of
        undefined -> exit(noproc);
        Pid -> Pid
    end;
target({global, _} = Name) -> found(where(Name));
target({via, _, _} = Name) -> found(where(Name));
target({Name, Node}) when is_atom(Name), is_atom(Node) ->
    if Node =:= node() -> target(Name);
       node() =:= nonode@nohost -> exit({nodedown, Node});
       true -> {Name, Node}
    end;
target(Other) -> error(badarg, [Other]).

found(undefined) -> exit(noproc);
found(Pid) -> Pid.

%% Where a cast goes; undefined when there is nobody.
cast_target({global, _} = Name) -> where(Name);
cast_target({via, _, _} = Name) -> where(Name);
cast_target({Name, Node}) when Node =:= node() -> whereis(Name);
cast_target(Name) when is_atom(Name) -> whereis(Name);
cast_target(Other) -> Other.

reply({_To, [alias | Alias] = Tag}, Reply) when is_reference(Alias) -> Alias ! {Tag, Reply}, ok;
reply({_To, [[alias | Alias] | _] = Tag}, Reply) when is_reference(Alias) -> Alias ! {Tag, Reply}, ok;
reply({To, Tag}, Reply) -> try To ! {Tag, Reply}, ok catch _:_ -> ok end.

%% --- Asynchronous requests ---

send_request(Process, Label, Request) ->
    Monitor = case async_target(Process) of
                  undefined -> dead_monitor(Process);
                  Target ->
                      M = erlang:monitor(process, Target, [{alias, demonitor}]),
                      _ = erlang:send(Target, {Label, {self(), [alias | M]}, Request}, [noconnect]),
                      M
              end,
    [alias | Monitor].

send_request(Process, Label, Request, RequestLabel, Collection) when is_map(Collection) ->
    [alias | Monitor] = send_request(Process, Label, Request),
    Collection#{Monitor => RequestLabel}.

async_target(Pid) when is_pid(Pid) -> Pid;
async_target(Name) when is_atom(Name) -> whereis(Name);
async_target({Name, Node}) when Node =:= node() -> whereis(Name);
async_target({Name, Node}) when is_atom(Name), is_atom(Node), node() =/= nonode@nohost -> {Name, Node};
async_target({Name, Node}) when is_atom(Name), is_atom(Node) -> undefined; % no other node can be spoken of
async_target(Name) -> where(Name).

%% What is monitored, as the request named it.
object({Name, Node}) when Node =:= node() -> Name;
object(Object) -> Object.

%% A monitor that has fired: the request went to nobody.
dead_monitor(Name) when is_atom(Name) -> erlang:monitor(process, Name);
dead_monitor(_) ->
    {Pid, Monitor} = spawn_monitor(fun() -> exit(noproc) end),
    _ = Pid,
    Monitor.

check_response(Message, [alias | Monitor] = Tag) ->
    case Message of
        {Tag, Reply} -> erlang:demonitor(Monitor, [flush]), {reply, Reply};
        {'DOWN', Monitor, _, Object, Reason} -> {error, {Reason, object(Object)}};
        _ -> no_reply
    end.

check_response(_Message, Collection, _Delete) when map_size(Collection) =:= 0 -> no_request;
check_response(Message, Collection, Delete) ->
    case Message of
        {[alias | Monitor], Reply} when is_map_key(Monitor, Collection) ->
            erlang:demonitor(Monitor, [flush]),
            found_response({reply, Reply}, Monitor, Collection, Delete);
        {'DOWN', Monitor, _, Object, Reason} when is_map_key(Monitor, Collection) ->
            found_response({error, {Reason, object(Object)}}, Monitor, Collection, Delete);
        _ -> no_reply
    end.

found_response(Response, Monitor, Collection, Delete) ->
    Label = maps:get(Monitor, Collection),
    {Response, Label, case Delete of true -> maps:remove(Monitor, Collection); false -> Collection end}.

wait_response([alias | Monitor] = Tag, Timeout) ->
    receive
        {Tag, Reply} -> erlang:demonitor(Monitor, [flush]), {reply, Reply};
        {'DOWN', Monitor, _, Object, Reason} -> {error, {Reason, object(Object)}}
    after milliseconds(Timeout) -> timeout
    end.

wait_response(Collection, _Timeout, _Delete) when map_size(Collection) =:= 0 -> no_request;
wait_response(Collection, Timeout, Delete) ->
    receive
        {[alias | Monitor], Reply} when is_map_key(Monitor, Collection) ->
            erlang:demonitor(Monitor, [flush]),
            found_response({reply, Reply}, Monitor, Collection, Delete);
        {'DOWN', Monitor, _, Object, Reason} when is_map_key(Monitor, Collection) ->
            found_response({error, {Reason, object(Object)}}, Monitor, Collection, Delete)
    after milliseconds(Timeout) -> timeout
    end.

%% As wait_response, but a timeout abandons the request.
receive_response([alias | Monitor] = Id, Timeout) ->
    case wait_response(Id, Timeout) of
        timeout ->
            erlang:demonitor(Monitor, [flush]),
            receive {Id, Reply} -> {reply, Reply} after 0 -> timeout end;
        Response -> Response
    end.

receive_response(Collection, Timeout, Delete) ->
    case wait_response(Collection, Timeout, Delete) of
        timeout ->
            [begin erlang:demonitor(M, [flush]), receive {[alias | M], _} -> ok after 0 -> ok end end
                || M <- maps:keys(Collection)],
            timeout;
        Response -> Response
    end.

milliseconds({abs, Time}) -> max(0, Time - erlang:monotonic_time(millisecond));
milliseconds(Timeout) -> Timeout.

reqids_new() -> #{}.
reqids_size(Collection) -> map_size(Collection).
reqids_add([alias | Monitor], Label, Collection) when not is_map_key(Monitor, Collection) ->
    Collection#{Monitor => Label};
reqids_add(Id, Label, Collection) -> error(badarg, [Id, Label, Collection]).
reqids_to_list(Collection) -> [{[alias | Monitor], Label} || {Monitor, Label} <- maps:to_list(Collection)].

%% --- Stop, options ---

stop(Process) -> stop(Process, normal, infinity).
stop(Process, Reason, Timeout) ->
    proc_lib:stop(case Process of
                      {global, _} -> target(Process);
                      {via, _, _} -> target(Process);
                      _ -> Process
                  end, Reason, Timeout).

debug_options(_Name, Options) ->
    case lists:keyfind(debug, 1, Options) of
        {debug, Debug} -> sys:debug_options(Debug);
        false -> []
    end.

hibernate_after(Options) -> proplists:get_value(hibernate_after, Options, infinity).

%% What a callback module wants to be seen of its process, for gen_statem.
format_status(Module, Option, Status, Arguments) ->
    case {erlang:function_exported(Module, format_status, 1), erlang:function_exported(Module, format_status,
        2)} of
        {true, _} ->
            try maps:merge(Status, Module:format_status(Status)) of
                Shown when map_size(Shown) =:= map_size(Status) -> Shown;
                _ -> not_shown(Module, "/1 returned a map with unknown keys", Status)
            catch
                error:{badmap, _} -> not_shown(Module, "/1 did not return a map", Status);
                _:_ -> not_shown(Module, "/1 crashed", Status)
            end;
        {false, true} when is_list(Arguments) ->
            try Status#{'$status' => Module:format_status(Option, Arguments)}
            catch
                throw:Shown -> Status#{'$status' => Shown};
                _:_ -> not_shown(Module, "/2 crashed", Status)
            end;
        _ -> Status
    end.

not_shown(Module, Why, Status) -> Status#{'EXIT' => atom_to_list(Module) ++ ":format_status" ++ Why}.

format_status_header(Tag, Name) when is_pid(Name) -> lists:concat([Tag, " ", pid_to_list(Name)]);
format_status_header(Tag, Name) when is_atom(Name) -> lists:concat([Tag, " ", Name]);
format_status_header(Tag, Name) -> {Tag, Name}.

%% Who asked, for the report of a server that fails meanwhile.
client_info({Pid, _}) when is_pid(Pid), node(Pid) =:= node() ->
    case process_info(Pid, [current_stacktrace, registered_name]) of
        undefined -> {Pid, dead};
        [{current_stacktrace, Stack}, {registered_name, []}] -> {Pid, {Pid, Stack}};
        [{current_stacktrace, Stack}, {registered_name, Name}] -> {Pid, {Name, Stack}}
    end;
client_info({Pid, _}) when is_pid(Pid) -> {Pid, remote};
client_info(_) -> undefined.

format_client(undefined) -> {"", []};
format_client({From, dead}) -> {"** Client ~p is dead~n", [From]};
format_client({From, remote}) -> {"** Client ~p is remote on node ~p~n", [From, node(From)]};
format_client({_, {Name, Stack}}) -> {"** Client ~tp stacktrace~n** ~tp~n", [Name, Stack]}.

format_client_on_one_line(undefined) -> {"", []};
format_client_on_one_line({From, dead}) -> {" Client ~0p is dead.", [From]};
format_client_on_one_line({From, remote}) -> {" Client ~0p is remote on node ~0p.", [From, node(From)]};
format_client_on_one_line({_, {Name, Stack}}) ->
    {" Client ~tp stacktrace: ~tp.", [Name, lists:sublist(Stack, 4)]}.
