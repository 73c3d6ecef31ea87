#!/usr/bin/env escript
%% packages: erlang-asn1
%% A module from a specification, with the NIF for the inner bytes.
-module(otp_asn1_used).
-mode(compile).
main(_) ->
    ok = file:write_file("Own.asn", "Own DEFINITIONS AUTOMATIC TAGS ::= BEGIN\n"
                                    "Person ::= SEQUENCE { name UTF8String, age INTEGER (0..150), tags "
                                    "SEQUENCE OF INTEGER OPTIONAL }\n"
                                    "Shape ::= CHOICE { a INTEGER, b BOOLEAN, "
                                     "c ENUMERATED { x, y } }\nEND\n"),
    [begin
         ok = asn1ct:compile("Own", [Rules, {outdir, "."}]), code:purge('Own'), {module, _}
             = code:load_abs("./Own"),
         {ok, Bytes} = 'Own':encode('Person', {'Person', <<"me">>, 42, [1, -200, 70000]}),
         io:format("~p ~p ~p~n", [Rules, Bytes, 'Own':decode('Person', Bytes)]),
         io:format("~p~n", [['Own':encode('Shape', S) || S <- [{a, -5}, {b, true}, {c, y}]]]),
         io:format("~p~n", [element(1, 'Own':decode('Person', <<255, 1, 2>>))])
     end || Rules <- [ber, per, uper]].
