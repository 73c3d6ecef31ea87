#!/usr/bin/env escript
%% packages: erlang-common-test
%% A suite of tests, run by its own node.
-module(otp_common_test_used).
-mode(compile).
main(_) ->
    ok = file:write_file("own_SUITE.erl", "-module(own_SUITE).\n-compile([export_all, nowarn_export_all]).\n"
                                          "all() -> [good, bad, skipped, {group, g}].\n"
                                          "groups() -> [{g, [parallel], [good, good]}].\n"
        "init_per_testcase(skipped, _) -> {skip, why};\ninit_per_testcase(_, C) -> [{k, 1} | C].\n"
        "end_per_testcase(_, _) -> ok.\n"
        "good(C) -> 1 = proplists:get_value(k, C).\nbad(_) -> 1 = list_to_integer(\"2\").\n"
        "skipped(_) -> ok.\n"),
    ok = file:make_dir("logs"),
    io:format("~p~n", [ct:run_test([{suite, "own_SUITE"}, {logdir, "logs"}, {verbosity, 0},
        {auto_compile, true}])]).
