#!/usr/bin/env escript
%% packages: erlang-lager erlang-goldrush
%% Logging with handlers, formats and files.
-module(lager_used).
-mode(compile).
main(_) ->
    ok = application:load(lager),
    {ok, Here} = file:get_cwd(),
    Log = filename:join(Here, "log.txt"),
    ok = application:set_env(lager, handlers,
        [{lager_file_backend, [{file, Log}, {level, info}, {formatter, lager_default_formatter},
            {formatter_config, [severity, " ", message, "\n"]}]}]),
    ok = application:set_env(lager, error_logger_redirect, false),
    ok = application:set_env(lager, crash_log, undefined),
    {ok, _} = application:ensure_all_started(lager),
    lager:log(info, self(), "a ~p message", [formatted]),
    lager:log(debug, self(), "unseen", []),
    lager:log(error, [{pid, self()}, {x, 1}], "broken ~s", ["pipe"]),
    ok = lager:set_loglevel(lager_file_backend, Log, debug),
    lager:log(debug, self(), "seen ~w", [[1, 2]]),
    ok = logger:set_primary_config(level, none),
    ok = application:stop(lager),
    {ok, Text} = file:read_file(Log),
    %% What it says of its own level it writes when it comes to it, or not before it is stopped.
    io:put_chars([[Line, "\n"] || Line <- string:lexemes(Text, "\n"),
        string:prefix(Line, "notice Changed loglevel") =:= nomatch]),
    io:format("~s~n", [lager_format:format("~p ~10s ~w", [lists:seq(1, 100), "abc", self], 40)]).
