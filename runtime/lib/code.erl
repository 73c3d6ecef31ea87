%% SPDX-License-Identifier: Apache-2.0
%% Modules in the system: the code path, what is loaded and from where, loading
%% early or anew. The machine finds and loads a module by itself when one of its
%% functions is first called.
%%
%% The element "embedded:" of the path stands for the embedded library; modules
%% from there are said to be `preloaded`, for they have no file.
-module(code).

-export([get_path/0, set_path/1, add_path/1, add_patha/1, add_pathz/1, add_paths/1, add_pathsa/1,
         add_pathsz/1, del_path/1, replace_path/2, root_dir/0, lib_dir/0, lib_dir/1, lib_dir/2, priv_dir/1,
         compiler_dir/0, objfile_extension/0, where_is_file/1, where_is_file/2, which/1, get_object_code/1,
         get_mode/0, rehash/0]).
-export([set_path/2, add_path/2, add_patha/2, add_pathz/2, add_paths/2, add_pathsa/2, add_pathsz/2,
         replace_path/3, del_paths/1, clear_cache/0]).
-export([ensure_loaded/1, ensure_modules_loaded/1, atomic_load/1, prepare_loading/1, finish_loading/1,
         load_file/1, load_abs/1, load_abs/2,
         load_binary/3, is_loaded/1, all_loaded/0, all_available/0, delete/1, purge/1, soft_purge/1, stop/0]).
-export([stick_dir/1, unstick_dir/1, stick_mod/1, unstick_mod/1, is_sticky/1, is_module_native/1,
         module_md5/1, get_chunk/2,
         module_status/0, module_status/1, modified_modules/0, clash/0, get_doc/1, get_doc/2]).

-define(EMBEDDED, "embedded:").

%% The code path

get_path() -> erts_internal:code_path().

set_path(Path) when is_list(Path) ->
    Names = [name(D) || D <- Path],
    case lists:all(fun is_directory/1, Names) of
        true -> store(Names);
        false -> {error, bad_directory}
    end.

add_path(Directory) -> add_pathz(Directory).

%% A directory that is on the path already stays where it is.
add_pathz(Directory) ->
    add(Directory, fun(D, Path) -> case lists:member(D, Path) of true -> Path; false -> Path ++ [D] end end).

add_patha(Directory) -> add(Directory, fun(D, Path) -> [D | lists:delete(D, Path)] end).

add(Directory, Place) ->
    Name = name(Directory),
    case is_directory(Name) of
        true -> store(Place(Name, get_path()));
        false -> {error, bad_directory}
    end.

add_paths(Directories) -> add_pathsz(Directories).

add_pathsz(Directories) ->
    lists:foreach(fun add_pathz/1, Directories).

add_pathsa(Directories) ->
    lists:foreach(fun add_patha/1, Directories).

%% A name of an application means its directory on the path.
del_path(What) when is_atom(What); is_list(What) ->
    Path = get_path(),
    case on_path(What, Path) of
        {ok, ?EMBEDDED} -> {error, bad_name};
        {ok, Directory} -> store(lists:delete(Directory, Path));
        error -> false
    end.

replace_path(Application, Directory) when is_atom(Application); is_list(Application) ->
    Name = name(Directory),
    case is_directory(Name) of
        true ->
            Path = get_path(),
            case application_on_path(name(Application), Path) of
                {ok, Before} -> store([case D of Before -> Name; _ -> D end || D <- Path]);
                error -> store([Name | Path])
            end;
        false -> {error, bad_directory}
    end.

del_paths(Directories) when is_list(Directories) -> lists:foreach(fun del_path/1, Directories).

%% Whether the names in a directory are kept. They are not: a module that is missing is looked for
%% where its file would be.
-define(IS_CACHE(C), (C =:= cache orelse C =:= nocache)).

set_path(Path, Cache) when ?IS_CACHE(Cache) -> set_path(Path).
add_path(Directory, Cache) when ?IS_CACHE(Cache) -> add_path(Directory).
add_patha(Directory, Cache) when ?IS_CACHE(Cache) -> add_patha(Directory).
add_pathz(Directory, Cache) when ?IS_CACHE(Cache) -> add_pathz(Directory).
add_paths(Directories, Cache) when ?IS_CACHE(Cache) -> add_paths(Directories).
add_pathsa(Directories, Cache) when ?IS_CACHE(Cache) -> add_pathsa(Directories).
add_pathsz(Directories, Cache) when ?IS_CACHE(Cache) -> add_pathsz(Directories).
replace_path(Application, Directory, Cache) when ?IS_CACHE(Cache) -> replace_path(Application, Directory).
clear_cache() -> ok.

on_path(What, Path) ->
    Name = name(What),
    case lists:member(Name, Path) of
        true -> {ok, Name};
        false -> application_on_path(Name, Path)
    end.

%% The element that is APPLICATION/ebin or APPLICATION-VERSION/ebin, or the same without ebin.
application_on_path(Application, Path) ->
    case [D || D <- Path, application_of(D) =:= Application] of
        [Directory | _] -> {ok, Directory};
        [] -> error
    end.

application_of(Directory) ->
    case lists:reverse(filename:split(Directory)) of
        ["ebin", Folder | _] -> hd(string:split(Folder, "-", trailing));
        [Folder | _] -> hd(string:split(Folder, "-", trailing));
        [] -> ""
    end.

store(Path) -> erts_internal:set_code_path(Path).

name(Name) when is_atom(Name) -> atom_to_list(Name);
name(Name) when is_list(Name) -> without_slash(unicode:characters_to_list(Name)).

without_slash("/") -> "/";
without_slash(Name) -> string:trim(Name, trailing, "/").

is_directory(?EMBEDDED) -> true;
is_directory(Name) -> filelib:is_dir(Name).

%% Directories of applications and of the installation

root_dir() ->
    {ok, [[Root]]} = init:get_argument(root),
    Root.

lib_dir() -> filename:join(root_dir(), "lib").

lib_dir(Application) when is_atom(Application); is_list(Application) ->
    case application_on_path(name(Application), get_path()) of
        {ok, Directory} ->
            case filename:basename(Directory) of
                "ebin" -> filename:dirname(Directory);
                _ -> Directory
            end;
        error -> {error, bad_name}
    end.

lib_dir(Application, Folder) when is_atom(Folder) ->
    case lib_dir(Application) of
        {error, _} = Error -> Error;
        Directory -> filename:join(Directory, atom_to_list(Folder))
    end.

priv_dir(Application) -> lib_dir(Application, priv).

compiler_dir() -> lib_dir(compiler).

objfile_extension() -> ".beam".

get_mode() -> interactive.

%% There was a cache of the path once.
rehash() ->
    error_logger:warning_report("The code path cache functionality has been removed"),
    ok.

%% Files

where_is_file(Name) when is_list(Name) -> where_is_file(lists:delete(?EMBEDDED, get_path()), Name).

where_is_file(Path, Name) -> code_files:where_is_file(Path, Name).

which(Module) when is_atom(Module) ->
    case is_loaded(Module) of
        {file, Place} -> Place;
        false ->
            case erts_internal:locate_module(Module) of
                "" -> non_existing;
                Place -> place(Place)
            end
    end.

%% What is a text of a program (.act, .erl) is compiled for it.
%% Of the library's modules there is no debug information: who makes another module of one, as meck and cover
%% do, gets that of an installed OTP.
get_object_code(Module) when is_atom(Module) ->
    case erts_internal:find_module(Module) of
        {Code, ?EMBEDDED ++ _ = Place} -> installed_or({Code, Place}, Module);
        {Code, Place} -> {Module, Code, Place};
        error -> error
    end.

installed_or({Own, Place}, Module) ->
    case installed_module:code(Module) of
        {Code, File} -> {Module, Code, File};
        none -> {Module, Own, Place}
    end.

%% Loading

ensure_loaded(Module) when is_atom(Module) ->
    case is_loaded(Module) of
        {file, _} -> {module, Module};
        false ->
            case erts_internal:ensure_loaded(Module) of
                {module, _} -> on_load_done(Module);
                Error -> Error
            end
    end;
ensure_loaded(Module) -> error(badarg, [Module]).

%% What has an on_load function is loaded when that has returned ok.
on_load_done(Module) ->
    case erlang:module_loaded(Module) orelse vmrun_on_load:await(Module) andalso erlang:module_loaded(Module)
        of
        true -> {module, Module};
        false -> {error, on_load_failure}
    end.

%% Several at once. What is no list of modules, or no prepared code, is said to be no clause, as of
%% these functions.

ensure_modules_loaded(Modules) ->
    case is_list(Modules) andalso lists:all(fun is_atom/1, Modules) of
        true -> code_several:ensure_loaded(Modules);
        false -> error(function_clause, [Modules])
    end.

atomic_load(Modules) -> unless_badarg(code_several:atomic_load(Modules), Modules).

prepare_loading(Modules) -> unless_badarg(code_several:prepare_loading(Modules), Modules).

finish_loading(Prepared) -> unless_badarg(code_several:finish_loading(Prepared), Prepared).

unless_badarg(badarg, Argument) -> error(function_clause, [Argument]);
unless_badarg(Result, _) -> Result.

%% The version that is found now, also when one is loaded.
load_file(erlang) -> {error, sticky_directory};
load_file(Module) when is_atom(Module) ->
    case erts_internal:find_module(Module) of
        {Code, Place} -> load(Module, Place, Code);
        error -> {error, nofile}
    end.

load_abs(Name) when is_list(Name); is_atom(Name) ->
    load_abs(Name, list_to_atom(filename:basename(name(Name)))).

load_abs(Name, Module) when is_list(Name), is_atom(Module); is_atom(Name), is_atom(Module) ->
    File = name(Name) ++ objfile_extension(),
    case file:read_file(File) of
        {ok, Code} -> load(Module, filename:absname(File), Code);
        {error, _} -> {error, nofile}
    end.

load_binary(Module, File, Binary) when is_atom(Module), is_binary(Binary) ->
    _ = purge(Module),
    load(Module, File, Binary).

load(Module, File, Binary) ->
    case code_sticky:is_refused(Module) of
        true -> {error, sticky_directory};
        false -> load_other(Module, File, Binary)
    end.

%% Code that is still old is in the way.
load_other(Module, File, Binary) ->
    Result = case erlang:load_module(Module, Binary) of
                 {error, on_load} -> run_on_load(Module);
                 Other -> Other
             end,
    case Result of
        {module, _} -> erts_internal:set_module_path(Module, path_of(File));
        {error, _} -> ok
    end,
    Result.

%% In place of a file's name an atom says where the code comes from: cover_compiled.
-define(NO_FILE, "no file: ").

path_of(From) when is_atom(From) -> ?NO_FILE ++ atom_to_list(From);
path_of(File) -> File.

%% A version that waits for its on_load function gets that run by a call of a function that the one before has
%% not got. When it has become the current one, there is either old code or, for want of one before, any.
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

%% What is loaded

is_loaded(erlang) -> {file, preloaded};
is_loaded(Module) when is_atom(Module) ->
    case erts_internal:module_path(Module) of
        undefined -> false;
        Place -> {file, place(Place)}
    end.

place(?EMBEDDED ++ _) -> preloaded;
place(?NO_FILE ++ From) -> list_to_atom(From);
place(Place) -> Place.

all_loaded() -> [{Module, Place} || Module <- [erlang | erlang:loaded()],
    {file, Place} <- [is_loaded(Module)]].

%% Compiled modules on the path and what is loaded besides: {Name, File, IsLoaded}.
all_available() ->
    Loaded = [{atom_to_list(M), Place} || {M, Place} <- all_loaded()],
    Files = [{filename:basename(F, ".beam"), F} || D <- get_path(), D =/= ?EMBEDDED,
                                                   F <- filelib:wildcard(filename:join(D, "*.beam"))],
    First = maps:from_list(lists:reverse(Files)),
    Known = maps:from_list(Loaded),
    [{Name, Place, true} || {Name, Place} <- Loaded]
        ++ [{Name, File, false} || {Name, File} <- maps:to_list(First), not maps:is_key(Name, Known)].

%% Modules that stay

stick_dir(Directory) when is_list(Directory) -> code_sticky:set_dir(Directory, true).
unstick_dir(Directory) when is_list(Directory) -> code_sticky:set_dir(Directory, false).
stick_mod(Module) when is_atom(Module) -> code_sticky:set_mod(Module, true).
unstick_mod(Module) when is_atom(Module) -> code_sticky:set_mod(Module, false).
is_sticky(Module) when is_atom(Module) -> code_sticky:is_sticky(Module).

%% What they are

module_md5(Code) ->
    try code_files:module_md5(Code)
    catch error:badarg -> error(badarg, [Code])
    end.

get_chunk(Code, Chunk) ->
    try code_files:chunk(Code, Chunk)
    catch error:badarg -> error(badarg, [Code, Chunk])
    end.

%% None is since HiPE is gone.
is_module_native(Module) when is_atom(Module) ->
    case is_loaded(Module) of
        {file, _} -> false;
        false -> undefined
    end;
is_module_native(Module) -> error(badarg, [Module]).

module_status() -> module_status([Module || {Module, _} <- all_loaded()]).

module_status(Modules) when is_list(Modules) -> [{Module, code_files:status(Module)} || Module <- Modules];
module_status(Module) -> code_files:status(Module).

modified_modules() -> [Module || {Module, modified} <- module_status()].

clash() -> code_files:clash().

get_doc(Module) when is_atom(Module) -> code_files:documentation(Module).

%% The documentation is what a file of chunks says, so eep48 has to be among the sources.
get_doc(Module, Options) when is_atom(Module), is_map(Options) ->
    case lists:member(eep48, maps:get(sources, Options, [eep48])) of
        true -> get_doc(Module);
        false -> {error, missing}
    end.

%% The system does not go on without what loads code.
stop() ->
    init:stop(1),
    receive after infinity -> ok end.

%% Out with them

delete(Module) ->
    try erlang:delete_module(Module) of
        true -> true;
        undefined -> false
    catch error:badarg -> false
    end.

%% Forgets the old version, after having killed the processes that are in the middle of its code. True: there
%% were such. A process of its own does it, for the caller may be one of them.
purge(Module) when is_atom(Module) -> in_purger(fun() -> do_purge(Module) end).

%% The same, but nothing is done and the result is false when there are such processes.
soft_purge(Module) when is_atom(Module) -> in_purger(fun() -> do_soft_purge(Module) end).

in_purger(Work) ->
    {Pid, Monitor} = spawn_opt(fun() -> exit({purged, Work()}) end, [monitor, {priority, high}]),
    receive
        {'DOWN', Monitor, process, Pid, {purged, Result}} -> Result;
        {'DOWN', Monitor, process, Pid, Reason} -> exit(Reason)
    end.

do_purge(Module) ->
    %% From here on nobody comes into old code who is not in it.
    case erts_internal:purge_module(Module, prepare) of
        false -> false;
        true ->
            Killed = kill_all(lingering(Module)),
            complete(Module),
            Killed
    end.

do_soft_purge(Module) ->
    case erlang:check_old_code(Module) andalso lingering(Module) =/= [] of
        true -> false;
        false -> soft_purge_prepared(Module, erts_internal:purge_module(Module, prepare))
    end.

soft_purge_prepared(_, false) -> true;
soft_purge_prepared(Module, true) ->
    case lingering(Module) of
        [] -> complete(Module), true;
        _ -> erts_internal:purge_module(Module, abort), false
    end.

%% Somebody else may have been faster.
complete(Module) -> catch erts_internal:purge_module(Module, complete).

%% Processes in the middle of old code. All are asked at once.
lingering(Module) ->
    Asked = [Pid || Pid <- processes(), Pid =/= self(),
                    erlang:check_process_code(Pid, Module, [{async, Pid}]) =:= async],
    answers(length(Asked), []).

answers(0, Found) -> Found;
answers(N, Found) ->
    receive
        {check_process_code, Pid, true} -> answers(N - 1, [Pid | Found]);
        {check_process_code, _, false} -> answers(N - 1, Found)
    end.

kill_all(Pids) ->
    Monitors = [begin M = monitor(process, Pid), exit(Pid, kill), M end || Pid <- Pids],
    [receive {'DOWN', M, process, _, _} -> ok end || M <- Monitors],
    Pids =/= [].
