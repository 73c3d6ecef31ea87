#!/usr/bin/env escript
%% packages: erlang-tools
%% Coverage, calls across modules, profiles.
-module(otp_tools_used).
-mode(compile).
main(_) ->
    ok = file:write_file("covered.erl", "-module(covered).\n-export([f/1, unused/0]).\nf(X) when X > 1 ->\n"
                                        "    lists:map(fun(Y) -> Y * 2 end, lists:seq(1, X));\nf(_) ->\n"
                                        "    absent:g().\nunused() ->\n    ok.\n"),
    {ok, covered} = cover:compile("covered.erl"),
    [2, 4, 6] = covered:f(3),
    io:format("~p~n~p~n", [cover:analyse(covered, coverage, function), cover:analyse(covered, calls, line)]),
    {ok, _} = cover:analyse_to_file(covered, "covered.txt", []),
    io:format("~p~n", [filelib:is_file("covered.txt")]),
    cover:stop(),
    {ok, covered} = compile:file("covered.erl", [debug_info]),
    {ok, _} = xref:start(x), xref:set_default(x, [{warnings, false}]),
    {ok, covered} = xref:add_module(x, "covered.beam"),
    io:format("~p ~p~n", [xref:analyze(x, exports_not_used), xref:q(x, "E | covered || lists")]),
    xref:stop(x),
    code:purge(covered), code:load_abs("./covered"),
    quiet(fun() -> profiling = eprof:start_profiling([self()]), covered:f(10), profiling_stopped
        = eprof:stop_profiling(), ok = eprof:log("eprof.txt"), eprof:analyze(total, []), eprof:stop() end),
    {ok, Profile} = file:read_file("eprof.txt"),
    {match, Found} = re:run(Profile, "(covered:\\S+|lists:map_1\\S+) +(\\d+)",
        [global, {capture, [1, 2], list}]),
    io:format("~p~n", [lists:sort(Found)]),
    {ok, _} = fprof:start(), fprof:apply(covered, f, [5]), fprof:profile(),
    ok = fprof:analyse([{dest, "fprof.txt"}, totals]),
    {ok, Terms} = file:consult("fprof.txt"),
    io:format("~p~n", [[{Calls, lists:sort([{C, N} || {C, N, _, _} <- Callees])}
        || {_, {{covered, f, 1}, Calls, _, _}, Callees} <- Terms]]),
    fprof:stop(),
    cprof:start(), covered:f(4), cprof:pause(),
    {covered, _, Counts} = cprof:analyse(covered), io:format("~p~n", [Counts]), cprof:stop(),
    io:format("~p~n", [tags:file("covered.erl", [{outfile, "TAGS"}])]),
    io:format("~p~n", [make:files(["covered"], [])]).
quiet(Fun) ->
    Leader = group_leader(),
    {ok, File} = file:open("told.txt", [write]),
    group_leader(File, self()), Fun(), group_leader(Leader, self()).
