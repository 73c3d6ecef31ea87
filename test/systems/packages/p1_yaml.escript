#!/usr/bin/env escript
%% packages: erlang-p1-yaml
%% YAML by a NIF.
-module(p1_yaml_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(fast_yaml),
    Text = <<"a: 1\nb: [x, 2.5, \"text\", true, ~]\nc:\n  - &i d\n  - *i\n  - {k: v}\nd: |\n  lines\n"
             "  of text\n">>,
    io:format("~p~n", [fast_yaml:decode(Text)]),
    io:format("~p~n", [fast_yaml:decode(Text, [plain_as_atom])]),
    io:format("~p~n", [fast_yaml:decode(<<"a: [1">>)]),
    io:format("~s~n", [fast_yaml:encode([[{<<"a">>, 1}, {<<"b">>, [x, 2.5, <<"t">>]}]])]).
