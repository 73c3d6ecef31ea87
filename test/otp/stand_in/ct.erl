%% What suites call in common_test. Nothing is logged; what ends or skips a case is an exit that run_suite.act knows.
-module(ct).
-export([fail/1, fail/2, abort_current_testcase/1, other_node/0, get_progname/0,
         pal/1, pal/2, pal/3, pal/4, log/1, log/2, log/3, log/4, print/1, print/2, comment/1, comment/2,
         sleep/1, timetrap/1, get_timetrap_info/0, get_config/1, get_config/2, get_config/3, require/1, require/2,
         capture_start/0, capture_stop/0, capture_get/0, capture_get/1]).

fail(Reason) -> exit({test_case_failed, Reason}).
fail(Format, Args) -> fail(lists:flatten(io_lib:format(Format, Args))).
abort_current_testcase(Reason) -> fail(Reason).
other_node() -> exit({skipped, no_other_nodes}).

get_progname() ->
    {ok, [[Program]]} = init:get_argument(progname),
    Program.

pal(_) -> ok.
pal(_, _) -> ok.
pal(_, _, _) -> ok.
pal(_, _, _, _) -> ok.
log(_) -> ok.
log(_, _) -> ok.
log(_, _, _) -> ok.
log(_, _, _, _) -> ok.
print(_) -> ok.
print(_, _) -> ok.
comment(_) -> ok.
comment(_, _) -> ok.

sleep({seconds, N}) -> timer:sleep(N * 1000);
sleep({minutes, N}) -> timer:sleep(N * 60000);
sleep(Time) -> timer:sleep(Time).

timetrap(_) -> ok.
get_timetrap_info() -> {60000, {false, 1}}.
get_config(_) -> undefined.
get_config(_, Default) -> Default.
get_config(_, Default, _) -> Default.
require(_) -> ok.
require(_, _) -> ok.

capture_start() -> exit({skipped, no_capture}).
capture_stop() -> ok.
capture_get() -> [].
capture_get(_) -> [].
