#!/usr/bin/env escript
%% packages: erlang-eunit
%% Tests in a module.
-module(otp_eunit_used).
-mode(compile).
-include_lib("eunit/include/eunit.hrl").
main(_) ->
    Tests = [fun good/0, [fun bad/0], {"titled", fun good/0},
        {setup, fun() -> 7 end, fun(X) -> ?_assertEqual(7, X) end},
            {timeout, 5, {inparallel, [fun good/0, fun good/0]}},
            {foreach, fun() -> ok end, [fun(_) -> fun good/0 end]}],
    io:format("~p~n", [[eunit:test(T, [no_tty]) || T <- Tests]]),
    io:format("~p~n", [eunit:test({"all", Tests}, [{report, {eunit_surefire, [{dir, "."}]}}, verbose])]),
    {ok, Report} = file:read_file("TEST-all.xml"),
    io:put_chars(re:replace(Report, "time=\"[^\"]*\"", "time", [global])).
good() -> ?assertMatch({_, 2}, {1, 2}).
bad() -> ?assertEqual(4, 2 + list_to_integer("3")).
