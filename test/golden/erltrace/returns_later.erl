%% A module that gets another version while its function is called.
-module(returns_later).
-export([waits/1, calls/1, last/1]).

calls(To) -> waits(To).

waits(To) ->
    To ! {self(), waits},
    receive go -> done end.

last(F) -> F().
