#!/usr/bin/env escript
%% packages: erlang-diameter
%% Messages of Diameter, encoded by a dictionary; a service.
-module(otp_diameter_used).
-mode(compile).
-include_lib("diameter/include/diameter_gen_base_rfc6733.hrl").
main(_) ->
    ok = logger:set_primary_config(level, none),
    ok = diameter:start(),
    ok = diameter:start_service(own, [{'Origin-Host', "a.example"}, {'Origin-Realm', "example"},
        {'Vendor-Id', 0}, {'Product-Name', "own"}, {'Auth-Application-Id', [0]},
                                      {application, [{alias, base}, {dictionary, diameter_gen_base_rfc6733},
                                          {module, ?MODULE}]}]),
    io:format("~p ~p~n", [diameter:services(), diameter:service_info(own, 'Origin-Host')]),
    [io:format("~p~n", [M]) || M <- [diameter_gen_base_rfc6733:msg_name(257, true),
        diameter_gen_base_rfc6733:name2rec('CER'), diameter_gen_base_rfc6733:avp_name(264, undefined)]],
    ok = diameter:stop_service(own),
    io:format("~p~n", [diameter:stop()]).
