%% SPDX-License-Identifier: Apache-2.0
%% Applications, for programs that run without OTP's own system: application and application_controller of an
%% installed OTP, with kernel and stdlib as running. What they start is there already, or is started here.
%% Nothing of it is loaded, and no process started, before the program calls application, or another module
%% that needs it (runtime/cli/boot.cpp has the list), or is a node.
%%
%% The process of this name is the parent of the controller and of the others, and lasts as long as the
%% machine.
-module(installed_kernel).

-behaviour(supervisor).

-export([ensure_started/0, stop/0]).
-export([init/1]).

%% ok; none: there is no installed OTP, or modules of the program's own are in its place. By any process; what
%% is started here may call application while it begins.
ensure_started() ->
    case is_ready() of
        true -> ok;
        false ->
            case whereis(?MODULE) of
                undefined -> await(start());
                Keeper -> await(Keeper)
            end
    end.

%% Of all applications, the last that was started first, and of what is started here: files are closed and
%% tables written. When this returns, it is done.
stop() ->
    case whereis(?MODULE) of
        undefined -> ok;
        Keeper ->
            Monitor = monitor(process, Keeper),
            Keeper ! stop,
            receive {'DOWN', Monitor, process, _, _} -> ok end
    end.

is_ready() ->
    Self = self(),
    Self =:= whereis(application_controller) orelse persistent_term:get(?MODULE, false) orelse
        Self =:= whereis(?MODULE) orelse is_started_here(get('$ancestors')).

is_started_here(Ancestors) -> is_list(Ancestors) andalso lists:member(?MODULE, Ancestors).

start() ->
    File = code:where_is_file("kernel.app"),
    case File =/= non_existing andalso lists:all(fun(M) -> is_beside(File, M) end,
        [application, application_controller]) of
        true -> spawn(fun() -> keep(File) end);
        false -> none
    end.

%% A program may have a module of its own with such a name.
is_beside(KernelApp, Module) ->
    File = code:which(Module),
    is_list(File) andalso filename:dirname(File) =:= filename:dirname(KernelApp).

await(none) -> none;
await(undefined) -> ensure_started(); % it had this name a moment ago
await(Keeper) ->
    Monitor = monitor(process, Keeper),
    Keeper ! {ready, self(), Monitor},
    receive
        {Monitor, ok} ->
            demonitor(Monitor, [flush]),
            ok;
        {'DOWN', Monitor, process, _, second} -> await(whereis(?MODULE));
        {'DOWN', Monitor, process, _, noproc} -> ensure_started();
        {'DOWN', Monitor, process, _, Reason} -> exit(Reason)
    end.

keep(File) ->
    try register(?MODULE, self())
    catch error:badarg -> exit(second)
    end,
    group_leader(whereis(user), self()),
    process_flag(trap_exit, true),
    case application_controller:start(without_processes(File)) of
        {ok, Controller} ->
            {module, application} = code:ensure_loaded(application),
            [ok = application:start_boot(Name, permanent) || Name <- [kernel, stdlib]],
            Children = lists:append([started(apply(M, F, Arguments))
                                     || {M, F, Arguments} <- children(), M =:= supervisor
                                         orelse is_beside(File, M)]),
            persistent_term:put(?MODULE, true),
            kept(Controller, Children);
        Reason -> exit(Reason)
    end.

%% Of OTP's kernel:init/1, what is not there without it.
children() ->
    [{inet_db, start_link, []},
     {global, start_link, []},
     {global_group, start_link, []},
     {supervisor, start_link, [{local, kernel_safe_sup}, kernel, safe]},
     {supervisor, start_link, [{local, logger_sup}, ?MODULE, logger_sup]}].

%% The program may have one of them already.
started({ok, Pid}) -> [Pid];
started({error, {already_started, _}}) -> [].

%% Handlers' processes join it. What the machine reports goes to this system's own process, logger.
init(logger_sup) ->
    {ok, {#{strategy => one_for_one, intensity => 1, period => 5},
          [#{id => logger_handler_watcher, start => {logger_handler_watcher, start_link, []},
              shutdown => brutal_kill}]}}.

%% What kernel is, without what starts it.
without_processes(File) ->
    {ok, [{application, kernel, Properties}]} = file:consult(File),
    {application, kernel, lists:keydelete(mod, 1, Properties)}.

kept(Controller, Children) ->
    receive
        {ready, From, Ref} ->
            From ! {Ref, ok},
            kept(Controller, Children);
        stop -> [shut_down(Pid) || Pid <- [Controller | lists:reverse(Children)]];
        {'EXIT', Controller, Reason} -> ended(application_controller, Reason);
        {'EXIT', Pid, Reason} ->
            case lists:member(Pid, Children) of
                true -> ended(kernel_sup, Reason); % what it would do
                false -> kept(Controller, Children)
            end;
        _ -> kept(Controller, Children)
    end.

shut_down(Pid) ->
    exit(Pid, shutdown),
    receive {'EXIT', Pid, _} -> ok end.

ended(Name, Reason) ->
    error_logger:error_msg("Kernel pid terminated (~ts) (~tp)~n", [Name, Reason]),
    init:stop(1).
