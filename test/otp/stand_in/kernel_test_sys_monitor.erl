%% See kernel_test_global_sys_monitor.
-module(kernel_test_sys_monitor).
-export([start/0, stop/0]).

start() -> {ok, self()}.
stop() -> ok.
