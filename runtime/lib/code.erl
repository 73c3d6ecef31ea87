%% Modules in the system. The machine finds and loads a module by itself when one
%% of its functions is first called; what is here asks about that, makes it
%% happen early, or loads code that is not in a file.
-module(code).

-export([ensure_loaded/1, ensure_modules_loaded/1, load_binary/3, is_loaded/1, which/1, all_loaded/0, delete/1,
         purge/1]).

ensure_loaded(Module) when is_atom(Module) ->
    case erlang:module_loaded(Module) of
        true -> {module, Module};
        false ->
            %% Any call makes the machine look for the module.
            try Module:module_info(module) of
                Module -> {module, Module}
            catch error:undef -> {error, nofile}
            end
    end;
ensure_loaded(Module) -> error(badarg, [Module]).

ensure_modules_loaded(Modules) ->
    Failed = [{Module, Why} || Module <- Modules, {error, Why} <- [ensure_loaded(Module)]],
    case Failed of
        [] -> ok;
        _ -> {error, Failed}
    end.

load_binary(Module, _File, Binary) when is_atom(Module), is_binary(Binary) ->
    _ = purge(Module),
    case erlang:load_module(Module, Binary) of
        {error, on_load} -> run_on_load(Module);
        Result -> Result
    end.

%% A version that waits for its on_load function gets that run by a call of a function that the one before has not got. When it has become the current one, there is
%% either old code or, for want of one before, any.
run_on_load(Module) ->
    IsNew = not erlang:module_loaded(Module),
    _ = (catch Module:'on_load has not run'()),
    Done = case IsNew of
               true -> erlang:module_loaded(Module);
               false -> erlang:check_old_code(Module)
           end,
    case Done of
        true -> {module, Module};
        false -> {error, on_load_failure}
    end.

%% The file is that of the source, which is what the machine knows.
is_loaded(Module) ->
    case erlang:module_loaded(Module) of
        true -> {file, source(Module)};
        false -> false
    end.

which(Module) ->
    case ensure_loaded(Module) of
        {module, _} -> source(Module);
        {error, _} -> non_existing
    end.

source(Module) -> proplists:get_value(source, Module:module_info(compile), preloaded).

all_loaded() -> [{Module, source(Module)} || Module <- erlang:loaded()].

delete(Module) ->
    try erlang:delete_module(Module) of
        true -> true;
        undefined -> false
    catch error:badarg -> false
    end.

%% Whether processes had to be killed for it: none ever, for code stays as long as one could run it.
purge(Module) ->
    try erlang:purge_module(Module) of
        true -> false
    catch error:badarg -> false
    end.
