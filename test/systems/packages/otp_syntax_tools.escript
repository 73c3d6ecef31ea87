#!/usr/bin/env escript
%% packages: erlang-syntax-tools
%% Programs as trees.
-module(otp_syntax_tools_used).
-mode(compile).
main(_) ->
    Text = "f(X) -> case X of {a, Y} when Y > 1 -> [Y | f(Y)]; _ -> fun(Z) -> Z#r.n end end.",
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Form} = erl_parse:parse_form(Tokens),
    io:put_chars([erl_prettypr:format(Form), "\n"]),
    Annotated = erl_syntax_lib:annotate_bindings(Form, ordsets:new()),
    io:format("~p~n", [erl_syntax:get_ann(Annotated)]),
    io:format("~p~n", [erl_syntax_lib:fold(fun(N, A) -> case erl_syntax:type(N) of variable ->
        [erl_syntax:variable_literal(N) | A]; _ -> A end end, [], Form)]),
    M = merl:quote("foo(A) -> A + 1."),
    io:put_chars([erl_prettypr:format(M), "\n"]),
    io:format("~p~n", [erl_syntax_lib:analyze_form(Form)]),
    io:format("~p~n", [erl_comment_scan:string("%% one\nf() -> ok. % two\n")]).
