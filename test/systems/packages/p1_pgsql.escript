#!/usr/bin/env escript
%% packages: erlang-p1-pgsql
%% A driver of PostgreSQL where there is no server.
-module(p1_pgsql_used).
-mode(compile).
main(_) ->
    process_flag(trap_exit, true),
    io:format("~p~n", [catch pgsql:connect([{host, "127.0.0.1"}, {port, 1}, {user, "u"}, {password, "p"},
        {database, "d"}])]),
    io:format("~p~n", [[pgsql_util:string(<<"abc", 0, "rest">>), pgsql_util:to_integer(<<"12">>),
        pgsql_util:make_pair(a, b)]]),
    io:format("~p~n", [iolist_to_binary(pgsql_util:pass_md5("u", "p", <<1, 2, 3, 4>>))]).
