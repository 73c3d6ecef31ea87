%% SPDX-License-Identifier: Apache-2.0
%% What the machine and other nodes log comes to one process, logger; this is what protects it. When
%% more messages wait for it than flush_qlen says, those events are thrown away; with
%% burst_limit_enable also those that come after the first burst_limit_max_count within
%% burst_limit_window_time milliseconds. The process is never killed for its load, and no sender has
%% to wait or to look at the queue: the other settings are remembered only, and that to enable the
%% kill is refused.
-module(logger_overload).

-export([log/1, default_config/0, check_proxy/1, handler_defaults/0, check/1]).

log(Event) ->
    Config = logger:get_proxy_config(),
    {message_queue_len, Waiting} = process_info(self(), message_queue_len),
    case Waiting >= maps:get(flush_qlen, Config) of
        true -> logger:notice("~w flushed ~w log events", [logger_proxy, flushed(1)]);
        false -> is_in_burst(Config) orelse log_now(Event)
    end.

log_now({log, Level, Format, Args, Meta}) -> logger:log(Level, Format, Args, Meta);
log_now({log, Level, Report, Meta}) -> logger:log(Level, Report, Meta).

flushed(N) ->
    receive
        {log, _, _, _, _} -> flushed(N + 1);
        {log, _, _, _} -> flushed(N + 1)
    after 0 -> N
    end.

%% The window begins with the first event after the one before has passed.
is_in_burst(#{burst_limit_enable := false}) -> false;
is_in_burst(#{burst_limit_max_count := Most, burst_limit_window_time := Window}) ->
    Now = erlang:monotonic_time(millisecond),
    case get(?MODULE) of
        {Begin, N} when Now - Begin < Window ->
            put(?MODULE, {Begin, N + 1}),
            N >= Most;
        _ ->
            put(?MODULE, {Now, 1}),
            Most < 1
    end.

default_config() ->
    #{sync_mode_qlen => 500, drop_mode_qlen => 1000, flush_qlen => 5000,
      burst_limit_enable => false, burst_limit_max_count => 500, burst_limit_window_time => 1000,
      overload_kill_enable => false, overload_kill_qlen => 20000, overload_kill_mem_size => 3000000,
      overload_kill_restart_after => 5000}.

%% OTP's for handlers.
handler_defaults() ->
    (default_config())#{sync_mode_qlen := 10, drop_mode_qlen := 200, flush_qlen := 1000,
        burst_limit_enable := true}.

check_proxy(#{overload_kill_enable := true}) ->
    {error, {invalid_olp_config, #{overload_kill_enable => true}}};
check_proxy(Config) -> check(Config).

check(Config) ->
    case {[Setting || Setting <- maps:to_list(Config), not is_valid(Setting)],
          maps:with([sync_mode_qlen, drop_mode_qlen, flush_qlen], Config)} of
        {[{Key, Value} | _], _} -> {error, {invalid_olp_config, #{Key => Value}}};
        {[], #{sync_mode_qlen := Sync, drop_mode_qlen := Drop, flush_qlen := Flush}}
          when 1 < Drop, Sync =< Drop, Drop =< Flush -> ok;
        {[], Levels} -> {error, {invalid_olp_levels, Levels}}
    end.

is_valid({Key, Value}) when Key =:= burst_limit_enable; Key =:= overload_kill_enable -> is_boolean(Value);
is_valid({overload_kill_restart_after, Value}) -> is_integer(Value) orelse Value =:= infinity;
is_valid({Key, Value}) -> is_map_key(Key, default_config()) andalso is_integer(Value).
