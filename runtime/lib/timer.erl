%% SPDX-License-Identifier: Apache-2.0
%% Timers and times. A timer that sends a message once is the machine's own;
%% one that repeats, or calls a function, is a small process of its own.
-module(timer).

-export([apply_after/2, apply_after/3, apply_after/4, apply_interval/2, apply_interval/3, apply_interval/4,
         apply_repeatedly/2, apply_repeatedly/3, apply_repeatedly/4, send_after/2, send_after/3,
         send_interval/2, send_interval/3, exit_after/2, exit_after/3, kill_after/1, kill_after/2, cancel/1,
         sleep/1, tc/1, tc/2, tc/3, tc/4, now_diff/2, seconds/1, minutes/1, hours/1, hms/3,
         start/0]).
-export([interval_process/5]).

%% Timers are processes or references, so there is no server to start.
start() -> ok.

%% The longest time a receive can wait
-define(LONGEST, 16#FFFFFFFF).

sleep(T) when is_integer(T), T > ?LONGEST ->
    receive after ?LONGEST -> sleep(T - ?LONGEST) end;
sleep(T) ->
    receive after T -> ok end.

%% Sending

send_after(Time, Message) -> send_after(Time, self(), Message).

send_after(Time, Dest, Message) when is_integer(Time), Time >= 0 ->
    case is_destination(Dest) of
        true when Time =:= 0 ->
            catch receiver(Dest) ! Message,
            {ok, {instant, make_ref()}};
        true when is_pid(Dest) -> {ok, {send_local, erlang:send_after(Time, Dest, Message)}};
        true -> {ok, {once, erlang:send_after(Time, receiver(Dest), Message)}};
        false -> {error, badarg}
    end;
send_after(_, _, _) -> {error, badarg}.

is_destination({Name, Node}) -> is_atom(Name) andalso Node =:= node();
is_destination(Dest) -> is_pid(Dest) orelse is_atom(Dest).

receiver({Name, _}) -> Name;
receiver(Dest) -> Dest.

kind(0) -> instant;
kind(_) -> once.

send_interval(Time, Message) -> send_interval(Time, self(), Message).

send_interval(Time, Dest, Message) when is_integer(Time), Time >= 0 ->
    Receiver = receiver(Dest),
    Owner = if is_pid(Receiver) -> Receiver; is_atom(Receiver) -> whereis(Receiver); true -> undefined end,
    case is_destination(Dest) andalso is_pid(Owner) of
        true -> interval(Time, Owner, fun() -> Owner ! Message end, self);
        false -> {error, badarg}
    end;
send_interval(_, _, _) -> {error, badarg}.

%% Calling

apply_after(Time, F) -> apply_after(Time, F, []).

apply_after(Time, F, Args) when is_integer(Time), Time >= 0, is_function(F, length(Args)) ->
    {ok, {kind(Time), spawn(fun() -> wait_and_call(Time, fun() -> apply(F, Args) end) end)}};
apply_after(_, _, _) -> {error, badarg}.

apply_after(Time, M, F, Args) when is_integer(Time), Time >= 0, is_atom(M), is_atom(F), is_list(Args) ->
    {ok, {kind(Time), spawn(fun() -> wait_and_call(Time, fun() -> apply(M, F, Args) end) end)}};
apply_after(_, _, _, _) -> {error, badarg}.

wait_and_call(Time, F) ->
    receive {cancel, From, Ref} -> From ! {Ref, ok}
    after Time -> F()
    end.

apply_interval(Time, F) -> apply_interval(Time, F, []).

apply_interval(Time, F, Args) when is_integer(Time), Time >= 0, is_function(F, length(Args)) ->
    interval(Time, self(), fun() -> apply(F, Args) end, spawn);
apply_interval(_, _, _) -> {error, badarg}.

apply_interval(Time, M, F, Args) when is_integer(Time), Time >= 0, is_atom(M), is_atom(F), is_list(Args) ->
    interval(Time, self(), fun() -> apply(M, F, Args) end, spawn);
apply_interval(_, _, _, _) -> {error, badarg}.

apply_repeatedly(Time, F) -> apply_repeatedly(Time, F, []).

apply_repeatedly(Time, F, Args) when is_integer(Time), Time >= 0, is_function(F, length(Args)) ->
    interval(Time, self(), fun() -> apply(F, Args) end, wait);
apply_repeatedly(_, _, _) -> {error, badarg}.

apply_repeatedly(Time, M, F, Args) when is_integer(Time), Time >= 0, is_atom(M), is_atom(F), is_list(Args) ->
    interval(Time, self(), fun() -> apply(M, F, Args) end, wait);
apply_repeatedly(_, _, _, _) -> {error, badarg}.

exit_after(Time, Reason) -> exit_after(Time, self(), Reason).

exit_after(Time, Dest, Reason) ->
    case is_destination(Dest) of
        true -> apply_after(Time, fun() -> exit_process(receiver(Dest), Reason) end);
        false -> {error, badarg}
    end.

exit_process(Pid, Reason) when is_pid(Pid) -> exit(Pid, Reason);
exit_process(Name, Reason) ->
    case whereis(Name) of
        undefined -> ok;
        Pid -> exit(Pid, Reason)
    end.

kill_after(Time) -> exit_after(Time, self(), kill).

kill_after(Time, Pid) -> exit_after(Time, Pid, kill).

%% The process of an interval timer ends with the process it serves. Ticks are
%% at fixed times, however long an action takes. How: self runs the action in
%% the timer process, spawn in a new one each time, wait in a new one too, but
%% no tick while the last one's is running.
interval(Time, Owner, Action, How) ->
    Start = erlang:monotonic_time(millisecond),
    {ok, {interval, spawn(?MODULE, interval_process, [Start, Time, Owner, Action, How])}}.

interval_process(Start, Time, Owner, Action, How) ->
    tick(Start + Time, Time, monitor(process, Owner), Action, How).

tick(At, Time, Monitor, Action, How) ->
    receive
        {cancel, From, Ref} -> From ! {Ref, ok};
        {'DOWN', Monitor, _, _, _} -> ok
    after max(0, At - erlang:monotonic_time(millisecond)) ->
            case How of
                self -> Action();
                spawn -> spawn(Action);
                wait ->
                    {_, Running} = spawn_monitor(Action),
                    receive {'DOWN', Running, _, _, _} -> ok end
            end,
            tick(At + Time, Time, Monitor, Action, How)
    end.

cancel({Kind, Timer}) ->
    case lists:member(Kind, [instant, once, interval, send_local]) of
        true -> cancel_timer(Timer);
        false -> {error, badarg}
    end;
cancel(_) -> {error, badarg}.

cancel_timer(Timer) when is_reference(Timer) ->
    _ = erlang:cancel_timer(Timer),
    {ok, cancel};
cancel_timer(Pid) when is_pid(Pid) ->
    Ref = monitor(process, Pid),
    Pid ! {cancel, self(), Ref},
    receive
        {Ref, ok} -> demonitor(Ref, [flush]);
        {'DOWN', Ref, _, _, _} -> ok
    end,
    {ok, cancel};
cancel_timer(_) -> {error, badarg}.

%% Measuring: {Time, Value}

tc(F) ->
    Start = erlang:monotonic_time(),
    Value = F(),
    {elapsed(Start, microsecond), Value}.

tc(F, Unit) when is_function(F, 0), is_atom(Unit) ->
    Start = erlang:monotonic_time(),
    Value = F(),
    {elapsed(Start, Unit), Value};
tc(F, Args) ->
    Start = erlang:monotonic_time(),
    Value = apply(F, Args),
    {elapsed(Start, microsecond), Value}.

tc(F, Args, Unit) when is_function(F), is_list(Args) ->
    Start = erlang:monotonic_time(),
    Value = apply(F, Args),
    {elapsed(Start, Unit), Value};
tc(M, F, Args) -> tc(M, F, Args, microsecond).

tc(M, F, Args, Unit) ->
    Start = erlang:monotonic_time(),
    Value = apply(M, F, Args),
    {elapsed(Start, Unit), Value}.

elapsed(Start, Unit) ->
    erlang:convert_time_unit(erlang:monotonic_time() - Start, native, Unit).

%% Microseconds from T1 to T2
now_diff({A2, B2, C2}, {A1, B1, C1}) -> ((A2 - A1) * 1000000 + B2 - B1) * 1000000 + C2 - C1.

%% Milliseconds

seconds(N) -> 1000 * N.
minutes(N) -> 60000 * N.
hours(N) -> 3600000 * N.
hms(H, M, S) -> hours(H) + minutes(M) + seconds(S).
