%% SPDX-License-Identifier: Apache-2.0
%% Several modules loaded at once: prepared first, which may fail for each of them, and then made
%% current all or none. An item is the name of a module, or {Name, File, Code}.
-module(code_several).

-export([ensure_loaded/1, atomic_load/1, prepare_loading/1, finish_loading/1]).

-define(PREPARED, '$prepared$').  % prepared code is {?PREPARED, [{Module, Reference, Place}]}

ensure_loaded(Modules) ->
    Failed = [{Module, Why} || Module <- lists:usort(Modules), {error, Why} <- [code:ensure_loaded(Module)]],
    case Failed of
        [] -> ok;
        _ -> {error, Failed}
    end.

atomic_load(Items) ->
    case prepare_loading(Items) of
        {ok, Prepared} -> finish_loading(Prepared);
        Other -> Other
    end.

%% badarg: not such items, or not such code. That of modules with an on_load function is loaded one
%% by one only.
prepare_loading(Items) when is_list(Items) ->
    case lists:all(fun is_item/1, Items) of
        true -> prepare(repeated(Items), Items);
        false -> badarg
    end;
prepare_loading(_) -> badarg.

is_item({Module, File, Code}) -> is_atom(Module) andalso is_list(File) andalso is_binary(Code);
is_item(Module) -> is_atom(Module).

name({Module, _, _}) -> Module;
name(Module) -> Module.

repeated(Items) ->
    Names = [name(Item) || Item <- Items],
    lists:reverse(lists:sort(Names -- lists:usort(Names))).

prepare([], Items) ->
    {Given, Found} = lists:partition(fun is_tuple/1, Items),
    Prepared = [{name(Item), prepared(Item)} || Item <- Given ++ Found],
    case [{Module, Why} || {Module, {error, Why}} <- Prepared] of
        [] ->
            case [{Module, on_load_not_allowed}
                  || {Module, {Code, _}} <- Prepared, erlang:has_prepared_code_on_load(Code)] of
                [] -> {ok, {?PREPARED, [{Module, Code, Place} || {Module, {Code, Place}} <- Prepared]}};
                Errors -> {error, Errors}
            end;
        Errors -> {error, Errors}
    end;
prepare(Repeated, _) -> {error, [{Module, duplicated} || Module <- Repeated]}.

prepared({Module, File, Code}) ->
    case erts_internal:prepare_loading(Module, Code) of
        {error, _} = Error -> Error;
        Prepared -> {Prepared, File}
    end;
prepared(Module) ->
    case erts_internal:find_module(Module) of
        {Code, Place} -> prepared({Module, Place, Code});
        error -> {error, nofile}
    end.

finish_loading({?PREPARED, Prepared}) when is_list(Prepared) ->
    case lists:all(fun is_prepared/1, Prepared) of
        true ->
            Modules = [Module || {Module, _, _} <- Prepared],
            case {[M || M <- Modules, erts_internal:await_on_load(M) =/= done],
                  [M || M <- Modules, code_sticky:is_sticky(M)]} of
                {[], []} -> finish(Prepared);
                {[], Sticky} -> failed(sticky_directory, Sticky);
                {Pending, _} -> failed(pending_on_load, Pending)
            end;
        false -> badarg
    end;
finish_loading(_) -> badarg.

is_prepared({Module, Code, Place}) when is_atom(Module), is_list(Place) ->
    try erlang:has_prepared_code_on_load(Code) of
        HasOnLoad -> not HasOnLoad
    catch error:badarg -> false
    end;
is_prepared(_) -> false.

finish(Prepared) ->
    case erlang:finish_loading([Code || {_, Code, _} <- Prepared]) of
        ok -> lists:foreach(fun({Module, _, Place}) -> erts_internal:set_module_path(Module, Place) end,
                            Prepared);
        {Reason, Modules} -> failed(Reason, Modules)
    end.

failed(Reason, Modules) -> {error, [{Module, Reason} || Module <- Modules]}.
