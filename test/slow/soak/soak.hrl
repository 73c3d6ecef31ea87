%% soak(Name, Times, F): F(1), F(2) and so on up to F(Times). At the end the machine holds no more memory than
%% after the first tenth, but for a margin, 24 megabytes unless it is given: what waits to be freed in batches
%% (docs/internals/memory.md), and freed memory that the allocator keeps, in other threads and other sizes.
%% The figures go to standard error.

soak(Name, Times, F) -> soak(Name, Times, F, 24).

soak(Name, Times, F, Megabytes) ->
    rounds(1, Times div 10, F),
    First = resident(),
    rounds(Times div 10 + 1, Times, F),
    Last = resident(),
    io:format(standard_error, "~p: ~p rounds, ~p kB after the first tenth, ~p kB at the end~n",
        [Name, Times, First div 1024, Last div 1024]),
    Result = if Last =< First + (Megabytes bsl 20) -> ok; true -> {grown, First, Last} end,
    io:format("~p~n", [{Name, Result}]).

rounds(I, N, _) when I > N -> ok;
rounds(I, N, F) -> F(I), rounds(I + 1, N, F).

resident() ->
    garbage_collect(),
    {ok, Text} = file:read_file("/proc/self/statm"),
    [_, Pages | _] = string:lexemes(binary_to_list(Text), " \n"),
    list_to_integer(Pages) * 4096.
