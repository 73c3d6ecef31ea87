%% Runs main of a script on a stock erl as vmrun does: status 1 and a report on standard error when it fails.
-module(act_main).
-export([start/1]).

start([Module]) ->
    Args = init:get_plain_arguments(),
    io:setopts(standard_io, [{encoding, unicode}]),
    {Pid, Ref} = spawn_monitor(fun() -> run(list_to_atom(Module), Args) end),
    receive
        {'DOWN', Ref, process, Pid, normal} -> flush_log(), erlang:halt(0);
        {'DOWN', Ref, process, Pid, Reason} ->
            io:format(standard_error, "~tp~n", [Reason]),
            flush_log(),
            erlang:halt(1)
    end.

run(Module, Args) ->
    code:ensure_loaded(Module),
    case erlang:function_exported(Module, main, 1) of
        true -> Module:main(Args);
        false -> Module:main()
    end.

%% What has been logged may not have been written yet. What an on_load function returned is logged by a child
%% of the code server. Some of it goes through one of two processes before it reaches the handler: an answer
%% from them says that they have passed on what they were sent earlier.
flush_log() ->
    _ = code:get_path(),  % the code server has started it
    Server = whereis(code_server),
    [receive {'DOWN', Ref, process, _, _} -> ok end
     || P <- processes(), process_info(P, parent) =:= {parent, Server}, Ref <- [monitor(process, P)]],
    [sys:get_state(Process) || Process <- [logger_proxy, logger]],
    logger_std_h:filesync(default).
