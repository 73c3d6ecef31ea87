%% Applications, for programs that run without OTP's own system: application and application_controller of an installed OTP, with
%% kernel and stdlib as running, for what they would start is there. Nothing of it is loaded, and no process started, before the
%% program calls application or is a node.
%%
%% The process of this name is the controller's parent, and lasts as long as the machine.
-module(installed_kernel).

-export([ensure_started/0]).

%% ok; none: there is no installed OTP. By any process; the controller itself, and what it starts, may call application while it
%% begins.
ensure_started() ->
    case whereis(application_controller) of
        undefined -> await(start());
        _ ->
            case is_ready() of
                true -> ok;
                false -> await(whereis(?MODULE))
            end
    end.

is_ready() ->
    Self = self(),
    Self =:= whereis(application_controller) orelse persistent_term:get(?MODULE, false).

start() ->
    case code:where_is_file("kernel.app") of
        non_existing -> none;
        File -> spawn(fun() -> keep(File) end)
    end.

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
            persistent_term:put(?MODULE, true),
            kept(Controller);
        Reason -> exit(Reason)
    end.

%% What kernel is, without what starts it.
without_processes(File) ->
    {ok, [{application, kernel, Properties}]} = file:consult(File),
    {application, kernel, lists:keydelete(mod, 1, Properties)}.

kept(Controller) ->
    receive
        {ready, From, Ref} ->
            From ! {Ref, ok},
            kept(Controller);
        {'EXIT', Controller, Reason} ->
            error_logger:error_msg("Kernel pid terminated (application_controller) (~tp)~n", [Reason]),
            init:stop(1);
        _ -> kept(Controller)
    end.
