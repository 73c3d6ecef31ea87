%% When connections are looked at. A process tells net_kernel so at even intervals; a connection from which nothing comes for
%% the tick time is given up. While the tick time is changed, extra ticks go out, for the other nodes are changed later.
-module(net_ticker).

-export([start/1, time/1, intensity/1, change/3, changed/1, ended/3]).
-export([loop/2, extra/3]).

-record(ticks, {process, time, intensity,  % milliseconds; how many ticks in that time
                changing = no}).           % no | longer | shorter

start(#{net_ticktime := Time, net_tickintensity := Intensity}) -> restart(#ticks{time = Time, intensity = Intensity}).

restart(#ticks{time = Time, intensity = Intensity} = T) ->
    T#ticks{process = spawn_opt(?MODULE, loop, [self(), Time div Intensity], [link, {priority, max}])}.

time(#ticks{time = Time, changing = no}) -> Time;
time(#ticks{time = Time}) -> {ongoing_change_to, Time}.

intensity(#ticks{intensity = Intensity}) -> Intensity.

%% {Answer, Ticks}. A longer time counts at once, a shorter one after the transition.
change(_, _, #ticks{changing = How} = T) when How =/= no -> {time(T), T};
change(Wanted, Transition, #ticks{process = Process, time = Old, intensity = Intensity} = T) ->
    case max(1, (Wanted + Intensity - 1) div Intensity) of
        Interval when Interval * Intensity =:= Old -> {unchanged, T};
        Interval ->
            spawn_opt(?MODULE, extra, [self(), min(Interval, Old div Intensity), Transition], [link, {priority, max}]),
            How = case Interval * Intensity > Old of
                      true -> Process ! {interval, Interval}, longer;
                      false -> shorter
                  end,
            {change_initiated, T#ticks{time = Interval * Intensity, changing = How}}
    end.

changed(#ticks{process = Process, time = Time, intensity = Intensity, changing = How} = T) ->
    How =:= shorter andalso (Process ! {interval, Time div Intensity}),
    T#ticks{changing = no}.

ended(Process, _, #ticks{process = Process} = T) ->
    self() ! aux_tick,
    restart(T);
ended(_, _, T) -> T.

loop(Kernel, Interval) ->
    receive {interval, New} -> ?MODULE:loop(Kernel, New)
    after Interval ->
        Kernel ! tick,
        ?MODULE:loop(Kernel, Interval)
    end.

extra(Kernel, Interval, Left) when Left > 0 ->
    Kernel ! aux_tick,
    receive after Interval -> extra(Kernel, Interval, Left - Interval) end;
extra(Kernel, _, _) ->
    Kernel ! transition_period_end,
    Kernel ! aux_tick.
