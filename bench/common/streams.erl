%% Connections for the measurements of sockets: both ends in this machine, by TCP over 127.0.0.1.
-module(streams).
-export([echo/2, pairs/2, listen/1, connect/2]).

listen(Options) ->
    {ok, L} = gen_tcp:listen(0, [binary, {ip, {127, 0, 0, 1}}, {active, false}, {backlog, 1024},
        {nodelay, true} | Options]),
    {ok, Port} = inet:port(L),
    {L, Port}.

connect(Port, Options) ->
    {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}, {nodelay, true} | Options]),
    S.

%% A server process for each connection, and a client that is told when to begin.
pairs(Count, Options) ->
    {L, Port} = listen(Options),
    Pairs = [begin
                 C = connect(Port, Options),
                 {ok, S} = gen_tcp:accept(L),
                 {C, S}
             end || _ <- lists:seq(1, Count)],
    ok = gen_tcp:close(L),
    Pairs.

%% So many connections send a message and wait for it to come back, so often each.
echo(Connections, Times) ->
    Self = self(),
    Clients = [begin
                   Server = spawn_link(fun() -> receive go -> serve(S) end end),
                   ok = gen_tcp:controlling_process(S, Server),
                   Server ! go,
                   Client = spawn_link(fun() -> receive go -> ok end, ask(C, Times), Self ! done,
                       receive stop -> ok end end),
                   ok = gen_tcp:controlling_process(C, Client),
                   Client
               end || {C, S} <- pairs(Connections, [{packet, 4}])],
    bench:run(fun() ->
                  [Pid ! go || Pid <- Clients],
                  [receive done -> ok end || _ <- Clients],
                  done
              end).

serve(S) ->
    ok = inet:setopts(S, [{active, true}]),
    answer(S).

answer(S) ->
    receive
        {tcp, S, Data} -> ok = gen_tcp:send(S, Data), answer(S);
        {tcp_closed, S} -> ok
    end.

ask(C, Times) ->
    ok = inet:setopts(C, [{active, true}]),
    ask_again(C, Times).

ask_again(_, 0) -> ok;
ask_again(C, N) ->
    ok = gen_tcp:send(C, <<"hello, is there anybody?">>),
    receive {tcp, C, _} -> ask_again(C, N - 1) end.
