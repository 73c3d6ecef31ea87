%% SPDX-License-Identifier: Apache-2.0
%% The processes that make this machine a node, and who looks after them:
%%
%%   kernel_sup                       as in OTP; ends the machine when it cannot keep its children up
%%     code_server                      stands for the machine's loading of code
%%     rex                              of rpc
%%     net_sup or net_sup_dynamic       started from the command line, or by net_kernel:start/1,2
%%       erl_epmd auth net_kernel       and what the distribution modules need
%%
%% net_kernel, erl_epmd, auth and rpc are an installed OTP's; its applications are there too
%% (installed_kernel), as other nodes' global waits for an answer. Without an OTP the machine cannot be a
%% node.
-module(erl_distribution).
-behaviour(supervisor).

-export([boot/0, start/1, stop/0, restart/1]).
-export([start_link/1, init/1, keeper/2]).

-define(CLOSED_MS, 5000).

%% --- From the command line ---

%% Called before the program begins, if there is -sname or -name. Does not return when this cannot be a node.
boot() ->
    case start_kernel_sup([net_sup(net_sup, Options) || Options <- given()]) of
        ok -> ok;
        {error, Reason} ->
            io:format(standard_error, "vmrun: cannot be a node: ~ts~n", [text(innermost(Reason))]),
            halt(1)
    end.

given() ->
    Names = [{Name, Domain} || {Flag, Domain} <- [{sname, shortnames}, {name, longnames}],
        {ok, Given} <- [init:get_argument(Flag)],
                               [Name] <- Given],
    case Names of
        [{Name, Domain} | Others] ->
            Others =:= [] orelse logger:warning("Multiple -sname or -name given, using the first, ~p",
                [Name]),
            [#{name => list_to_atom(Name), name_domain => Domain, clean_halt => true, supervisor => net_sup}];
        [] -> []
    end.

text(Reason) ->
    case io_lib:printable_list(Reason) of
        true -> Reason;
        false -> io_lib:format("~tp", [Reason])
    end.

innermost({shutdown, {failed_to_start_child, _, Reason}}) -> innermost(Reason);
innermost({failed_to_start_child, _, Reason}) -> innermost(Reason);
innermost({'EXIT', Reason}) -> innermost(Reason);
innermost({Reason, [{_, _, _, _} | _]}) -> Reason;
innermost(Reason) -> Reason.

%% --- By net_kernel:start/1,2 ---

start(Options) ->
    case whereis(kernel_sup) of
        undefined -> start_kernel_sup([]);
        _ -> ok
    end,
    supervisor:start_child(kernel_sup,
        net_sup(net_sup_dynamic, Options#{clean_halt => false, supervisor => net_sup_dynamic})).

%% Connections end by signals to their ports, which take their time.
wait_for_no_nodes(Left) ->
    case nodes(connected) of
        [_ | _] when Left > 0 -> receive after 1 -> wait_for_no_nodes(Left - 1) end;
        _ -> ok
    end.

stop() ->
    case whereis(kernel_sup) of
        undefined -> {error, not_found};
        _ ->
            case supervisor:terminate_child(kernel_sup, net_sup_dynamic) of
                ok ->
                    wait_for_no_nodes(?CLOSED_MS),
                    supervisor:delete_child(kernel_sup, net_sup_dynamic);
                Error ->
                    case whereis(net_sup) of
                        undefined -> Error;
                        _ -> {error, not_allowed}
                    end
            end
    end.

%% For a node that has lost whoever had named it: from the beginning, in a process that is linked to the
%% caller.
restart(Id) ->
    spawn_link(fun() ->
                       process_flag(trap_exit, true),
                       ok = supervisor:terminate_child(kernel_sup, Id),
                       {ok, _} = supervisor:restart_child(kernel_sup, Id)
               end).

%% --- Supervisors ---

net_sup(Id, Options) ->
    #{id => Id, start => {?MODULE, start_link, [Options]}, restart => permanent, shutdown => 1000,
        type => supervisor}.

start_link(Options) -> supervisor:start_link({local, net_sup}, ?MODULE, {net_sup, Options}).

start_kernel_sup(Children) ->
    case installed_kernel:ensure_started() of
        ok -> start_keeper(Children);
        none -> {error, "the modules of nodes are those of an installed Erlang/OTP (Debian: erlang-base), "
                        "and there is none (-otp, VMRUN_OTP)"}
    end.

start_keeper(Children) ->
    {Keeper, Monitor} = spawn_monitor(?MODULE, keeper, [self(), Children]),
    receive
        {Keeper, started} ->
            demonitor(Monitor, [flush]),
            ok;
        {'DOWN', Monitor, _, _, Reason} -> {error, Reason}
    end.

%% kernel_sup's parent.
keeper(Starter, Children) ->
    group_leader(whereis(user), self()),
    process_flag(trap_exit, true),
    case supervisor:start_link({local, kernel_sup}, ?MODULE, {kernel_sup, Children}) of
        {ok, Sup} ->
            Starter ! {self(), started},
            kept(Sup);
        {error, Reason} -> exit(Reason)
    end.

kept(Sup) ->
    receive
        {'EXIT', Sup, Reason} ->
            error_logger:error_msg("Kernel pid terminated (kernel_sup) (~tp)~n", [Reason]),
            init:stop(1);
        _ -> kept(Sup)
    end.

%% Nodes that all listen on one port need no epmd.
need_epmd() ->
    case epmd_service:start() =:= missing andalso init:get_argument(erl_epmd_port) =:= error of
        true ->
            exit("epmd, by which nodes find each other, does not run and is not installed (Debian: "
                 "erlang-base); "
                 "-erl_epmd_port PORT works without it");
        false -> ok
    end.

init({kernel_sup, Children}) ->
    Rex = #{id => rex, start => {rpc, start_link, []}, shutdown => 2000},
    Code = #{id => code_server, start => {code_ready, start_link, []}, shutdown => 2000},
    {ok, {#{strategy => one_for_all, intensity => 0, period => 1}, [Code, Rex] ++ Children}};
init({net_sup, Options}) ->
    Epmd = case init:get_argument(no_epmd) of
               {ok, _} -> [];
               error ->
                   Module = net_kernel:epmd_module(),
                   Module =/= erl_epmd orelse need_epmd(),
                   [#{id => Module, start => {Module, start_link, []}, shutdown => 2000}]
           end,
    Children = net_kernel:protocol_childspecs() ++ Epmd ++
        [#{id => auth, start => {auth, start_link, []}, shutdown => 2000},
         #{id => net_kernel, start => {net_kernel, start_link, [Options]}, shutdown => 2000}],
    {ok, {#{strategy => one_for_all, intensity => 0, period => 1}, Children}}.
