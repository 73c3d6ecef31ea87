%% SPDX-License-Identifier: Apache-2.0
%% `vmtrace --node NODE`: a machine of the cluster is traced over the cluster's own connections.
%% vmtrace starts a hidden node here, whose program is main/1; that starts serve/1 on the other node,
%% which starts `vmtrace --relay` beside its machine. What those two say to each other goes through
%% unseen; that it is never too much at once is their business.
-module(vmrun_trace_node).
-export([main/1, serve/1]).

%% vmtrace's end of the stream: the descriptors 3 and 4.
main([Name]) ->
    Node = list_to_atom(Name),
    case net_kernel:connect_node(Node) of
        true -> trace(Node);
        _ -> fail("~ts cannot be reached: it is not up, or has another cookie", [Name])
    end.

trace(Node) ->
    Self = self(),
    {Server, Monitor} = spawn_opt(Node, ?MODULE, serve, [Self], [monitor]),
    receive
        {Server, ready} ->
            process_flag(trap_exit, true),
            relay(Server, Monitor, open_port({fd, 3, 4}, [stream, binary, eof]));
        {'DOWN', Monitor, process, _, Reason} -> fail("~ts: ~ts", [Node, why(Reason)])
    end.

%% A vmtrace that has ended with bytes unread ends the port with an error; also that is its end.
relay(Server, Monitor, Port) ->
    case pass(Server, Monitor, Port) of
        eof -> halt(0);
        noconnection -> fail("the connection to ~ts is gone", [node(Server)]);
        Reason -> fail("~ts: ~ts", [node(Server), why(Reason)])
    end.

why(refused) -> "it is not to be traced by other nodes (-vmtrace off)";
why({no_vmtrace, File}) -> io_lib:format("there is no ~ts", [File]);
why({relay, Status}) -> io_lib:format("vmtrace ended there with status ~w", [Status]);
why({undef, [{?MODULE, serve, _, _} | _]}) -> "it is no vmrun, or one of another version";
why(Reason) -> io_lib:format("~p", [Reason]).

fail(Format, Arguments) ->
    io:format(standard_error, "vmtrace: " ++ Format ++ "~n", Arguments),
    halt(1).

%% On the node that is traced; Client: the process of main there.
serve(Client) ->
    case init:get_argument(vmtrace) of
        {ok, [["off"] | _]} -> exit(refused);
        _ -> serve(Client, relay_program())
    end.

serve(Client, Program) ->
    Monitor = monitor(process, Client),
    Port = open_port({spawn_executable, Program}, [{args, ["--relay", os:getpid()]}, stream, binary,
        exit_status]),
    Client ! {self(), ready},
    case pass(Client, Monitor, Port) of
        {exit_status, 0} -> ok;
        {exit_status, Status} -> exit({relay, Status});
        _ -> ok  % nobody is there any more; the port goes with this process, and the relay with it
    end.

%% Beside the machine's own program.
relay_program() ->
    {ok, Machine} = file:read_link_all("/proc/self/exe"),
    File = filename:join(filename:dirname(Machine), "vmtrace"),
    filelib:is_regular(File) orelse exit({no_vmtrace, File}),
    File.

%% Bytes of the port go to Other, its bytes to the port, until one of them ends.
pass(Other, Monitor, Port) ->
    receive
        {Port, {data, Bytes}} ->
            Other ! {self(), bytes, Bytes},
            pass(Other, Monitor, Port);
        {Other, bytes, Bytes} ->
            try port_command(Port, Bytes) catch error:badarg -> closed end,
            pass(Other, Monitor, Port);
        {Port, eof} -> eof;
        {'EXIT', Port, _} -> eof;
        {Port, {exit_status, Status}} -> {exit_status, Status};
        {'DOWN', Monitor, process, _, Reason} -> Reason
    end.
