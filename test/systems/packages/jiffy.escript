#!/usr/bin/env escript
%% packages: erlang-jiffy
%% JSON by a NIF that yields.
-module(jiffy_used).
-mode(compile).
main(_) ->
    Texts = [<<"{\"a\": [1, 2.5, -0.0, 1e10, true, null, \"\\u00e9\\n\"], \"b\": {}}">>,
        <<"[123456789012345678901234567890]">>, <<"[1,">>, <<"{\"a\" 1}">>, <<"\"\\ud800\"">>],
    [io:format("~p~n", [catch jiffy:decode(T)]) || T <- Texts],
    io:format("~p~n", [jiffy:decode(hd(Texts), [return_maps])]),
    io:format("~s~n", [jiffy:encode({[{<<"k">>, [1, 2.0, <<"text">>, true, null, 1 bsl 70]}, {x, #{}}]},
        [pretty])]),
    io:format("~p~n", [catch jiffy:encode({a, self})]),
    Large = [{[{<<"n">>, N}, {<<"s">>, integer_to_binary(N)}]} || N <- lists:seq(1, 20000)],
    Text = iolist_to_binary(jiffy:encode(Large)),
    io:format("~p ~p~n", [byte_size(Text), jiffy:decode(Text) =:= Large]).
