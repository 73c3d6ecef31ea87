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
    erlang:load_module(Module, Binary).

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
