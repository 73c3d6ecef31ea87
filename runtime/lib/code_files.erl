%% SPDX-License-Identifier: Apache-2.0
%% What modules are in their files: whether the loaded ones are still what is there, which files
%% hide others, and what documentation comes with them.
-module(code_files).

-export([where_is_file/2, module_md5/1, chunk/2, status/1, clash/0, documentation/1]).

%% The path may have {Directory, Names} in place of a directory.
where_is_file([{Directory, Names} | Path], Name) ->
    where_is_file(lists:member(Name, Names), Directory, Path, Name);
where_is_file([Directory | Path], Name) ->
    where_is_file(filelib:is_file(filename:join(Directory, Name)), Directory, Path, Name);
where_is_file([], _) -> non_existing.

where_is_file(true, Directory, _, Name) -> filename:join(Directory, Name);
where_is_file(false, _, Path, Name) -> where_is_file(Path, Name).

%% Of compiled code, which may be compressed.

module_md5(Code) -> erts_internal:beamfile_module_md5(plain(Code)).

chunk(Code, Name) -> erts_internal:beamfile_chunk(plain(Code), Name).

plain(<<"FOR1", _/bits>> = Code) -> Code;
plain(Code) ->
    try zlib:gunzip(Code)
    catch _:_ -> Code
    end.

%% not_loaded, loaded, modified or removed
status(Module) ->
    case code:is_loaded(Module) of
        false -> not_loaded;
        {file, preloaded} -> loaded;
        {file, ""} -> loaded;
        {file, cover_compiled} ->
            case code:where_is_file(file_name(Module)) of
                non_existing -> removed;
                _ -> modified
            end;
        {file, Place} ->
            case lists:member(filename:extension(Place), [".act", ".erl"]) of
                true -> text_status(Module, Place, file:read_file(Place));
                false -> code_status(Module, code:where_is_file(file_name(Module)))
            end
    end.

code_status(_, non_existing) -> removed;
code_status(Module, File) ->
    {ok, Code} = file:read_file(File),
    code_status_of(Module, Code).

code_status_of(Module, Code) ->
    case module_md5(Code) =:= erlang:get_module_info(Module, md5) of
        true -> loaded;
        false -> modified
    end.

%% A program's text is compiled for it. A script that does not name its module is no module that can
%% be loaded anew; one with parse transforms is not compared.
text_status(_, _, {error, _}) -> removed;
text_status(Module, Place, {ok, Text}) ->
    case erts_internal:compile_text(unicode:characters_to_binary(Place), Text) of
        {ok, Code} -> code_status_of(Module, Code);
        {error, Messages} ->
            case binary:match(Messages, [<<"no module definition">>, <<"error: parse transform ">>]) of
                nomatch -> modified;
                _ -> loaded
            end
    end.

file_name(Module) -> atom_to_list(Module) ++ code:objfile_extension().

%% Prints which modules' files on the path hide others.
clash() ->
    Files = [{Directory, Name}
             || Directory <- code:get_path(), Name <- names(Directory),
                filename:extension(Name) =:= code:objfile_extension()],
    {Clashes, _} = lists:foldr(fun({Directory, Name}, {Found, Later}) ->
                                       case Later of
                                           #{Name := Hidden} ->
                                               {[{Name, Directory, Hidden} | Found],
                                                   Later#{Name := Directory}};
                                           #{} -> {Found, Later#{Name => Directory}}
                                       end
                               end, {[], #{}}, Files),
    [io:format("** ~ts hides ~ts~n", [filename:join(Directory, Name), filename:join(Hidden, Name)])
     || {Name, Directory, Hidden} <- Clashes],
    io:format("** Found ~w name clashes in code paths ~n", [length(Clashes)]).

names(Directory) ->
    case file:list_dir(Directory) of
        {ok, Names} -> lists:sort(Names);
        {error, _} -> []
    end.

%% A term as EEP 48 has it: in the file itself, in doc/chunks of its application, or made of its
%% functions and their specifications.
documentation(Module) ->
    case code:which(Module) of
        preloaded -> documentation_of(code:where_is_file(file_name(Module)), Module);
        Place -> documentation_of(Place, Module)
    end.

documentation_of(File, Module) when is_list(File) ->
    Code = case file:read_file(File) of
               {ok, Bytes} -> Bytes;
               {error, _} -> <<>>
           end,
    case chunk(Code, "Docs") of
        undefined -> documentation_beside(filename:dirname(File), Module, Code);
        Docs -> {ok, binary_to_term(Docs)}
    end;
documentation_of(What, _) -> {error, What}.

documentation_beside(Directory, Module, Code) ->
    case {file:read_file(filename:join([Directory, "doc", "chunks", atom_to_list(Module) ++ ".chunk"])),
          filename:dirname(Directory)} of
        {{ok, Docs}, _} -> {ok, binary_to_term(Docs)};
        {{error, enoent}, Directory} -> documentation_made(Code);
        {{error, enoent}, Above} -> documentation_beside(Above, Module, Code);
        {{error, Reason}, _} -> {error, Reason}
    end.

documentation_made(Code) ->
    try beam_lib:chunks(Code, [abstract_code]) of
        {ok, {_, [{abstract_code, {raw_abstract_v1, Forms}}]}} ->
            Docs = [{{function, Name, Arity}, At,
                     [unicode:characters_to_binary(io_lib:format("~p/~p", [Name, Arity]))], none,
                     specification(Name, Arity, Forms)}
                    || {function, At, Name, Arity, _} <- Forms],
            {ok, {docs_v1, 0, erlang, <<"application/erlang+html">>, none,
                  #{generated => true, otp_doc_vsn => {1, 0, 0}}, Docs}};
        _ -> {error, missing}
    catch error:undef -> {error, missing}
    end.

specification(Name, Arity, Forms) ->
    case [Form || {attribute, _, spec, {Of, _}} = Form <- Forms,
                  Of =:= {Name, Arity} orelse is_mfa(Of, Name, Arity)] of
        [Form] -> #{signature => [Form]};
        [] -> #{}
    end.

is_mfa({_, Name, Arity}, Name, Arity) -> true;
is_mfa(_, _, _) -> false.
