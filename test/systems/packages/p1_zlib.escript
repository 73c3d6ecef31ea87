#!/usr/bin/env escript
%% packages: erlang-p1-zlib
%% Streams that are compressed, by a NIF.
-module(p1_zlib_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(ezlib),
    Data = binary:copy(<<"some text, again and again ">>, 500),
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, P} = inet:port(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, P, [binary, {active, false}]),
    {ok, S} = gen_tcp:accept(L),
    {ok, Zc} = ezlib:enable_zlib(gen_tcp, C),
    {ok, Zs} = ezlib:enable_zlib(gen_tcp, S),
    ok = ezlib:send(Zc, Data),
    (fun Next(<<>>) -> io:format("all there~n"); Next(Rest) -> {ok, Part} = ezlib:recv(Zs, 0, 5000),
        Size = byte_size(Part), <<Part:Size/binary, More/binary>> = Rest, Next(More) end)(Data),
    ezlib:close(Zc), ezlib:close(Zs).
