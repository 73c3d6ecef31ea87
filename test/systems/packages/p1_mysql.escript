#!/usr/bin/env escript
%% packages: erlang-p1-mysql
%% A driver of MySQL where there is no server.
-module(p1_mysql_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(p1_mysql),
    io:format("~p~n", [catch p1_mysql_conn:start("127.0.0.1", 1, "user", "password", "base", 2000,
        fun(_, _, _) -> ok end, false)]),
    io:format("~s ~p~n", [p1_mysql:quote("it's \"so\"\n"), p1_mysql:asciz_binary(<<"abc", 0, "d">>, [])]),
    io:format("~p~n", [lists:sort([F || {F, _} <- p1_mysql_auth:module_info(exports)])]).
