%% SPDX-License-Identifier: Apache-2.0
%% The encoding of source files and of files of terms: a comment in one of the first two lines may
%% say it, as in  %% coding: latin-1 . The preprocessor itself is the machine's; who calls for one
%% in Erlang gets an installed OTP's module (installed_module).
-module(epp).

-export([default_encoding/0, encoding_to_string/1, read_encoding/1, read_encoding/2,
         read_encoding_from_binary/1, read_encoding_from_binary/2, set_encoding/1, set_encoding/2,
         '$handle_undefined_function'/2]).

'$handle_undefined_function'(Function, Arguments) -> installed_module:call(?MODULE, Function, Arguments).

default_encoding() -> utf8.

encoding_to_string(latin1) -> "coding: latin-1";
encoding_to_string(utf8) -> "coding: utf-8".

%% Sets the encoding of an open file and goes on after where it stood. What the comment says, or none
set_encoding(File) -> set_encoding(File, default_encoding()).

set_encoding(File, Default) ->
    Found = read_open(File, []),
    ok = io:setopts(File, [{encoding, case Found of none -> Default; _ -> Found end}]),
    Found.

read_encoding(Name) -> read_encoding(Name, []).

read_encoding(Name, Options) ->
    case file:open(Name, [read]) of
        {ok, File} ->
            Found = read_open(File, Options),
            _ = file:close(File),
            Found;
        _ -> none
    end.

read_open(File, Options) ->
    {ok, Start} = file:position(File, cur),
    ok = io:setopts(File, [binary, {encoding, latin1}]),
    Lines = [Line || {ok, Line} <- [file:read_line(File), file:read_line(File)]],
    {ok, Start} = file:position(File, Start),
    ok = io:setopts(File, [list]),
    in_lines(Lines, Options).

read_encoding_from_binary(Text) -> read_encoding_from_binary(Text, []).

read_encoding_from_binary(Text, Options) ->
    in_lines(lists:sublist(binary:split(Text, <<$\n>>, [global]), 2), Options).

in_lines([Line | Lines], Options) ->
    Where = case lists:member({in_comment_only, false}, Options) of
                true -> Line;
                false -> comment(Line)
            end,
    case coding(Where) of
        none -> in_lines(Lines, Options);
        Encoding -> Encoding
    end;
in_lines([], _) -> none.

comment(Line) ->
    case binary:split(Line, <<$%>>) of
        [_, Comment] -> Comment;
        [_] -> <<>>
    end.

%% coding, a colon or an equals sign, the name
coding(Text) ->
    case binary:split(Text, <<"coding">>) of
        [_, <<C, Rest/binary>>] when C =:= $:; C =:= $= ->
            case named(string:lowercase(string:trim(Rest, leading))) of
                none -> coding(Rest);
                Encoding -> Encoding
            end;
        [_, Rest] -> coding(Rest);
        [_] -> none
    end.

named(<<"utf-8", Rest/binary>>) -> whole(utf8, Rest);
named(<<"latin-1", Rest/binary>>) -> whole(latin1, Rest);
named(_) -> none.

whole(_, <<C, _/binary>>) when C >= $a, C =< $z; C >= $0, C =< $9; C =:= $_; C =:= $- -> none;
whole(Encoding, _) -> Encoding.
