%% SPDX-License-Identifier: Apache-2.0
%% What io reads and parses: terms, expressions and forms, each ended by a full stop. Apart from io,
%% which is loaded by every program.
-module(io_input).

-export([term/2, parsed/5]).

term(Device, Prompt) ->
    case parsed(Device, Prompt, 1, [], parse_term) of
        {ok, Term, _} -> {ok, Term};
        {error, E, _} -> {error, E};
        {eof, _} -> eof;
        Other -> Other
    end.

%% Parse: the function of erl_parse
parsed(Device, Prompt, Location, Options, Parse) ->
    case io:scan_erl_exprs(Device, Prompt, Location, Options) of
        {ok, Tokens, End} ->
            case erl_parse:Parse(Tokens) of
                {ok, Parsed} -> {ok, Parsed, End};
                {error, E} -> {error, E, End}
            end;
        Other -> Other
    end.
