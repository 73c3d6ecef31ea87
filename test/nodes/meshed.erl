%% One of many nodes: connects to all that epmd knows when it is told to, and says how many it is connected
%% to.
-module(meshed).
-export([main/1, start/0, hub/1]).

start() -> main(init:get_plain_arguments()).

main(["hub", Count]) -> hub(list_to_integer(Count));
main(["member"]) ->
    register(member, self()),
    {hub, hub@localhost} ! {here, self()},
    member().

member() ->
    receive
        {connect, From, Nodes} ->
            From ! {connected, self(), length([Node || Node <- Nodes, net_adm:ping(Node) =:= pong])},
            member();
        {count, From} ->
            From ! {count, self(), length(nodes())},
            member();
        stop -> halt(0)
    end.

hub(Count) ->
    register(hub, self()),
    io:format("ready~n"),
    Members = [receive {here, Pid} -> Pid end || _ <- lists:seq(1, Count)],
    Nodes = [node(Pid) || Pid <- Members],
    lists:foreach(fun(Pid) -> Pid ! {connect, self(), Nodes} end, Members),
    lists:foreach(fun(Pid) -> receive {connected, Pid, Count} -> ok end end, Members),
    lists:foreach(fun(Pid) -> Pid ! {count, self()} end, Members),
    lists:foreach(fun(Pid) -> receive {count, Pid, Count} -> ok end end, Members),
    Count = length(nodes()),
    Monitors = [monitor(process, Pid) || Pid <- Members],
    lists:foreach(fun(Pid) -> Pid ! stop end, Members),
    lists:foreach(fun(Monitor) -> receive {'DOWN', Monitor, _, _, noconnection} -> ok end end, Monitors),
    io:format("~b members were connected, each to all~n", [Count]),
    halt(0).
