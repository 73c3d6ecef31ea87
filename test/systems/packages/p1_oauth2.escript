#!/usr/bin/env escript
%% packages: erlang-p1-oauth2
%% The server's side of OAuth 2.
-module(p1_oauth2_used).
-mode(compile).
main(_) ->
    io:format("~p~n", [oauth2_priv_set:new([<<"a.b.*">>, <<"c">>])]),
    Set = oauth2_priv_set:union(oauth2_priv_set:new([<<"a.b.*">>]), oauth2_priv_set:new([<<"c">>])),
    io:format("~p~n", [[oauth2_priv_set:is_member(P, Set) || P <- [<<"a.b.c">>, <<"a">>, <<"c">>]]]),
    io:format("~p~n", [oauth2_response:to_proplist(oauth2_response:new(<<"token">>, 60, <<"me">>,
        [<<"c">>]))]),
    io:format("~p~n", [byte_size(oauth2_token:generate([]))]).
