#!/usr/bin/env escript
%% packages: erlang-crypto
%% Digests, ciphers, keys.
-module(otp_crypto_used).
-mode(compile).
main(_) ->
    io:format("~p~n", [[crypto:hash(H, "abc") || H <- [sha, sha256, sha512, md5, sha3_256]]]),
    State = lists:foldl(fun(P, S) -> crypto:hash_update(S, P) end, crypto:hash_init(sha256),
        ["a", "b", <<"c">>]),
    io:format("~p~n", [crypto:hash_final(State)]),
    io:format("~p~n", [crypto:mac(hmac, sha256, "key", "data")]),
    {Box, Tag} = crypto:crypto_one_time_aead(aes_256_gcm, <<0:256>>, <<1:96>>, <<"text">>, <<"aad">>, true),
    io:format("~p ~p~n", [{Box, Tag}, crypto:crypto_one_time_aead(aes_256_gcm, <<0:256>>, <<1:96>>, Box,
        <<"aad">>, Tag, false)]),
    {Pub, Priv} = crypto:generate_key(ecdh, x25519), {Pub2, Priv2} = crypto:generate_key(ecdh, x25519),
    io:format("~p~n", [crypto:compute_key(ecdh, Pub, Priv2, x25519) =:= crypto:compute_key(ecdh, Pub2, Priv,
        x25519)]),
    {Ed, EdPriv} = crypto:generate_key(eddsa, ed25519),
    Signature = crypto:sign(eddsa, none, <<"message">>, [EdPriv, ed25519]),
    io:format("~p~n", [[crypto:verify(eddsa, none, M, Signature, [Ed, ed25519])
        || M <- [<<"message">>, <<"another">>]]]),
    {[E, N], [_, _, D | _]} = crypto:generate_key(rsa, {1024, <<1, 0, 1>>}),
    io:format("~p~n", [crypto:private_decrypt(rsa, crypto:public_encrypt(rsa, <<"x">>, [E, N],
        rsa_pkcs1_padding), [E, N, D], rsa_pkcs1_padding)]),
    io:format("~p ~p~n", [crypto:mod_pow(3, 1000, 1 bsl 89 - 1), byte_size(crypto:strong_rand_bytes(33))]),
    io:format("~p~n", [try crypto:hash(nonesuch, "abc") catch C:R -> {C, R} end]),
    io:format("~p~n", [crypto:info_lib() =/= []]).
