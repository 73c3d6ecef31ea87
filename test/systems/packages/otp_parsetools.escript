#!/usr/bin/env escript
%% packages: erlang-parsetools
%% A scanner and a parser, generated.
-module(otp_parsetools_used).
-mode(compile).
main(_) ->
    ok = file:write_file("words.xrl", "Definitions.\nD = [0-9]\nRules.\n"
                                      "{D}+ : {token, {number, TokenLine, list_to_integer(TokenChars)}}.\n"
                                      "[-+*()] : {token, {list_to_atom(TokenChars), TokenLine}}.\n"
                                      "[\\s\\n]+ : skip_token.\nErlang code.\n"),
    ok = file:write_file("sums.yrl", "Nonterminals e.\nTerminals number '+' '-' '*' '(' ')'.\nRootsymbol e.\n"
                                     "Left 100 '+' '-'.\nLeft 200 '*'.\n"
                                     "e -> e '+' e : '$1' + '$3'.\ne -> e '-' e : '$1' - '$3'.\n"
                                     "e -> e '*' e : '$1' * '$3'.\ne -> '(' e ')' : '$2'.\n"
                                     "e -> number : element(3, '$1').\n"),
    io:format("~p ~p~n", [leex:file("words.xrl"), yecc:file("sums.yrl")]),
    [{ok, M} = compile:file(M) || M <- [words, sums]],
    [io:format("~p~n", [case words:string(T) of {ok, Tokens, _} -> sums:parse(Tokens); E -> E end])
        || T <- ["1 + 2 * 3", "(1+2)*3 -\n4", "1 +", "1 $"]].
