#!/usr/bin/env escript
%% packages: erlang-xmerl
%% XML: trees, paths, events, output.
-module(otp_xmerl_used).
-mode(compile).
-include_lib("xmerl/include/xmerl.hrl").
main(_) ->
    Text = "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY e 'entity'>]><a x='1'><b>one &e;</b><b "
           "y='2'>two</b><!-- c --><c/></a>",
    {A, []} = xmerl_scan:string(Text, entities()),
    io:format("~p~n", [[T || #xmlText{value = T} <- xmerl_xpath:string("//b/text()", A)]]),
    io:format("~p~n", [[V || #xmlAttribute{value = V} <- xmerl_xpath:string("/a/b[2]/@y", A)]]),
    io:format("~ts~n", [xmerl:export([A], xmerl_xml)]),
    io:format("~p~n", [xmerl_sax_parser:stream("<a><b>x</b></a>", [{event_fun, fun(E, _, S) -> [E | S] end},
        {event_state, []}])]),
    io:format("~p~n", [catch xmerl_scan:string("<a><b></a>", [{quiet, true}])]).

%% Since OTP 27 they are refused unless they are asked for.
entities() -> [{allow_entities, true} || erlang:system_info(otp_release) >= "27"].
