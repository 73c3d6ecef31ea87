%% SPDX-License-Identifier: Apache-2.0
%% On_load functions. A module that has one is there only when it has returned `ok`. It runs in a
%% process of its own: whoever calls the module, or loads it, meanwhile waits for the end of that
%% process. Calls that could only wait for themselves are undefined: those of the function into its
%% own module, and those that close a circle of such modules.
-module(vmrun_on_load).
-export([call/3, await/1]).

%% What the machine calls in place of a function of such a module.
call(Module, Function, Arguments) ->
    case await(Module) andalso erlang:function_exported(Module, Function, length(Arguments)) of
        true -> apply(Module, Function, Arguments);
        false -> undefined(Module, Function, Arguments)
    end.

undefined(Module, Function, Arguments) ->
    try error(undef)
    catch error:undef:Stack -> erlang:raise(error, undef, [{Module, Function, Arguments, []} | tl(Stack)])
    end.

%% True when the function of the module has run and nothing is left to wait for, false for a circle.
await(Module) ->
    case erts_internal:await_on_load(Module) of
        done -> true;
        circular -> false;
        start -> wait(Module, spawn_monitor(fun() -> run(Module) end));
        Runner -> wait(Module, {Runner, monitor(process, Runner)})
    end.

wait(Module, {Runner, Ref}) ->
    receive
        {'DOWN', Ref, process, Runner, Reason} ->
            %% It has finished by itself, unless it was killed.
            erts_internal:finish_on_load(Module, Runner, Reason),
            await(Module)
    end.

run(Module) ->
    erts_internal:claim_on_load(Module) andalso
        erts_internal:finish_on_load(Module, self(), result(Module)).

result(Module) ->
    try erlang:call_on_load_function(Module)
    catch
        error:Reason:Stack -> {Reason, Stack};
        throw:Value:Stack -> {{nocatch, Value}, Stack};
        exit:Reason -> Reason
    end.
