#!/usr/bin/env escript
%% packages: erlang-p1-xmpp
%% Stanzas of XMPP, addresses by a NIF.
-module(p1_xmpp_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(xmpp),
    J = jid:decode(<<"User@Example.COM/Res">>),
    io:format("~p ~p~n", [J, jid:encode(jid:remove_resource(J))]),
    io:format("~p~n", [catch jid:decode(<<"@bad">>)]),
    E = fxml_stream:parse_element(<<"<message xmlns='jabber:client' to='a@b.c' type='chat' id='1'><body>hi "
                                    "&amp; bye</body><thread>t</thread></message>">>),
    M = xmpp:decode(E),
    io:format("~p~n~s~n", [M, fxml:element_to_binary(xmpp:encode(M))]),
    Bad = <<"<iq xmlns='jabber:client' type='what'/>">>,
    io:format("~p~n", [catch xmpp:decode(fxml_stream:parse_element(Bad))]),
    io:format("~p~n", [xmpp:make_error(M, xmpp:err_bad_request())]).
