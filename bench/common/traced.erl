%% Runs a program as act_main does while a process counts what erlang:trace tells of it: what somebody who has
%% no probes would do. The last arguments are those of the program.
%%   counted|texts   only count events, or count them by the text of the process they are about
%%   Events          words joined by commas: flags of erlang:trace, or call and return, for all functions
%%   File            where the count goes
-module(traced).
-export([start/1]).

start([How, Events, File, Module]) ->
    Counting = spawn(fun() -> count(list_to_atom(How), 0, #{}) end),
    Words = [list_to_atom(E) || E <- string:lexemes(Events, ",")],
    {Program, Ref} = spawn_monitor(fun() ->
        receive go -> run(list_to_atom(Module), init:get_plain_arguments()) end end),
    [erlang:trace_pattern({'_', '_', '_'}, match(Words), [local]) || lists:member(call, Words)],
    erlang:trace(Program, true, [set_on_spawn, {tracer, Counting} | Words -- [return]]),
    Program ! go,
    receive
        {'DOWN', Ref, process, Program, Reason} ->
            Delivered = erlang:trace_delivered(all),
            receive {trace_delivered, all, Delivered} -> ok end,
            Counting ! {total, self()},
            receive {total, Total} -> ok = file:write_file(File, io_lib:format("firings ~w~n", [Total])) end,
            case Reason of
                normal -> erlang:halt(0);
                _ -> io:format(standard_error, "~tp~n", [Reason]), erlang:halt(1)
            end
    end.

match(Words) ->
    case lists:member(return, Words) of
        true -> [{'_', [], [{return_trace}]}];
        false -> true
    end.

run(Module, Arguments) ->
    code:ensure_loaded(Module),
    case erlang:function_exported(Module, main, 1) of
        true -> Module:main(Arguments);
        false -> Module:main()
    end.

count(How, Total, Texts) ->
    receive
        {total, From} -> From ! {total, Total};
        _ when How =:= counted -> count(How, Total + 1, Texts);
        Event ->
            Text = text(element(2, Event)),
            count(How, Total + 1, maps:update_with(Text, fun(N) -> N + 1 end, 1, Texts))
    end.

text(Pid) when is_pid(Pid) -> pid_to_list(Pid);
text(Port) -> port_to_list(Port).
