-module(counts_down).
-export([run/1]).
run(0) -> done;
run(N) -> run(N - 1).
