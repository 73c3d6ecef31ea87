%% What runs on the other node in the measurements of nodes.
-module(remote).
-export([echo/1, hello/2, sink/2, echo_loop/0, sink_loop/3]).

echo(Node) -> spawn(Node, ?MODULE, echo_loop, []).

echo_loop() ->
    receive {From, N} -> From ! {self(), N} end,
    echo_loop().

hello(To, N) -> To ! {self(), N}.

%% Counts messages that are Data, and others.
sink(Node, Data) -> spawn(Node, ?MODULE, sink_loop, [Data, 0, 0]).

sink_loop(Data, Right, Wrong) ->
    receive
        {stop, From} -> From ! {self(), Right, Wrong};
        Data -> sink_loop(Data, Right + 1, Wrong);
        _ -> sink_loop(Data, Right, Wrong + 1)
    end.
