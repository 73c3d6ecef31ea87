%% SPDX-License-Identifier: Apache-2.0
%% Dates and times of the proleptic Gregorian calendar, from year 0. Numbers of weeks, hours that come twice,
%% and reading of RFC 3339 are an installed OTP's.
-module(calendar).

-export([date_to_gregorian_days/1, date_to_gregorian_days/3, datetime_to_gregorian_seconds/1,
         day_of_the_week/1, day_of_the_week/3, gregorian_days_to_date/1, gregorian_seconds_to_datetime/1,
         is_leap_year/1, last_day_of_the_month/2, local_time/0, local_time_to_universal_time/1,
         local_time_to_universal_time/2, now_to_datetime/1, now_to_local_time/1, now_to_universal_time/1,
         seconds_to_daystime/1, seconds_to_time/1, system_time_to_local_time/2, system_time_to_rfc3339/1,
         system_time_to_rfc3339/2, system_time_to_universal_time/2, time_difference/2, time_to_seconds/1,
         universal_time/0, universal_time_to_local_time/1, local_time_to_system_time/1,
         local_time_to_system_time/2, universal_time_to_system_time/1, universal_time_to_system_time/2,
         valid_date/1, valid_date/3,
         '$handle_undefined_function'/2]).

-define(DAY, 86400).
-define(EPOCH_DAYS, 719528).
-define(LAST_DAY, 3652424).  % of the year 9999
-define(EPOCH_SECONDS, 62167219200).

'$handle_undefined_function'(Function, Arguments) -> installed_module:call(?MODULE, Function, Arguments).

is_leap_year(Y) when is_integer(Y), Y >= 0 ->
    Y rem 4 =:= 0 andalso (Y rem 100 =/= 0 orelse Y rem 400 =:= 0).

last_day_of_the_month(Y, M) when is_integer(Y), Y >= 0, is_integer(M), M >= 1, M =< 12 ->
    case M of
        2 -> case is_leap_year(Y) of true -> 29; false -> 28 end;
        _ when M =:= 4; M =:= 6; M =:= 9; M =:= 11 -> 30;
        _ -> 31
    end.

valid_date({Y, M, D}) -> valid_date(Y, M, D).

valid_date(Y, M, D) when is_integer(Y), is_integer(M), is_integer(D) ->
    Y >= 0 andalso M >= 1 andalso M =< 12 andalso D >= 1 andalso D =< last_day_of_the_month(Y, M).

%% Days since 1 January of year 0

date_to_gregorian_days({Y, M, D}) -> date_to_gregorian_days(Y, M, D).

date_to_gregorian_days(Y, M, D) when is_integer(D), D > 0 ->
    Last = last_day_of_the_month(Y, M),
    if D =< Last -> ok end,
    days_before_year(Y) + days_before_month(Y, M) + D - 1.

days_before_year(0) -> 0;
days_before_year(Y) -> Y * 365 + (Y - 1) div 4 - (Y - 1) div 100 + (Y - 1) div 400 + 1.

days_before_month(Y, M) ->
    Leap = case M > 2 andalso is_leap_year(Y) of true -> 1; false -> 0 end,
    element(M, {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}) + Leap.

gregorian_days_to_date(Days) when is_integer(Days), Days >= 0 ->
    Y = year_of(Days, Days div 366),
    {M, D} = month_of(Y, 12, Days - days_before_year(Y)),
    {Y, M, D + 1}.

%% The guess is never too late, and early by few years only once it is redone
%% with the days that are left.
year_of(Days, Guess) ->
    case days_before_year(Guess + 1) =< Days of
        false -> Guess;
        true ->
            Missing = (Days - days_before_year(Guess)) div 366,
            year_of(Days, Guess + max(1, Missing))
    end.

month_of(Y, M, Day) ->
    case days_before_month(Y, M) of
        Before when Before =< Day -> {M, Day - Before};
        _ -> month_of(Y, M - 1, Day)
    end.

day_of_the_week({Y, M, D}) -> day_of_the_week(Y, M, D).

day_of_the_week(Y, M, D) -> (date_to_gregorian_days(Y, M, D) + 5) rem 7 + 1.

%% Seconds

datetime_to_gregorian_seconds({Date, Time}) -> ?DAY * date_to_gregorian_days(Date) + time_to_seconds(Time).

gregorian_seconds_to_datetime(Seconds) when is_integer(Seconds), Seconds >= 0 ->
    {gregorian_days_to_date(Seconds div ?DAY), seconds_to_time(Seconds rem ?DAY)}.

time_to_seconds({H, M, S}) when is_integer(H), is_integer(M), is_integer(S) -> H * 3600 + M * 60 + S.

seconds_to_time(Seconds) when is_integer(Seconds), Seconds >= 0, Seconds < ?DAY ->
    {Seconds div 3600, Seconds rem 3600 div 60, Seconds rem 60}.

seconds_to_daystime(Seconds) when is_integer(Seconds) ->
    Days = floor_div(Seconds, ?DAY),
    {Days, seconds_to_time(Seconds - Days * ?DAY)}.

floor_div(A, B) when A >= 0 -> A div B;
floor_div(A, B) -> -((-A + B - 1) div B).

time_difference(From, To) ->
    seconds_to_daystime(datetime_to_gregorian_seconds(To) - datetime_to_gregorian_seconds(From)).

%% Clocks

local_time() -> erlang:localtime().

universal_time() -> erlang:universaltime().

local_time_to_universal_time(DateTime) -> erlang:localtime_to_universaltime(DateTime).

local_time_to_universal_time(DateTime, Dst) -> erlang:localtime_to_universaltime(DateTime, Dst).

universal_time_to_local_time(DateTime) -> erlang:universaltime_to_localtime(DateTime).

now_to_datetime(Now) -> now_to_universal_time(Now).

now_to_universal_time({Mega, Seconds, _}) ->
    gregorian_seconds_to_datetime(Mega * 1000000 + Seconds + ?EPOCH_SECONDS).

now_to_local_time(Now) -> universal_time_to_local_time(now_to_universal_time(Now)).

system_time_to_universal_time(Time, Unit) ->
    Seconds = erlang:convert_time_unit(Time, Unit, second),
    {Days, DayTime} = seconds_to_daystime(Seconds),
    {gregorian_days_to_date(Days + ?EPOCH_DAYS), DayTime}.

system_time_to_local_time(Time, Unit) ->
    erlang:universaltime_to_localtime(system_time_to_universal_time(Time, Unit)).

local_time_to_system_time(DateTime) -> local_time_to_system_time(DateTime, []).

local_time_to_system_time(DateTime, Options) ->
    universal_time_to_system_time(erlang:localtime_to_universaltime(DateTime), Options).

universal_time_to_system_time(DateTime) -> universal_time_to_system_time(DateTime, []).

universal_time_to_system_time(DateTime, Options) ->
    Unit = proplists:get_value(unit, Options, second),
    erlang:convert_time_unit(erlang:universaltime_to_posixtime(DateTime), second, Unit).

%% RFC 3339

system_time_to_rfc3339(Time) -> system_time_to_rfc3339(Time, []).

system_time_to_rfc3339(Time, Options) ->
    case proplists:get_value(unit, Options, second) of
        native -> rfc3339(erlang:convert_time_unit(Time, native, millisecond), millisecond, Options, Time);
        Unit -> rfc3339(Time, Unit, Options, Time)
    end.

rfc3339(Time, Unit, Options, Given) ->
    Offset0 = proplists:get_value(offset, Options, ""),
    T = proplists:get_value(time_designator, Options, $T),
    PerSecond = per_second(Unit),
    Offset = offset_seconds(Offset0, Time, Unit),
    Seconds = floor_div(Time, PerSecond),
    Fraction = Time - Seconds * PerSecond,
    {Days, {H, Min, S}} = seconds_to_daystime(Seconds + Offset),
    {Y, M, D} = case Days + ?EPOCH_DAYS of
        N when N >= 0, N =< ?LAST_DAY -> gregorian_days_to_date(N);
        _ -> error({badarg, [Given, Options]})
    end,
    lists:flatten([digits(Y, 4), $-, digits(M, 2), $-, digits(D, 2), T,
                   digits(H, 2), $:, digits(Min, 2), $:, digits(S, 2),
                   fraction(Fraction, PerSecond), offset_text(Offset0, Offset)]).

per_second(Unit) -> erlang:convert_time_unit(1, second, Unit).

offset_seconds(Offset, _, Unit) when is_integer(Offset) -> erlang:convert_time_unit(Offset, Unit, second);
offset_seconds("", Time, Unit) ->
    Utc = system_time_to_universal_time(Time, Unit),
    datetime_to_gregorian_seconds(erlang:universaltime_to_localtime(Utc))
        - datetime_to_gregorian_seconds(Utc);
offset_seconds([Z], _, _) when Z =:= $Z; Z =:= $z -> 0;
offset_seconds([Sign, H1, H2, $:, M1, M2], _, _) ->
    Seconds = list_to_integer([H1, H2]) * 3600 + list_to_integer([M1, M2]) * 60,
    case Sign of $- -> -Seconds; $+ -> Seconds end;
offset_seconds(_, _, _) -> error(badarg).

offset_text(Given, _) when is_list(Given), Given =/= "" -> Given;
offset_text(_, Seconds) ->
    Sign = if Seconds < 0 -> $-; true -> $+ end,
    Minutes = abs(Seconds) div 60,
    [Sign, digits(Minutes div 60, 2), $:, digits(Minutes rem 60, 2)].

fraction(_, 1) -> "";
fraction(Fraction, PerSecond) -> [$. | digits(Fraction, length(integer_to_list(PerSecond)) - 1)].

digits(N, Width) ->
    Digits = integer_to_list(N),
    [lists:duplicate(max(0, Width - length(Digits)), $0), Digits].
