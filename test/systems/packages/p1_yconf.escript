#!/usr/bin/env escript
%% packages: erlang-p1-yconf erlang-p1-yaml
%% Settings in YAML, checked.
-module(p1_yconf_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(yconf),
    ok = file:write_file("a.yml", "port: 5222\nhosts:\n  - a.example\n  - b.example\nlevel: info\n"),
    V = #{port => yconf:pos_int(), hosts => yconf:list(yconf:binary()), level => yconf:enum([info, debug])},
    io:format("~p~n", [yconf:parse("a.yml", V, [plain_as_atom])]),
    ok = file:write_file("b.yml", "port: -1\n"),
    {error, Why, Where} = yconf:parse("b.yml", V, []),
    io:format("~p ~p~n~s~n", [Why, Where, yconf:format_error(Why, Where)]).
