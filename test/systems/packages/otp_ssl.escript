#!/usr/bin/env escript
%% packages: erlang-ssl
%% Connections by TLS, of two versions, checked and not.
-module(otp_ssl_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(ssl),
    #{server_config := S, client_config := C} = public_key:pkix_test_data(#{server_chain => chain("server"),
        client_chain => chain("client")}),
    [begin
         {ok, L} = ssl:listen(0, [{reuseaddr, true}, {active, false}, {versions, [V]},
             {ip, {127, 0, 0, 1}} | S]),
         {ok, {_, Port}} = ssl:sockname(L),
         Server = spawn_link(fun() -> {ok, A} = ssl:transport_accept(L), {ok, T} = ssl:handshake(A, 10000),
             {ok, Data} = ssl:recv(T, 0), ok = ssl:send(T, ["got ", Data]), receive stop -> ssl:close(T) end
                 end),
         {ok, T} = ssl:connect("localhost", Port, [{active, false}, {verify, verify_peer},
             {server_name_indication, disable}, {versions, [V]} | C], 10000),
         ok = ssl:send(T, "hello"),
         {ok, Answer} = ssl:recv(T, 9, 10000),
         {ok, Info} = ssl:connection_information(T, [protocol]),
         io:format("~p ~p~n", [Answer, Info]),
         Server ! stop,
         io:format("~p~n", [ssl:recv(T, 0, 10000)])
     end || V <- ['tlsv1.2', 'tlsv1.3']],
    io:format("~p~n", [[is_list(ssl:cipher_suites(all, V)) || V <- ['tlsv1.2', 'tlsv1.3']]]).
chain(_) ->
    One = [{key, {namedCurve, secp256r1}}, {digest, sha256}],
    #{root => One, peer => One, intermediates => []}.
