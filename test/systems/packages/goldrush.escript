#!/usr/bin/env escript
%% packages: erlang-goldrush
%% Streams of events through queries that are compiled to modules.
-module(goldrush_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(goldrush),
    Me = self(),
    Query = glc:with(glc:all([glc:gt(a, 1), glc:any([glc:eq(b, x), glc:eq(b, y)])]),
        fun(E) -> Me ! gre:pairs(E) end),
    {ok, _} = glc:compile(my_query, Query),
    [glc:handle(my_query, gre:make([{a, N}, {b, B}], [list])) || N <- [1, 2, 3], B <- [x, y, z]],
    (fun Next() -> receive M -> io:format("~p~n", [M]), Next() after 0 -> ok end end)(),
    io:format("~p~n", [[glc:input(my_query), glc:filter(my_query), glc:output(my_query)]]).
