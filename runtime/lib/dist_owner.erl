%% What the process that owns a connection does while that is up: it sends ticks when net_kernel says that it is time, gives the
%% connection up when nothing comes from the other side, and answers questions about the socket. It ends with the connection.
-module(dist_owner).

-export([loop/4]).

-include_lib("kernel/include/dist_util.hrl").

-record(owner, {kernel, node, socket, handle, type, intensity, tick, getstat, setopts, getopts,
                received = 0, sent = 0,  % packets, as of the last tick
                ticks = 0,               % since we began, modulo the intensity
                heard_at = 0}).          % which tick something had come by

loop(#hs_data{} = Hs, Handle, Type, Intensity) ->
    loop(#owner{kernel = Hs#hs_data.kernel_pid, node = Hs#hs_data.other_node, socket = Hs#hs_data.socket, handle = Handle, type = Type,
                intensity = Intensity, tick = Hs#hs_data.mf_tick, getstat = Hs#hs_data.mf_getstat,
                setopts = Hs#hs_data.mf_setopts, getopts = Hs#hs_data.mf_getopts}).

loop(#owner{kernel = Kernel, node = Node, socket = Socket} = O) ->
    receive
        {tcp_closed, Socket} -> ?shutdown2(Node, connection_closed);
        {Kernel, disconnect} -> ?shutdown2(Node, disconnected);
        {Kernel, tick} -> loop(tick(O));
        {Kernel, aux_tick} -> loop(extra_tick(O));
        {From, get_status} ->
            case traffic(O) of
                {ok, Received, Sent, _} -> From ! {self(), get_status, {ok, Received, Sent}};
                _ -> ?shutdown2(Node, get_status_failed)
            end,
            loop(O);
        {From, Ref, {setopts, Options}} ->
            From ! {Ref, options(O#owner.setopts, Socket, Options)},
            loop(O);
        {From, Ref, {getopts, Options}} ->
            From ! {Ref, options(O#owner.getopts, Socket, Options)},
            loop(O)
    end.

options(undefined, _, _) -> {error, enotsup};
options(Function, Socket, Options) -> Function(Socket, Options).

traffic(#owner{getstat = undefined, handle = Handle}) -> erlang:dist_get_stat(Handle);
traffic(#owner{getstat = Getstat, socket = Socket}) -> Getstat(Socket).

%% The other side is given up when nothing came for as many ticks as the intensity says. A tick is sent where nothing else
%% was, and always to a hidden node that says nothing: old ones tick in answer only.
tick(#owner{node = Node, received = Received, ticks = Ticks, heard_at = Heard} = O) ->
    case traffic(O) of
        {ok, Received, _, _} when Heard =:= Ticks + 1 ->
            error_logger:error_msg("** Node ~p not responding **~n** Removing (timedout) connection **~n", [Node]),
            ?shutdown2(Node, net_tick_timeout);
        {ok, NowReceived, NowSent, Pending} ->
            Silent = NowReceived =:= Received,
            Sent = case NowSent =:= O#owner.sent andalso is_empty(Pending) orelse Silent andalso O#owner.type =:= hidden of
                       true -> (O#owner.tick)(O#owner.socket), NowSent + 1;
                       false -> NowSent
                   end,
            O#owner{received = NowReceived, sent = Sent, ticks = (Ticks + 1) rem O#owner.intensity,
                    heard_at = case Silent of true -> Heard; false -> Ticks + 1 end};
        _ -> ?shutdown2(Node, send_net_tick_failed)
    end.

%% While the tick time is being changed: out of turn.
extra_tick(#owner{type = Type} = O) ->
    case traffic(O) of
        {ok, _, _, Pending} -> Type =:= normal andalso not is_empty(Pending) orelse (O#owner.tick)(O#owner.socket);
        _ -> ok
    end,
    O.

is_empty(Pending) -> Pending =:= 0 orelse Pending =:= false.
