#!/usr/bin/env escript
%% packages: erlang-eldap
%% Requests of LDAP, and a server that is not there.
-module(otp_eldap_used).
-mode(compile).
main(_) ->
    io:format("~p~n", [eldap:open(["127.0.0.1"], [{port, 1}, {timeout, 2000}])]),
    io:format("~p~n", [eldap:'and'([eldap:present("cn"), eldap:equalityMatch("sn", "x"),
        eldap:substrings("o", [{initial, "a"}])])]),
    {ok, Bytes} = 'ELDAPv3':encode('LDAPMessage',
        {'LDAPMessage', 1, {bindRequest, {'BindRequest', 3, "cn=me", {simple, "secret"}}}, asn1_NOVALUE}),
    io:format("~p~n~p~n", [Bytes, 'ELDAPv3':decode('LDAPMessage', Bytes)]).
