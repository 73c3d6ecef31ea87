#!/usr/bin/env escript
%% packages: erlang-public-key
%% Certificates and keys.
-module(otp_public_key_used).
-mode(compile).
main(_) ->
    Key = public_key:generate_key({namedCurve, secp256r1}),
    Signature = public_key:sign(<<"text">>, sha256, Key),
    Public = {{'ECPoint', element(5, Key)}, {namedCurve, pubkey_cert_records:namedCurves(secp256r1)}},
    io:format("~p~n", [[public_key:verify(T, sha256, Signature, Public) || T <- [<<"text">>, <<"other">>]]]),
    #{cert := Cert, key := _} = public_key:pkix_test_root_cert("A root", [{key, {rsa, 1024, 65537}}]),
    Decoded = public_key:pkix_decode_cert(Cert, otp),
    io:format("~p ~p~n", [element(1, Decoded), public_key:pkix_is_self_signed(Cert)]),
    Pem = public_key:pem_encode([{'Certificate', Cert, not_encrypted}]),
    io:format("~p~n", [public_key:pem_decode(Pem) =:= [{'Certificate', Cert, not_encrypted}]]),
    {ok, {_, Issuer}} = public_key:pkix_issuer_id(Cert, self),
    io:format("~p~n", [public_key:pkix_normalize_name(Issuer)]),
    Chain = public_key:pkix_test_data(#{root => [], peer => [], intermediates => [[]]}),
    [Peer, Ca] = [proplists:get_value(K, Chain) || K <- [cert, cacerts]],
    io:format("~p~n", [[element(1, public_key:pkix_path_validation(R, [Peer], [])) || R <- Ca]]),
    io:format("~p~n", [public_key:pkix_verify_hostname(Peer, [{dns_id, "nobody.example"}])]).
