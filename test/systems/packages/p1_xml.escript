#!/usr/bin/env escript
%% packages: erlang-p1-xml
%% XML by NIFs: whole texts and streams.
-module(p1_xml_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(fast_xml),
    E = fxml_stream:parse_element(<<"<a x='1' y='&lt;&#233;'>text<b/><c>more &amp; "
                                    "more</c><![CDATA[raw]]></a>">>),
    io:format("~p~n~s~n", [E, fxml:element_to_binary(E)]),
    io:format("~p~n", [[fxml_stream:parse_element(T) || T <- [<<"<a>">>, <<"<a></b>">>, <<"<a x=1/>">>,
        <<"">>]]]),
    S = fxml_stream:new(self()),
    S2 = lists:foldl(fun(Part, A) -> fxml_stream:parse(A, Part) end, S,
        [<<"<stream xm">>, <<"lns='x'><a>1</">>, <<"a><b><c/></b>">>, <<"</stream>">>]),
    (fun Next() -> receive M -> io:format("~p~n", [M]), Next() after 0 -> ok end end)(),
    fxml_stream:close(S2),
    io:format("~p~n", [fxml:crypt(<<"<&'\">">>)]).
