#!/usr/bin/env escript
%% packages: erlang-p1-sqlite3
%% A database in a driver with work for async threads.
-module(p1_sqlite3_used).
-mode(compile).
main(_) ->
    {ok, Db} = sqlite3:open(base, [{file, "base.db"}]),
    ok = sqlite3:create_table(base, people, [{id, integer, [primary_key]}, {name, text}, {size, double}]),
    [sqlite3:write(base, people, [{name, N}, {size, S}]) || {N, S} <- [{"a", 1.5}, {"b", 2.5}, {"c", 0.25}]],
    io:format("~p~n", [sqlite3:sql_exec(base, "select name, size from people order by size;")]),
    io:format("~p~n", [sqlite3:sql_exec(base, "select count(*), sum(size) from people where size > ?",
        [1.0])]),
    io:format("~p~n", [sqlite3:read(base, people, {name, "b"})]),
    io:format("~p~n", [sqlite3:delete(base, people, {name, "a"})]),
    io:format("~p ~p~n", [sqlite3:list_tables(base), sqlite3:sql_exec(base, "select nonsense")]),
    io:format("~p ~p~n", [is_pid(Db), sqlite3:close(base)]).
