#!/usr/bin/env escript
%% packages: erlang-uuid
%% Unique names.
-module(uuid_used).
-mode(compile).
main(_) ->
    io:format("~s~n", [uuid:to_string(uuid:uuid5(dns, "example.com"))]),
    io:format("~s~n", [uuid:to_string(uuid:uuid3(url, "http://example.com/"))]),
    io:format("~p~n", [try uuid:uuid4() catch error:undef -> undef end]),
    io:format("~p~n", [[{uuid:is_valid(U), uuid:version(U), uuid:variant(U), uuid:is_v5(U)}
        || U <- [uuid:uuid5(dns, "x"), uuid:uuid3(oid, "y")]]]),
    io:format("~p~n", [uuid:to_binary("2ed6657d-e927-568b-95e1-2665a8aea6a2")]).
