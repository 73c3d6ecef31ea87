#!/usr/bin/env escript
%% packages: erlang-megaco
%% Messages of Megaco, as text and in ASN.1, by a scanner that is a driver.
-module(otp_megaco_used).
-mode(compile).
main(_) ->
    ok = application:start(megaco),
    Text = <<"MEGACO/1 [124.124.124.222]:55555 Transaction = 9998 { Context = - { ServiceChange = ROOT { "
             "Services { Method = Restart, Reason = \"901 Cold Boot\", ServiceChangeAddress = 55555, Profile "
             "= ResGW/1 } } } }">>,
    {ok, M} = megaco_pretty_text_encoder:decode_message([], Text),
    io:format("~p~n", [M]),
    {ok, Pretty} = megaco_pretty_text_encoder:encode_message([], M),
    {ok, Compact} = megaco_compact_text_encoder:encode_message([], M),
    io:format("~s~n~s~n", [Pretty, Compact]),
    {ok, Binary} = megaco_ber_encoder:encode_message([], M),
    {ok, Again} = megaco_ber_encoder:decode_message([], Binary),
    io:format("~p~n~p~n", [Binary, Again]),
    {ok, Flex} = megaco_flex_scanner:start(),
    {ok, M2} = megaco_pretty_text_encoder:decode_message([{flex, Flex}], Text),
    {ok, M3} = megaco_compact_text_encoder:decode_message([{flex, Flex}], Compact),
    io:format("~p~n", [[M2 =:= M, M3 =:= M]]).
