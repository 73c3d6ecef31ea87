#!/usr/bin/env escript
%% packages: erlang-jose erlang-jiffy
%% Signed and encrypted JSON.
-module(jose_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(jose),
    Key = jose_jwk:from_oct(<<"a secret of thirty-two bytes, yes">>),
    Signed = element(2, jose_jws:compact(jose_jwt:sign(Key, #{<<"alg">> => <<"HS256">>},
        #{<<"sub">> => <<"me">>, <<"n">> => 1}))),
    io:format("~p~n", [jose_jwt:verify(Key, Signed)]),
    io:format("~p~n", [element(1, jose_jwt:verify(jose_jwk:from_oct(<<"another">>), Signed))]),
    Pair = jose_jwk:generate_key({ec, <<"P-256">>}),
    {_, Text} = jose_jws:compact(jose_jws:sign(Pair, <<"payload">>, #{<<"alg">> => <<"ES256">>})),
    {Good, Payload, _} = jose_jws:verify(Pair, Text),
    io:format("~p ~p~n", [Good, Payload]),
    Secret = jose_jwk:from_oct(<<0:128>>),
    {_, Box} = jose_jwe:compact(jose_jwk:block_encrypt(<<"hidden">>,
        #{<<"alg">> => <<"dir">>, <<"enc">> => <<"A128GCM">>}, Secret)),
    io:format("~p~n", [element(1, jose_jwk:block_decrypt(Box, Secret))]).
