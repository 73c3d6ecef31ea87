%% Text of a log event. The configuration keys: template, legacy_header,
%% single_line, depth, chars_limit, max_size, report_cb, time_designator,
%% time_offset.
-module(logger_formatter).

-export([format/2, check_config/1]).

check_config(Config) when is_map(Config) -> ok;
check_config(Config) -> {error, {invalid_formatter_config, ?MODULE, Config}}.

format(#{level := Level, msg := Msg, meta := Meta}, Config0) ->
    Config = maps:merge(#{single_line => true, legacy_header => false, depth => unlimited, chars_limit => unlimited,
                          max_size => unlimited, time_designator => $T, time_offset => ""}, Config0),
    Template = case Config of
                   #{template := T} -> T;
                   #{legacy_header := true, single_line := false} -> [[logger_formatter, header], "\n", msg, "\n"];
                   #{legacy_header := true} -> [[logger_formatter, header], " ", msg, "\n"];
                   #{single_line := true} -> [time, " ", level, ": ", msg, "\n"];
                   #{} -> [time, " ", level, ":\n", msg, "\n"]
               end,
    Text = [part(P, Level, Msg, Meta, Config) || P <- Template],
    case Config of
        #{max_size := Size} when is_integer(Size) -> cut(Text, Size);
        #{} -> Text
    end.

cut(Text, Size) ->
    case string:length(Text) > Size of
        true -> [string:slice(Text, 0, Size - 3), "..."];
        false -> Text
    end.

part(level, Level, _, _, _) -> atom_to_list(Level);
part(time, _, _, Meta, Config) -> time_text(Meta, Config);
part(msg, _, Msg, Meta, Config) -> message(Msg, Meta, Config);
part([logger_formatter, header], Level, _, Meta, _) -> header(Level, Meta);
part({Key, Then, Else}, Level, Msg, Meta, Config) ->
    Parts = case has(Key, Meta) of true -> Then; false -> Else end,
    [part(P, Level, Msg, Meta, Config) || P <- Parts];
part(Key, _, _, Meta, _) when is_atom(Key) -> value(find([Key], Meta));
part([Key | _] = Path, _, _, Meta, _) when is_atom(Key) -> value(find(Path, Meta));
part(Text, _, _, _, _) -> Text.

has(Key, _) when Key =:= msg; Key =:= level -> true;
has(Key, Meta) when is_atom(Key) -> is_map_key(Key, Meta);
has(Path, Meta) -> find(Path, Meta) =/= error.

find([Key | Path], Map) when is_map(Map), is_map_key(Key, Map) -> find(Path, map_get(Key, Map));
find([], Value) -> {ok, Value};
find(_, _) -> error.

value(error) -> "";
value({ok, {M, F, A}}) when is_atom(M), is_atom(F), is_integer(A) -> io_lib:format("~tw:~tw/~w", [M, F, A]);
value({ok, Value}) when is_atom(Value) -> atom_to_list(Value);
value({ok, Value}) when is_pid(Value) -> pid_to_list(Value);
value({ok, Value}) when is_integer(Value) -> integer_to_list(Value);
value({ok, [_ | _] = Value}) ->
    case io_lib:printable_unicode_list(Value) of
        true -> Value;
        false -> io_lib:format("~tp", [Value])
    end;
value({ok, Value}) when is_binary(Value) -> Value;
value({ok, Value}) -> io_lib:format("~tp", [Value]).

%% =ERROR REPORT==== 21-Nov-2026::02:30:00.000000 ===
header(Level, Meta) ->
    {{Y, Mo, D}, {H, Mi, S}, Micro} = local(maps:get(time, Meta, logger:timestamp())),
    Month = element(Mo, {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}),
    io_lib:format("=~ts==== ~w-~s-~4..0w::~2..0w:~2..0w:~2..0w.~6..0w ===", [title(Level, Meta), D, Month, Y, H, Mi, S, Micro]).

title(_, #{logger_formatter := #{title := Title}}) -> Title;
title(_, #{error_logger := #{tag := Tag}})
  when Tag =:= info_msg; Tag =:= info_report; Tag =:= info -> "INFO REPORT";
title(_, #{error_logger := #{tag := Tag}}) when Tag =:= warning_msg; Tag =:= warning_report -> "WARNING REPORT";
title(Level, _) -> [string:to_upper(atom_to_list(Level)), " REPORT"].

local(Time) ->
    Micro = ((Time rem 1000000) + 1000000) rem 1000000,
    {Date, Clock} = calendar:system_time_to_local_time(Time, microsecond),
    {Date, Clock, Micro}.

time_text(Meta, #{time_designator := Designator, time_offset := Offset}) ->
    calendar:system_time_to_rfc3339(maps:get(time, Meta, logger:timestamp()),
                                    [{unit, microsecond}, {offset, Offset}, {time_designator, Designator}]).

%% Messages

message({string, Text}, _, Config) -> one_line(text(Text), Config);
message({report, Report}, Meta, Config) ->
    Cb = maps:get(report_cb, Config, maps:get(report_cb, Meta, fun logger:format_report/1)),
    try
        if
            is_function(Cb, 1) ->
                {Format, Args} = Cb(Report),
                true = is_list(Format) andalso is_list(Args),
                message({Format, Args}, Meta, Config);
            is_function(Cb, 2) ->
                text(Cb(Report, maps:with([depth, chars_limit, single_line], Config)))
        end
    catch
        Class:Reason:Stack ->
            message({"REPORT_CB CRASH: ~tp; Reason: ~tp", [Report, {Class, Reason, Stack}]}, Meta, Config)
    end;
message({Format, Args}, _, Config) ->
    Text = try io_lib:format(adjusted(Format, Config), Args, limits(Config))
           catch error:_ -> io_lib:format("FORMAT ERROR: ~tp - ~tp", [Format, Args])
           end,
    one_line(Text, Config).

%% On a single line terms are printed without breaks.
adjusted(Format, #{single_line := false, depth := unlimited}) -> Format;
adjusted(Format, #{single_line := true, depth := unlimited}) when is_list(Format) -> unbroken(Format);
adjusted(Format, _) -> Format.

unbroken([$~, $p | T]) -> [$~, $0, $p | unbroken(T)];
unbroken([$~, $t, $p | T]) -> [$~, $0, $t, $p | unbroken(T)];
unbroken([$~, $~ | T]) -> [$~, $~ | unbroken(T)];
unbroken([C | T]) -> [C | unbroken(T)];
unbroken([]) -> [].

limits(#{chars_limit := Limit}) when is_integer(Limit) -> [{chars_limit, Limit}];
limits(_) -> [].

text(Text) ->
    case unicode:characters_to_list(Text) of
        L when is_list(L) -> L;
        _ -> io_lib:format("~tp", [Text])
    end.

one_line(Text, #{single_line := true}) -> joined(string:trim(lists:flatten(Text)));
one_line(Text, _) -> Text.

%% Line breaks with the white space around them become ", ".
joined([$,, $\r, $\n | T]) -> ", " ++ joined(skip(T));
joined([$,, $\n | T]) -> ", " ++ joined(skip(T));
joined([$\r, $\n | T]) -> ", " ++ joined(skip(T));
joined([$\n | T]) -> ", " ++ joined(skip(T));
joined([C | T]) -> [C | joined(T)];
joined([]) -> [].

skip([C | T]) when C =:= $\s; C =:= $\t; C =:= $\n; C =:= $\r -> skip(T);
skip(T) -> T.
