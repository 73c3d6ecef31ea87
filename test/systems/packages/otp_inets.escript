#!/usr/bin/env escript
%% packages: erlang-inets
%% A web server and a client of OTP's.
-module(otp_inets_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(inets),
    ok = file:write_file("page.html", "<p>hello</p>"),
    {ok, Server} = inets:start(httpd, [{port, 0}, {server_name, "here"}, {server_root, "."},
        {document_root, "."}, {bind_address, {127, 0, 0, 1}}, {modules, [mod_esi, mod_get, mod_head]},
        {erl_script_alias, {"/esi", [?MODULE]}}]),
    [{port, Port}] = httpd:info(Server, [port]),
    Get = fun(Path) -> {ok, {{_, Code, _}, _, Body}} = httpc:request("http://127.0.0.1:"
        ++ integer_to_list(Port) ++ Path), io:format("~p ~p~n", [Code, Body]) end,
    Get("/page.html"),
    {ok, {{_, 404, _}, _, _}} = httpc:request("http://127.0.0.1:" ++ integer_to_list(Port) ++ "/absent"),
    {ok, Ref} = httpc:request(get, {"http://127.0.0.1:" ++ integer_to_list(Port) ++ "/page.html", []}, [],
        [{sync, false}]),
    receive {http, {Ref, {{_, 200, _}, _, Body}}} -> io:format("~p~n", [Body]) end,
    io:format("~p~n", [lists:sort(maps:to_list(uri_string:parse("http://u@h:1/p?q#f")))]),
    ok = inets:stop(httpd, Server).
