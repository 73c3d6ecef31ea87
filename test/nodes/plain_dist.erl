%% A distribution module whose connections are carried by a driver of its own, plain_drv. The handshake goes
%% over the socket that the driver then reads and writes.
-module(plain_dist).
-export([listen/2, accept/1, accept_connection/5, setup/5, close/1, select/1, address/0, is_node_name/1]).
-export([accepted/5, connecting/5, statistics/1, tick/1]).
-include_lib("kernel/include/dist_util.hrl").
-include_lib("kernel/include/net_address.hrl").

listen(Name, Host) -> inet_tcp_dist:listen(Name, Host).
accept(Listen) -> inet_tcp_dist:accept(Listen).
close(Socket) -> inet_tcp_dist:close(Socket).
select(Node) -> inet_tcp_dist:select(Node).
address() -> inet_tcp_dist:address().
is_node_name(Node) -> inet_tcp_dist:is_node_name(Node).

accept_connection(Acceptor, Socket, Own, Allowed, Timeout) ->
    spawn_opt(?MODULE, accepted, [{self(), Own, Timeout}, Acceptor, Socket, Allowed, none],
        dist_util:net_ticker_spawn_options()).

accepted({Kernel, Own, Timeout}, Acceptor, Socket, Allowed, none) ->
    receive {Acceptor, controller} -> ok end,
    Hs = handshake(Kernel, Own, Socket, dist_util:start_timer(Timeout)),
    dist_util:handshake_other_started(Hs#hs_data{allowed = Allowed}).

setup(Node, Type, Own, Names, Timeout) ->
    spawn_opt(?MODULE, connecting, [{self(), Own, Timeout}, Node, Type, Names, none],
        dist_util:net_ticker_spawn_options()).

connecting({Kernel, Own, Timeout}, Node, Type, _Names, none) ->
    [Name, Host] = string:split(atom_to_list(Node), "@"),
    Timer = dist_util:start_timer(Timeout),
    {ok, Address} = inet:getaddr(Host, inet),
    {port, Port, Version} = erl_epmd:port_please(Name, Address),
    {ok, Socket} = gen_tcp:connect(Address, Port, [{active, false}, {packet, 2}, {nodelay, true}]),
    Hs = handshake(Kernel, Own, Socket, Timer),
    dist_util:handshake_we_started(Hs#hs_data{other_node = Node, other_version = Version, request_type
        = Type}).

handshake(Kernel, Own, Socket, Timer) ->
    #hs_data{kernel_pid = Kernel, this_node = Own, socket = Socket, timer = Timer, this_flags = 0,
             f_send = fun gen_tcp:send/2, f_recv = fun gen_tcp:recv/3,
             f_setopts_pre_nodeup = fun(S) -> inet:setopts(S, [{packet, raw}, binary]) end,
             f_getll = fun carrier/1,
             f_setopts_post_nodeup = fun begin_to_read/1,
             f_address = fun address_of/2,
             mf_tick = fun ?MODULE:tick/1, mf_getstat = fun ?MODULE:statistics/1}.

carrier(Socket) ->
    case erl_ddll:load(filename:dirname(code:which(?MODULE)), "plain_drv") of
        ok -> ok;
        {error, permanent} -> ok
    end,
    {ok, Descriptor} = prim_inet:getfd(Socket),
    Port = open_port({spawn_driver, "plain_drv " ++ integer_to_list(Descriptor)}, [binary]),
    put(carrier, Port),
    {ok, Port}.

%% What of it the socket has read, behind the handshake, comes first.
begin_to_read(Socket) ->
    Rest = case gen_tcp:recv(Socket, 0, 0) of
        {ok, Bytes} -> Bytes;
        {error, timeout} -> <<>>
    end,
    [] = port_control(get(carrier), 0, Rest),
    ok.

address_of(Socket, Node) ->
    {ok, Address} = inet:peername(Socket),
    [_, Host] = string:split(atom_to_list(Node), "@"),
    #net_address{address = Address, host = Host, protocol = plain, family = inet}.

statistics(_) ->
    {input, In} = erlang:port_info(get(carrier), input),
    {output, Out} = erlang:port_info(get(carrier), output),
    {ok, In, Out, 0}.

tick(_) ->
    try erlang:port_command(get(carrier), [], [force]) of true -> ok
    catch error:badarg -> {error, closed}
    end.
