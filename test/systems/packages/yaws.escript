#!/usr/bin/env escript
%% packages: erlang-yaws
%% A web server inside a program.
-module(yaws_used).
-mode(compile).
-export([out/1]).
main(_) ->
    [Ebin | _] = filelib:wildcard("/usr/lib/yaws*/ebin"),
    true = code:add_patha(Ebin),
    {ok, _} = application:ensure_all_started(inets),
    ok = logger:set_primary_config(level, none),
    [ok = file:make_dir(D) || D <- ["www", "logs"]],
    ok = file:write_file("www/index.html", "<p>static</p>"),
    ok = file:write_file("www/page.yaws",
        "<erl>out(A) -> {html, io_lib:format(\"dynamic ~p\", [lists:sum([1, 2, 3])])}.</erl>\n"),
    {ok, S} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]), {ok, Port} = inet:port(S), gen_tcp:close(S),
    ok = yaws:start_embedded("www", [{servername, "localhost"}, {listen, {127, 0, 0, 1}}, {port, Port},
        {appmods, [{"/app", ?MODULE}]}], [{logdir, "logs"}], "own"),
    Get = fun(Path) -> {ok, {{_, Code, _}, _, Body}} = httpc:request("http://127.0.0.1:"
        ++ integer_to_list(Port) ++ Path), io:format("~p ~p~n", [Code, Body]) end,
    [Get(Path) || Path <- ["/index.html", "/page.yaws", "/app/x?q=1"]],
    io:format("~p~n", [yaws:stop()]).
out(_) -> {html, "from the module"}.
