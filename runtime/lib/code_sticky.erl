%% SPDX-License-Identifier: Apache-2.0
%% Modules that stay: a loaded one that is sticky is not loaded anew. So are those of the embedded
%% library and of an installed OTP's kernel, stdlib and compiler, and what stick_dir/1 and
%% stick_mod/1 of code name. A persistent term for each module that was named says which it was the
%% last time.
-module(code_sticky).

-export([set_dir/2, set_mod/2, is_sticky/1, is_refused/1]).

set_dir(Directory, Sticky) ->
    case file:list_dir(Directory) of
        {ok, Names} ->
            Extension = code:objfile_extension(),
            [set_mod(list_to_atom(filename:basename(Name, Extension)), Sticky)
             || Name <- Names, filename:extension(Name) =:= Extension],
            ok;
        {error, _} -> error
    end.

set_mod(Module, Sticky) ->
    persistent_term:put({?MODULE, Module}, Sticky),
    true.

is_sticky(Module) ->
    erlang:module_loaded(Module) andalso
        case persistent_term:get({?MODULE, Module}, undefined) of
            undefined -> is_sticky_by_itself(code:is_loaded(Module));
            Sticky -> Sticky
        end.

is_sticky_by_itself({file, preloaded}) -> true;
is_sticky_by_itself({file, [_ | _] = File}) ->
    Application = filename:dirname(filename:dirname(File)),
    lists:member(Application, [code:lib_dir(Name) || Name <- [kernel, stdlib, compiler]]);
is_sticky_by_itself(_) -> false.

%% Whether it is sticky; if so that is logged.
is_refused(Module) ->
    Sticky = is_sticky(Module),
    _ = [error_logger:error_msg("Can't load module '~w' that resides in sticky dir\n", [Module]) || Sticky],
    Sticky.
