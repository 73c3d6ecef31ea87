%% SPDX-License-Identifier: Apache-2.0
%% Files as the code loader sees them: for functions that take a module to ask in place of file.
-module(erl_prim_loader).
-export([get_file/1, read_file/1, list_dir/1, read_file_info/1, read_link_info/1, get_cwd/0]).

get_file(Name) ->
    case file:read_file(Name) of
        {ok, Binary} -> {ok, Binary, filename:absname(Name)};
        {error, _} -> error
    end.

read_file(Name) -> found(file:read_file(Name)).
list_dir(Dir) -> found(file:list_dir(Dir)).
read_file_info(Name) -> found(file:read_file_info(Name)).
read_link_info(Name) -> found(file:read_link_info(Name)).
get_cwd() -> found(file:get_cwd()).

found({ok, Answer}) -> {ok, Answer};
found({error, _}) -> error.
