%% erlang:purge_module/1 ends the processes that are in the middle of the old code, as code:purge/1 does: the built-in function comes
%% here.
-module(killing_purge).
-export([purge_module/1]).

purge_module(Module) ->
    case erlang:check_old_code(Module) of
        true ->
            code:purge(Module),
            true;
        false ->
            try error(badarg)
            catch error:badarg:Stack -> erlang:raise(error, badarg, [{erlang, purge_module, [Module], [{error_info, #{module => erl_erts_errors}}]} | tl(Stack)])
            end
    end.
