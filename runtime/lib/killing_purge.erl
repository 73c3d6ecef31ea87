%% SPDX-License-Identifier: Apache-2.0
%% erlang:purge_module/1 ends the processes that are in the middle of the old code, as code:purge/1 does: the
%% built-in function comes here.
-module(killing_purge).
-export([purge_module/1]).

purge_module(Module) ->
    case erlang:check_old_code(Module) of
        true ->
            purge(Module),
            true;
        false ->
            try error(badarg)
            catch error:badarg:Stack ->
                erlang:raise(error, badarg,
                    [{erlang, purge_module, [Module],
                        [{error_info, #{module => erl_erts_errors}}]} | tl(Stack)])
            end
    end.

%% A system of OTP has a process for this, which is there still when init deletes modules in the end and no
%% code server is left to ask.
purge(Module) ->
    case whereis(erts_code_purger) of
        undefined -> code:purge(Module);
        _Purger -> erts_code_purger:purge(Module)
    end.
