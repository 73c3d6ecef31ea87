%% SPDX-License-Identifier: Apache-2.0
%% The environment of application kernel, as far as the library heeds it: -kernel Key Value on the command
%% line, each value an Erlang term. What is set later counts before that.
-module(kernel_options).

-export([get/1, get/2, set/2]).

-define(SET(Key), {?MODULE, Key}).

get(Key) ->
    case persistent_term:get(?SET(Key), unknown) of
        {value, Value} -> {ok, Value};
        none -> undefined;
        unknown -> remembered(Key, given(Key))
    end.

%% The command line does not change, and asking for it takes a message and an answer.
remembered(Key, {ok, Value} = Found) ->
    set(Key, Value),
    Found;
remembered(Key, undefined) ->
    persistent_term:put(?SET(Key), none),
    undefined.

get(Key, Default) ->
    case kernel_options:get(Key) of
        {ok, Value} -> Value;
        undefined -> Default
    end.

set(Key, Value) -> persistent_term:put(?SET(Key), {value, Value}).

%% The last one given counts.
given(Key) ->
    case lists:keyfind(atom_to_list(Key), 1, lists:reverse(given())) of
        {_, Text} -> {ok, term(Text)};
        false -> undefined
    end.

given() ->
    case init:get_argument(kernel) of
        {ok, Given} -> pairs(lists:append(Given));
        error -> []
    end.

pairs([Key, Value | Rest]) -> [{Key, Value} | pairs(Rest)];
pairs(_) -> [].

term(Text) ->
    {ok, Tokens, _} = erl_scan:string(Text ++ "."),
    {ok, Term} = erl_parse:parse_term(Tokens),
    Term.
