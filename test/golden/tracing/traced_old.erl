%% Calls its own functions in the version of its code that it began in.
-module(traced_old).
-export([loop/0, inner/1]).

loop() ->
    receive
        {From, X} -> From ! {self(), outer(X)}, loop();
        stop -> ok
    end.

outer(X) -> [inner(X), traced_old:inner(X)].

inner(X) -> [X].
