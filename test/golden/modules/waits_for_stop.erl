-module(waits_for_stop).
-export([loop/0]).

loop() ->
    receive stop -> ok end.
