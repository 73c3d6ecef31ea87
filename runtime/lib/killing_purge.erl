%% erlang:purge_module/1 ends the processes that are in the middle of the old code, as code:purge/1 does: the built-in function comes
%% here.
-module(killing_purge).
-export([purge_module/1]).

purge_module(Module) ->
    case erlang:check_old_code(Module) of
        true ->
            purge(Module),
            true;
        false ->
            try error(badarg)
            catch error:badarg:Stack -> erlang:raise(error, badarg, [{erlang, purge_module, [Module], [{error_info, #{module => erl_erts_errors}}]} | tl(Stack)])
            end
    end.

%% When OTP's system restarts, init purges all modules, and the code server that code:purge/1 asks there has ended. The purger never does.
purge(Module) ->
    case whereis(erts_code_purger) of
        undefined -> code:purge(Module);
        _ -> erts_code_purger:purge(Module)
    end.
