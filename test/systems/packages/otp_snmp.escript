#!/usr/bin/env escript
%% packages: erlang-snmp
%% A base of information, compiled, and messages of SNMP.
-module(otp_snmp_used).
-mode(compile).
main(_) ->
    Mibs = filename:join(code:priv_dir(snmp), "mibs"),
    ok = file:write_file("OWN-MIB.mib", "OWN-MIB DEFINITIONS ::= BEGIN\n"
                                        "IMPORTS enterprises FROM RFC1155-SMI OBJECT-TYPE FROM RFC-1212;\n"
                                        "own OBJECT IDENTIFIER ::= { enterprises 9999 }\n"
        "number OBJECT-TYPE SYNTAX INTEGER ACCESS read-write STATUS mandatory DESCRIPTION \"n\" ::= { own 1 "
        "}\nEND\n"),
    io:format("~p~n", [snmpc:compile("OWN-MIB", [{i, [Mibs]}, {il, ["snmp/mibs/"]}, {group_check, false},
        {verbosity, silence}])]),
    {ok, Mib} = snmp:read_mib("OWN-MIB.bin"),
    io:format("~p~n", [Mib]),
    Pdu = {pdu, 'get-request', 1, noError, 0, [{varbind, [1, 3, 6, 1, 2, 1, 1, 1, 0], 'NULL', 'NULL', 1}]},
    Bytes = snmp_pdus:enc_message({message, 'version-2', "public", Pdu}),
    io:format("~p~n~p~n", [Bytes, snmp_pdus:dec_message(Bytes)]),
    io:format("~p~n", [snmp:passwd2localized_key(md5, "password", "engine")]).
