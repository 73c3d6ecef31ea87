#!/usr/bin/env escript
%% packages: erlang-cuttlefish erlang-lager
%% Settings in a file, by a schema.
-module(cuttlefish_used).
-mode(compile).
main(_) ->
    ok = file:write_file("a.schema",
        "{mapping, \"ring.size\", \"app.ring_size\", [{datatype, integer}, {default, 64}]}.\n"
                                     "{mapping, \"log.level\", \"app.level\", [{datatype, {enum, [debug, "
                                     "info]}}, {default, info}]}.\n"
                                     "{translation, \"app.twice\", fun(Conf) -> 2 * "
                                     "cuttlefish:conf_get(\"ring.size\", Conf) end}.\n"
                                     "{mapping, \"ring.size\", \"app.twice\", []}.\n"),
    ok = file:write_file("a.conf", "## a comment\nring.size = 32\nlog.level = debug\n"),
    io:format("~p~n", [cuttlefish_conf:file("a.conf")]),
    io:format("~p~n", [cuttlefish_duration:parse("1h5m")]),
    io:format("~p~n", [cuttlefish_bytesize:parse("2GB")]),
    io:format("~p~n", [cuttlefish_datatypes:from_string("debug", {enum, [debug, info]})]).
