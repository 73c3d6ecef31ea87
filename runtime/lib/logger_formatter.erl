%% SPDX-License-Identifier: Apache-2.0
%% Text of a log event. The configuration keys: template, legacy_header,
%% single_line, depth, chars_limit, max_size, report_cb, time_designator,
%% time_offset, error_logger_notice_header.
-module(logger_formatter).

-export([format/2, check_config/1]).

-callback format(Event :: logger:log_event(), Config :: map()) -> unicode:chardata().
-callback check_config(Config :: map()) -> ok | {error, Reason :: term()}.

check_config(Config) when is_map(Config) ->
    case [KV || {Key, Value} = KV <- maps:to_list(Config), not is_valid(Key, Value)] of
        [] -> ok;
        [{template, Template} | _] -> {error, {invalid_formatter_template, ?MODULE, Template}};
        [Bad | _] -> {error, {invalid_formatter_config, ?MODULE, Bad}}
    end;
check_config(Config) -> {error, {invalid_formatter_config, ?MODULE, Config}}.

is_valid(Key, Value) when Key =:= single_line; Key =:= legacy_header -> is_boolean(Value);
is_valid(Key, Value) when Key =:= depth; Key =:= chars_limit; Key =:= max_size ->
    Value =:= unlimited orelse (is_integer(Value) andalso Value > 0);
is_valid(report_cb, F) -> is_function(F, 1) orelse is_function(F, 2);
is_valid(error_logger_notice_header, Value) -> Value =:= info orelse Value =:= notice;
is_valid(template, Template) -> is_template(Template);
is_valid(time_designator, C) -> is_integer(C) andalso C >= 0 andalso C =< 255;
is_valid(time_offset, Offset) ->
    is_integer(Offset) orelse
        (is_list(Offset) andalso re:run(Offset, "^([zZ]|[+-]\\d\\d:\\d\\d)?$", [{capture, none}]) =:= match);
is_valid(_, _) -> false.

is_template([_ | _] = Template) ->
    not io_lib:printable_unicode_list(Template) andalso lists:all(fun is_part/1, Template);
is_template(Template) -> Template =:= [].

is_part({Key, Then, Else}) -> is_key(Key) andalso is_template(Then) andalso is_template(Else);
is_part(Part) -> is_key(Part) orelse io_lib:printable_unicode_list(Part).

is_key([_ | _] = Path) -> lists:all(fun is_atom/1, Path);
is_key(Key) -> is_atom(Key) andalso Key =/= [].

format(#{level := Level, msg := Msg, meta := Meta}, Config0) when is_map(Config0) ->
    Config = at_least_5(legacy(maps:merge(#{single_line => true, legacy_header => false, depth => unlimited,
        chars_limit => unlimited,
                          max_size => unlimited, time_designator => $T, time_offset => "",
                          error_logger_notice_header => info}, Config0))),
    Template = case Config of
                   #{template := T} -> T;
                   #{legacy_header := true} -> [[logger_formatter, header], "\n", msg, "\n"];
                   #{single_line := true} -> [time, " ", level, ": ", msg, "\n"];
                   #{} -> [time, " ", level, ":\n", msg, "\n"]
               end,
    Text = [part(P, Level, Msg, Meta, Config) || P <- Template],
    case Config of
        #{max_size := Size} when is_integer(Size) -> cut(Text, Size);
        #{} -> Text
    end.

at_least_5(#{depth := Depth} = Config) when Depth < 5 -> Config#{depth := 5};
at_least_5(Config) -> Config.

%% The old header is on a line of its own.
legacy(#{legacy_header := true, template := _} = Config) -> Config;
legacy(#{legacy_header := true} = Config) -> Config#{single_line := false};
legacy(Config) -> Config.

%% A line break at the end stays.
cut(Text, Size) ->
    case string:length(Text) > Size of
        true ->
            case lists:suffix("\n", lists:flatten(Text)) of
                true -> [string:slice(Text, 0, Size - 4), "...\n"];
                false -> [string:slice(Text, 0, Size - 3), "..."]
            end;
        false -> Text
    end.

part(level, Level, _, _, _) -> atom_to_list(Level);
part(time, _, _, Meta, Config) -> time_text(Meta, Config);
part(msg, _, Msg, Meta, Config) -> message(Msg, Meta, Config);
part([logger_formatter, header], Level, _, Meta, Config) -> header(Level, Meta, Config);
part({Key, Then, Else}, Level, Msg, Meta, Config) ->
    Parts = case has(Key, Meta) of true -> Then; false -> Else end,
    [part(P, Level, Msg, Meta, Config) || P <- Parts];
part(mfa, _, _, #{mfa := {M, F, A}}, _) when is_atom(M), is_atom(F), is_list(A) ->
    value({ok, {M, F, length(A)}}, #{});
part(Key, _, _, Meta, Config) when is_atom(Key) -> value(find([Key], Meta), Config);
part([Key | _] = Path, _, _, Meta, Config) when is_atom(Key) -> value(find(Path, Meta), Config);
part(Text, _, _, _, _) -> Text.

has(Key, _) when Key =:= msg; Key =:= level -> true;
has(Key, Meta) when is_atom(Key) -> is_map_key(Key, Meta);
has(Path, Meta) -> find(Path, Meta) =/= error.

find([Key | Path], Map) when is_map(Map), is_map_key(Key, Map) -> find(Path, map_get(Key, Map));
find([], Value) -> {ok, Value};
find(_, _) -> error.

value(error, _) -> "";
value({ok, {M, F, A}}, _) when is_atom(M), is_atom(F), is_integer(A) ->
    io_lib:format("~tw:~tw/~w", [M, F, A]);
value({ok, Value}, _) when is_atom(Value) -> atom_to_list(Value);
value({ok, Value}, _) when is_pid(Value) -> pid_to_list(Value);
value({ok, Value}, _) when is_integer(Value) -> integer_to_list(Value);
value({ok, [_ | _] = Value}, Config) ->
    case io_lib:printable_unicode_list(Value) of
        true -> Value;
        false -> term(Value, Config)
    end;
value({ok, Value}, _) when is_binary(Value) -> Value;
value({ok, Value}, Config) -> term(Value, Config).

term(Value, #{single_line := true}) -> io_lib:format("~0tp", [Value]);
term(Value, _) -> io_lib:format("~tp", [Value]).

%% =ERROR REPORT==== 21-Nov-2026::02:30:00.000000 ===
header(Level, Meta, Config) ->
    {{Y, Mo, D}, {H, Mi, S}, Micro} = local(maps:get(time, Meta, logger:timestamp())),
    Month = element(Mo, {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}),
    io_lib:format("=~ts==== ~w-~s-~4..0w::~2..0w:~2..0w:~2..0w.~6..0w ===", [title(Level, Meta, Config), D,
        Month, Y, H, Mi, S, Micro]).

title(_, #{logger_formatter := #{title := Title}}, _) -> Title;
title(notice, #{error_logger := #{tag := Tag}}, #{error_logger_notice_header := info})
  when Tag =:= info_msg; Tag =:= info_report; Tag =:= info -> "INFO REPORT";
title(Level, _, _) -> [string:to_upper(atom_to_list(Level)), " REPORT"].

local(Time) ->
    Micro = ((Time rem 1000000) + 1000000) rem 1000000,
    {Date, Clock} = calendar:system_time_to_local_time(Time, microsecond),
    {Date, Clock, Micro}.

time_text(Meta, #{time_designator := Designator, time_offset := Offset}) ->
    calendar:system_time_to_rfc3339(maps:get(time, Meta, logger:timestamp()),
                                    [{unit, microsecond}, {offset, Offset}, {time_designator, Designator}]).

%% Messages

message({string, Text}, Meta, Config) -> message({"~ts", [Text]}, Meta, Config);
message({report, Report}, Meta, Config) ->
    Cb = maps:get(report_cb, Config, maps:get(report_cb, Meta, fun logger:format_report/1)),
    {Name, Call} = if
                       is_function(Cb, 1) -> {"REPORT_CB/1", fun() -> Cb(Report) end};
                       true -> {"REPORT_CB/2",
                           fun() -> Cb(Report, maps:with([depth, chars_limit, single_line], Config)) end}
                   end,
    try {Name, Call()} of
        {"REPORT_CB/1", {Format, Args}} when is_list(Format), is_list(Args) ->
            message({Format, Args}, Meta, Config);
        {"REPORT_CB/2", Text} when is_list(Text); is_binary(Text) ->
            case catch unicode:characters_to_list(Text) of
                Chars when is_list(Chars) -> one_line(Chars, Config);
                _ -> callback_failed(Name, Report, "Returned", Text, Meta, Config)
            end;
        {_, Other} -> callback_failed(Name, Report, "Returned", Other, Meta, Config)
    catch
        Class:Reason:Stack ->
            Own = logger:filter_stacktrace(?MODULE, Stack),
            callback_failed(Name, Report, "Reason", {Class, Reason, Own}, Meta, Config)
    end;
message({Format, Args}, _, Config) ->
    Text = try io_lib:build_text(adjusted(io_lib:scan_format(Format, Args), Config), limits(Config))
           catch _:_ -> io_lib:build_text(adjusted(io_lib:scan_format("FORMAT ERROR: ~tp - ~tp",
               [Format, Args]), Config))
           end,
    one_line(Text, Config).

callback_failed(Name, Report, What, Why, Meta, Config) ->
    Kind = case What of "Reason" -> "CRASH"; "Returned" -> "ERROR" end,
    message({Name ++ " " ++ Kind ++ ": ~tp; " ++ What ++ ": ~tp", [Report, Why]}, Meta, Config).

%% On a single line terms are printed without breaks; a depth holds for every term that has none of its own.
adjusted(Parts, #{single_line := false, depth := unlimited}) -> Parts;
adjusted(Parts, Config) -> [adjusted_part(Part, Config) || Part <- Parts].

adjusted_part(#{control_char := C} = Part, Config) when C =:= $p; C =:= $P ->
    deep(flat(Part, Config), Config);
adjusted_part(#{control_char := $w} = Part, Config) -> deep(Part, Config);
adjusted_part(Part, _) -> Part.

flat(Part, #{single_line := true}) -> Part#{width => 0};
flat(Part, _) -> Part.

deep(#{control_char := C, args := [Term]} = Part, #{depth := Depth}) when is_integer(Depth) ->
    Part#{control_char := C - $a + $A, args := [Term, Depth]};
deep(Part, _) -> Part.

limits(#{chars_limit := Limit}) when is_integer(Limit) -> [{chars_limit, Limit}];
limits(_) -> [].

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
