%% SPDX-License-Identifier: Apache-2.0
%% Embedded modules that have the part of a module that programs use most, and none of the rest.
%% Such a module exports
%%
%%   '$handle_undefined_function'(Function, Arguments) -> installed_module:call(?MODULE, Function, Arguments).
%%
%% and so gives way to the whole one when a function is called that it has not: the next module of
%% that name on the code path, which is an installed OTP's, is loaded in its place for good. Where
%% there is none the function is undef.
%%
%% That is for modules that keep nothing between calls, and of which the library uses no function or
%% option that OTP's have not.
-module(installed_module).

-export([call/3, code/1]).

call(Module, Function, Arguments) ->
    case installed(Module) of
        true -> apply(Module, Function, Arguments);
        false -> erlang:raise(error, undef, [{Module, Function, Arguments, []}])
    end.

installed(Module) ->
    case code(Module) of
        none -> false;
        {Beam, File} -> is_whole(Module) orelse load(Module, File, Beam)
    end.

%% Its next code on the path behind the library's, and the file that has it; or none.
code(Module) ->
    case code:where_is_file(atom_to_list(Module) ++ code:objfile_extension()) of
        non_existing -> none;
        File ->
            case file:read_file(File) of
                {ok, Beam} -> {Beam, File};
                {error, _} -> none
            end
    end.

%% Somebody else may have been faster.
is_whole(Module) -> not erlang:function_exported(Module, '$handle_undefined_function', 2).

%% Not by code:load_binary/3: nobody may be killed for being in this version, nor in one before it.
load(Module, File, Beam) ->
    case erlang:load_module(Module, Beam) of
        {module, _} ->
            erts_internal:set_module_path(Module, File),
            true;
        {error, not_purged} ->
            is_whole(Module) orelse code:soft_purge(Module) andalso load(Module, File, Beam);
        {error, _} -> false
    end.
