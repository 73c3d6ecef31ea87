#!/usr/bin/env escript
%% packages: erlang-mnesia
%% A database on disk, twice.
-module(otp_mnesia_used).
-mode(compile).
-record(p, {k, name, n}).
main(_) ->
    % That the application has ended is reported by another process, while this one ends.
    ok = logger:set_primary_config(level, error),
    ok = application:set_env(mnesia, dir, "base"),
    ok = mnesia:create_schema([node()]),
    ok = mnesia:start(),
    {atomic, ok} = mnesia:create_table(p, [{disc_copies, [node()]}, {attributes, record_info(fields, p)},
        {index, [name]}]),
    {atomic, ok} = mnesia:create_table(only, [{disc_only_copies, [node()]}, {type, bag}]),
    {atomic, ok} = mnesia:transaction(fun() -> [mnesia:write(#p{k = K, name = K rem 3, n = K * K})
        || K <- lists:seq(1, 30)], ok end),
    ok = mnesia:dirty_write({only, a, 1}), ok = mnesia:dirty_write({only, a, 2}),
    io:format("~p~n", [mnesia:transaction(fun() ->
        lists:sort(mnesia:select(p, [{#p{k = '$1', name = 2, _ = '_'}, [{'>', '$1', 20}], ['$1']}])) end)]),
    io:format("~p~n", [mnesia:transaction(fun() -> mnesia:delete({p, 1}), mnesia:abort(no) end)]),
    stopped = mnesia:stop(),
    ok = mnesia:start(),
    ok = mnesia:wait_for_tables([p, only], 20000),
    io:format("~p ~p~n", [lists:sort([K || #p{k = K} <- mnesia:dirty_index_read(p, 1, name)]),
        lists:sort(mnesia:dirty_read(only, a))]),
    io:format("~p~n", [mnesia:table_info(p, size)]),
    ok = mnesia:backup("saved"),
    {atomic, ok} = mnesia:clear_table(p),
    {atomic, _} = mnesia:restore("saved", []),
    io:format("~p~n", [mnesia:table_info(p, size)]),
    stopped = mnesia:stop().
