#!/usr/bin/env escript
%% packages: erlang-mochiweb
%% A web server of its own, and its parsers.
-module(mochiweb_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(inets),
    {ok, Server} = mochiweb_http:start([{name, test_server}, {ip, "127.0.0.1"}, {port, 0},
        {loop, fun(R) -> mochiweb_request:respond({200, [{"X-Own", "1"}],
            ["path ", mochiweb_request:get(path, R)]}, R) end}]),
    Port = mochiweb_socket_server:get(Server, port),
    {ok, {Status, Headers, Body}} = httpc:request("http://127.0.0.1:" ++ integer_to_list(Port)
        ++ "/some/path?x=1"),
    io:format("~p ~p ~p~n", [Status, proplists:get_value("x-own", Headers), Body]),
    io:format("~p~n", [mochijson2:decode(<<"{\"a\":[1,2.0,null,\"x\"]}">>)]),
    io:format("~s~n", [mochijson2:encode({struct, [{a, [1, 2.5, true, <<"x">>]}]})]),
    io:format("~p~n", [mochiweb_html:parse(<<"<html><body><p class=x>Hello<br>there</p></body></html>">>)]),
    io:format("~p~n", [mochiweb_util:parse_qs("a=1&b=%20")]),
    io:format("~p~n", [mochinum:digits(0.1)]).
