%% What built-in functions that change code do beside it: they come here.
-module(code_change).
-export([delete_module/1, purge_module/1]).

%% Processes that are to run the module begin before it goes, if they can run at all.
delete_module(Module) ->
    erlang:yield(),
    ok = erts_internal:system_check(schedulers),
    case erts_internal:delete_module(Module) of
        true -> true;
        false ->
            case erlang:check_old_code(Module) of
                true -> refused(delete_module, Module);
                false -> true  % somebody else has deleted and purged it meanwhile
            end
    end.

%% Ends the processes that are in the middle of the old code, as code:purge/1 does.
purge_module(Module) ->
    case erlang:check_old_code(Module) of
        true ->
            code:purge(Module),
            true;
        false -> refused(purge_module, Module)
    end.

refused(Function, Module) ->
    try error(badarg)
    catch error:badarg:Stack ->
        Callers = [Frame || {M, _, _, _} = Frame <- Stack, M =/= ?MODULE],
        erlang:raise(error, badarg, [{erlang, Function, [Module], [{error_info, #{module => erl_erts_errors}}]} | Callers])
    end.
