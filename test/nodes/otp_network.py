# SPDX-License-Identifier: Apache-2.0
"""The network as OTP's own modules have it, byte for byte those of an installed kernel, on our drivers and
native functions."""
import functools
import pathlib
import shutil

from harness.golden import stock_release
from harness.results import Skip, Test
from nodes.cluster import Cluster, expect_end

MODULES = (
    'inet',
    'inet_*',
    'inet6_*',
    'gen_tcp',
    'gen_tcp_*',
    'gen_udp',
    'gen_udp_*',
    'local_*',
    'socket',
    'net',
    'net_*',
    'erl_epmd',
    'erl_distribution',
    'auth',
    'dist_util',
    'erpc',
    'rpc',
)
# What the application kernel does when it starts.
START = """
    {ok, _} = inet_db:start(), ok = inet_config:init(),
    [true = lists:prefix(filename:absname("otp"), filename:absname(code:which(M)))
        || M <- [inet, gen_tcp, gen_udp, socket, net_kernel, dist_util, inet_tcp_dist, erl_epmd]],"""


def tests(vmrun):
    return [
        Test('nodes', f"OTP's own network modules: {name}", functools.partial(function, vmrun))
        for name, function in (
            ('sockets', sockets),
            ('a member of a cluster', member),
            ('the whole system', whole_system),
            ('global waits for nobody', global_names),
        )
    ]


class Kernel(Cluster):
    """With the modules in a folder `otp`."""

    def __enter__(self):
        found = sorted(pathlib.Path('/usr/lib/erlang/lib').glob('kernel-*/ebin'))
        if not found:
            raise Skip("no kernel of OTP's in /usr/lib/erlang")
        super().__enter__()
        (self.folder / 'otp').mkdir()
        for pattern in MODULES:
            for beam in found[-1].glob(pattern + '.beam'):
                shutil.copy(beam, self.folder / 'otp')
        return self

    def run(self, text):
        return self.evaluate('vmrun', 'with_otp', START + text, named=False, flags=['-pa', 'otp'])


def sockets(vmrun):
    with Kernel(vmrun) as cluster:
        expect_end(
            cluster.run(
                """
            Echo = fun Echo(S) -> case gen_tcp:recv(S, 0) of {ok, Bytes} -> ok = gen_tcp:send(S, Bytes),
                Echo(S); {error, closed} -> ok end end,
            [begin
                 {ok, L} = gen_tcp:listen(0, Backend ++ [binary, {packet, 4}, {active, false},
                     {ip, {127, 0, 0, 1}}]),
                 {ok, Port} = inet:port(L),
                 {Server, Monitor} = spawn_monitor(fun() -> {ok, S} = gen_tcp:accept(L), Echo(S) end),
                 {ok, C} = gen_tcp:connect("localhost", Port, Backend ++ [binary, {packet, 4},
                     {active, true}]),
                 [begin ok = gen_tcp:send(C, <<N:32>>), receive {tcp, C, <<N:32>>} -> ok end end
                     || N <- lists:seq(1, 100)],
                 {ok, [{recv_cnt, Reads}, {send_cnt, 100}]} = inet:getstat(C, [recv_cnt, send_cnt]),
                 ok = gen_tcp:close(C),
                 receive {'DOWN', Monitor, process, Server, normal} -> io:format("~p closed~n", [Backend]) end
             % before OTP 27 that one reads length and packet apart
             end || {Backend, Reads} <- [{[], 100}, {[{inet_backend, socket}], READS}]],
            {ok, U} = gen_udp:open(0, [binary]), {ok, At} = inet:port(U),
            ok = gen_udp:send(U, localhost, At, <<"to myself">>),
            receive {udp, U, {127, 0, 0, 1}, At, <<"to myself">>} -> io:format("datagram~n") end,
            {ok, {hostent, "localhost", _, inet, 4, [{127, 0, 0, 1} | _]}} = inet:gethostbyname("localhost"),
            {ok, K} = socket:open(inet, stream, tcp), {ok, stream} = socket:getopt(K, socket, type),
                ok = socket:close(K),
            halt(0)""".replace(
                    'READS', '200' if stock_release() < 27 else '100'
                )
            ),
            0,
            r'\[\] closed',
            'socket}] closed',
            'datagram',
        )


def member(vmrun):
    with Kernel(vmrun) as cluster:
        peers = [cluster.peer(kind, f'peer_{kind}').full for kind in ('erl', 'vmrun')]
        expect_end(
            cluster.run(
                f"""
            {{ok, _}} = erl_distribution:start_link(#{{name => with_otp@localhost, name_domain => shortnames,
                clean_halt => false, net_ticktime => 60,
                                                     net_tickintensity => 4, supervisor => net_sup_dynamic}}),
            erlang:set_cookie(node(), '{cluster.cookie}'),
            [begin
                 pong = net_adm:ping(Peer),
                 Peer = rpc:call(Peer, erlang, node, []),
                 6 = erpc:call(Peer, lists, sum, [[1, 2, 3]]),
                 {{echo, Peer}} ! {{self(), hello}}, receive {{_, hello}} -> ok end,
                 {{Pid, Monitor}} = spawn_monitor(Peer, timer, sleep, [infinity]),
                 exit(Pid, because), receive {{'DOWN', Monitor, process, Pid, because}} -> ok end,
                 {{ok, up}} = net_kernel:node_info(Peer, state),
                 net_kernel:disconnect(Peer),
                 false = lists:member(Peer, nodes()),
                 io:format("~p served~n", [Peer])
             end || Peer <- [{', '.join(f"'{p}'" for p in peers)}]],
            halt(0)"""
            ),
            0,
            f'{peers[0]} served',
            f'{peers[1]} served',
        )


def whole_system(vmrun):
    """All of OTP's kernel, started by its own init, between nodes of other kinds."""
    with Cluster(vmrun) as cluster:
        peers = [cluster.peer(kind, f'peer_{kind}').full for kind in ('erl', 'vmrun', 'system')]
        node = cluster.evaluate(
            'system',
            'whole',
            f"""
            {{ok, _}} = application:ensure_all_started(runtime_tools),
            yes = global:register_name(meeting, self()),
            [begin
                 pong = net_adm:ping(Peer),
                 Peer = rpc:call(Peer, erlang, node, []),
                 {{echo, Peer}} ! {{self(), hello}}, receive {{_, hello}} -> ok end,
                 {{Pid, Monitor}} = spawn_monitor(Peer, timer, sleep, [infinity]),
                 exit(Pid, because), receive {{'DOWN', Monitor, process, Pid, because}} -> ok end,
                 {{links, [_ | _]}} = rpc:call(Peer, erlang, process_info,
                     [rpc:call(Peer, erlang, whereis, [net_kernel]), links]),
                 io:format("~p served~n", [Peer])
             end || Peer <- [{', '.join(f"'{p}'" for p in peers)}]],
            ok = global:sync(),
            [true = (self() =:= rpc:call(Peer, global, whereis_name, [meeting]))
                || Peer <- ['{peers[0]}', '{peers[2]}']],
            halt(0)""",
            flags=['-epmd', 'echo the service of names'],
        )
        expect_end(node, 0, 'the service of names', *(f'{peer} served' for peer in peers))


def global_names(vmrun):
    """A script's node answers where nodes agree about names: nobody waits for it, and it has the names of
    all."""
    with Cluster(vmrun) as cluster:
        ours, theirs = (cluster.peer(kind, f'peer_{kind}').full for kind in ('vmrun', 'erl'))
        expect_end(
            cluster.evaluate(
                'erl',
                'asks',
                f"""
            [pong = net_adm:ping(Node) || Node <- ['{ours}', '{theirs}']],
            ok = global:sync(),
            yes = global:register_name(here, self()),
            {{ok, There}} = {{ok, rpc:call('{ours}', erlang, whereis, [init])}},
            yes = rpc:call('{ours}', global, register_name, [there, There]),
            [io:format("~p ~p~n", [Node, [self() =:= rpc:call(Node, global, whereis_name, [here]),
                There =:= rpc:call(Node, global, whereis_name, [there])]])
             || Node <- ['{ours}', '{theirs}', node()]],
            halt(0)""",
            ),
            0,
            f'{ours} .true,true',
            f'{theirs} .true,true',
            'asks@localhost .true,true',
        )
