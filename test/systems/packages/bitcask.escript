#!/usr/bin/env escript
%% packages: erlang-bitcask
%% A store in files, with a NIF for its table of keys and locks.
-module(bitcask_used).
-mode(compile).
main(_) ->
    B = bitcask:open("store", [read_write, {max_file_size, 2000}]),
    [ok = bitcask:put(B, <<"key", N>>, <<N:(8 * N)>>) || N <- lists:seq(1, 60)],
    [ok = bitcask:delete(B, <<"key", N>>) || N <- lists:seq(1, 60, 3)],
    io:format("~p~n", [[bitcask:get(B, <<"key", N>>) || N <- [1, 2, 99]]]),
    io:format("~p~n", [bitcask:fold(B, fun(_, V, A) -> byte_size(V) + A end, 0)]),
    ok = bitcask:merge("store"),
    bitcask:close(B),
    C = bitcask:open("store"),
    io:format("~p~n", [lists:sort(bitcask:list_keys(C))]),
    {Keys, _} = bitcask:status(C),
    io:format("~p~n", [Keys]),
    bitcask:close(C).
