%% SPDX-License-Identifier: Apache-2.0
%% Expressions in files (file:eval/1,2, file:script/1,2). There is no interpreter of expressions:
%% each sequence that a full stop ends is compiled as the one function of a module of its own,
%% which is loaded and called with the variables known so far, and answers its value and
%% the variables it has bound. Such modules stay loaded.
-module(file_eval).

-export([bindings/1, evaluate/2, has_syntax/1]).

%% Variables by name, given as a map or as pairs
bindings(Bindings) when is_map(Bindings) -> Bindings;
bindings(Bindings) when is_list(Bindings) -> maps:from_list(Bindings).

%% {value, Value, Bindings}, {error, {Line, Module, Description}} if it does not compile; what the expressions
%% raise comes as it is.
evaluate(Tokens, Bindings) ->
    case lists:last(Tokens) of
        {dot, _} -> evaluate_whole(Tokens, Bindings);
        % the file ends too early
        Last -> {error, {line(erl_scan:location(Last)), erl_parse, ["syntax error before: ", []]}}
    end.

evaluate_whole(Tokens, Bindings) ->
    Variables = lists:usort([Name || {var, _, Name} <- Tokens, Name =/= '_']),
    Known = [Name || Name <- Variables, is_map_key(Name, Bindings)],
    case compiled(Tokens, Known, Variables -- Known) of
        {ok, Module} ->
            {Value, Bound} = Module:value(maps:with(Known, Bindings)),
            {value, Value, maps:merge(Bindings, maps:from_list(Bound))};
        Error -> Error
    end.

%% Not every variable of the text is bound after it: those of funs and comprehensions are not, nor those that
%% only some clauses bind. The compiler tells which, and they are left out.
compiled(Tokens, Known, New) ->
    Name = "file_eval_" ++ integer_to_list(erlang:unique_integer([positive])),
    case erts_internal:compile_text(<<"file_eval">>, text(Name, Tokens, Known, New)) of
        {ok, Beam} ->
            Module = list_to_atom(Name),
            {module, Module} = erlang:load_module(Module, Beam),
            {ok, Module};
        {error, Messages} ->
            case New -- unbound(Messages) of
                New -> {error, first_error(Messages, Tokens)};
                Fewer -> compiled(Tokens, Known, Fewer)
            end
    end.

%% Each token on its own line, so that messages tell the file's.
text(Name, Tokens, Known, New) ->
    Given = lists:join(",", [[io_lib:write_atom(V), ":=", atom_to_list(V)] || V <- Known]),
    Answered = lists:join(",", [["{", io_lib:write_atom(V), ",", atom_to_list(V), "}"] || V <- New]),
    unicode:characters_to_binary(
      ["-module(", Name, "). -export([value/1]). value(#{", Given, "}) -> File_eval_value = begin ",
       tokens_text(Tokens, 1), " end, {File_eval_value, [", Answered, "]}."]).

tokens_text([{dot, _}], _) -> "";
tokens_text([Token | Tokens], Line) ->
    At = max(Line, line(erl_scan:location(Token))),
    [lists:duplicate(At - Line, $\n), $\s, token_text(Token) | tokens_text(Tokens, At)];
tokens_text([], _) -> "".

line({Line, _}) -> Line;
line(Line) -> Line.

token_text({atom, _, Atom}) -> io_lib:write_atom(Atom);
token_text({var, _, Name}) -> atom_to_list(Name);
token_text({string, _, String}) -> io_lib:write_string(String);
token_text({char, _, Char}) -> io_lib:write_char(Char);
token_text({_, _, Number}) -> io_lib:write(Number);
token_text({Symbol, _}) -> atom_to_list(Symbol).

%% Whether the tokens are expressions, whatever these mean
has_syntax(Tokens) ->
    case erts_internal:compile_text(<<"file_eval">>, text("file_eval", Tokens, [], [])) of
        {ok, _} -> true;
        {error, Messages} -> binary:match(Messages, [<<": error: syntax error">>, <<": error: missing">>,
            <<": error: bad">>, <<": error: illegal">>]) =:= nomatch
    end.

%% Variables of lines like  file_eval:3:7: error: variable 'X' is unbound
unbound(Messages) ->
    [binary_to_atom(Name) || Line <- binary:split(Messages, <<"\n">>, [global]),
                             [_, After] <- [binary:split(Line, <<": error: variable '">>)],
                             [Name, _] <- [binary:split(After, <<"'">>)]].

first_error(Messages, Tokens) ->
    [First | _] = [Line || Line <- binary:split(Messages, <<"\n">>, [global]),
        binary:match(Line, <<": error: ">>) =/= nomatch],
    [Place, Text] = binary:split(First, <<": error: ">>),
    [_, Line | _] = binary:split(Place, <<":">>, [global]),
    {binary_to_integer(Line), erl_parse, description(Text, Tokens)}.

%% The `end` after the last token is this module's; in the file there is the full stop.
description(<<"syntax error before ", Before/binary>>, Tokens) ->
    case binary:split(Before, <<": ">>) of
        [<<"'end'">> | _] ->
            case lists:keymember('end', 1, Tokens) of
                true -> ["syntax error before: ", "'end'"];
                false -> ["syntax error before: ", "'.'"]
            end;
        [Token | _] -> ["syntax error before: ", unicode:characters_to_list(Token)]
    end;
description(Text, _) -> [unicode:characters_to_list(Text), []].
