%% The other node of a test: says "ready" and serves until it is told to stop, or its standard input ends.
-module(other_node).
-export([main/1, start/0, echo/0, linked/2, print/1, lend/1]).

start() -> main([]).

main(_) ->
    register(other_node, self()),
    register(echo, spawn_link(fun echo/0)),
    io:format("ready~n"),
    receive stop -> ok end.

%% Answers what it gets, with its own pid.
echo() ->
    receive
        {From, Message} -> From ! {self(), Message};
        {From, Ref, size, Message} -> From ! {Ref, iolist_size(Message)}
    end,
    echo().

%% Links to a process and waits for whatever comes of it.
linked(Pid, Tell) ->
    process_flag(trap_exit, true),
    link(Pid),
    Tell ! {linked, self()},
    receive {'EXIT', Pid, Reason} -> Tell ! {exited, Reason} end.

%% A fun, and who has made it.
lend(X) -> {self(), fun(Y) -> {X, Y, node()} end}.

print(Text) -> io:format("~s from ~p~n", [Text, node()]).
