#!/usr/bin/env escript
%% packages: erlang-p1-tls openssl
%% TLS by a NIF of OpenSSL: a connection with itself, and errors.
-module(p1_tls_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(fast_tls),
    os:cmd("openssl req -x509 -newkey rsa:2048 -nodes -keyout both.pem -out cert.pem -days 9 -subj /CN=own "
           "2>&1; cat cert.pem >> both.pem"),
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, P} = inet:port(L),
    Connect = fun() -> {ok, C} = gen_tcp:connect({127, 0, 0, 1}, P, [binary, {active, false}]),
        {ok, S} = gen_tcp:accept(L), {C, S} end,
    {C, S} = Connect(),
    Me = self(),
    Server = spawn_link(fun() -> receive go -> ok end, {ok, T} = fast_tls:tcp_to_tls(S,
        [{certfile, "both.pem"}]), {ok, Got} = read(T), ok = fast_tls:send(T, <<"got ", Got/binary>>),
            Me ! answered, receive stop -> ok end end),
    ok = gen_tcp:controlling_process(S, Server), Server ! go,
    {ok, T} = fast_tls:tcp_to_tls(C, [connect]),
    ok = fast_tls:send(T, <<"hello">>),
    io:format("~p~n", [read(T)]),
    receive answered -> ok end,
    io:format("~p~n", [[fast_tls:get_verify_result(T), element(1, fast_tls:get_peer_certificate(T))]]),
    {C2, S2} = Connect(),
    {ok, T2} = fast_tls:tcp_to_tls(C2, [connect]),
    ok = gen_tcp:send(S2, "no such thing as a handshake here"),
    io:format("~p~n", [element(1, read(T2))]).
read(T) -> case fast_tls:recv(T, 0, 5000) of {ok, <<>>} -> read(T); Other -> Other end.
