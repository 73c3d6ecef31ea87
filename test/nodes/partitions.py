# SPDX-License-Identifier: Apache-2.0
"""Nodes that lose each other: the network between them fails and nobody is told, heals, loses what goes one
way, or is slow."""
import functools

from harness.results import Test
from nodes.cluster import Cluster, expect, expect_end
from nodes.network import Network

PORT = '4370'  # of every node: each has an address of its own
PAIRS = [('vmrun', 'erl'), ('erl', 'vmrun'), ('vmrun', 'vmrun')]


def tests(vmrun):
    def test(name, function, *arguments):
        return Test('nodes', name, functools.partial(function, vmrun, *arguments))

    return [
        test(f'{what}: {a} and {b}', function, a, b)
        for what, function in (
            ('parted and together again', parted),
            ('lost by one of the two only', lost_by_one),
            ('a slow link', slow_link),
        )
        for a, b in PAIRS
    ] + [
        test(
            'parted after the tick time was changed: vmrun and erl', parted, 'vmrun', 'erl', (60, 60), ('1',)
        )
    ]


def slow_tests(vmrun):
    return [
        Test(
            'slow',
            f'a link that is slower than ticks: {a} and {b}',
            functools.partial(slow_link, vmrun, a, b, tick_s=4, size=2000000),
        )
        for a, b in PAIRS
    ]


def flags(tick_s):
    """A try to connect ends after a second too, so that none lasts while the network heals."""
    return [
        '-start_epmd',
        'false',
        '-erl_epmd_port',
        PORT,
        '-kernel',
        'net_ticktime',
        str(tick_s),
        '-kernel',
        'net_setuptime',
        '1',
    ]


def members(cluster, network, kinds, ticks, *arguments):
    """A node on each host, each with the next one as its other."""
    names = [f'n{i}@{network[i].address}' for i in range(len(kinds))]
    return [
        cluster.node(
            kind, f'n{i}', 'parted', names[(i + 1) % len(names)], *arguments, at=network[i], flags=flags(tick)
        )
        for i, (kind, tick) in enumerate(zip(kinds, ticks))
    ]


def parted(vmrun, first, second, ticks=(1, 1), changes=()):
    """Nothing tells either of them but that nothing comes. Who notices last may hear it from the other, if
    the network is there again."""
    with Cluster(vmrun, epmd=False) as cluster, Network(2) as network:
        nodes = members(cluster, network, (first, second), ticks, *changes)
        for node in nodes:
            node.wait_for('watching\n')
        network.part([0], [1])
        said = [node.wait_for('; waiting\n') for node in nodes]
        expect(
            any('lost: net_tick_timeout;' in text for text in said), 'nobody has given the other up:', said
        )
        network.join()
        for node in nodes:
            node.wait_for('together\n')


def lost_by_one(vmrun, first, second):
    """The other one takes it for connected still when it connects anew."""
    with Cluster(vmrun, epmd=False) as cluster, Network(2) as network:
        one, other = members(cluster, network, (first, second), (1, 3600))
        for node in (one, other):
            node.wait_for('watching\n')
        network.part([0], [1])
        one.wait_for('lost: net_tick_timeout; waiting\n')
        network.join()
        for node in (one, other):
            node.wait_for('together\n')


def slow_link(vmrun, first, second, tick_s=60, size=200000):
    """Large messages fill it both ways, beside small ones: all arrive, and the connection is not given up."""
    with Cluster(vmrun, epmd=False) as cluster, Network(2) as network:
        network.slow(1, '2mbit')
        peer = cluster.peer(second, at=network[1], flags=flags(tick_s))
        node = cluster.evaluate(
            first,
            'slow',
            f"""
            Peer = '{peer.full}',
            (fun Meet() -> net_adm:ping(Peer) =:= pong orelse Meet() end)(),
            ok = net_kernel:monitor_nodes(true),
            Self = self(),
            Echoed = fun(N) -> {{echo, Peer}} ! {{self(), N}}, receive {{_, N}} -> ok end end,
            Large = << <<N:32>> || N <- lists:seq(1, {size} div 4) >>,
            {{_, Small}} = spawn_monitor(fun() -> lists:foreach(Echoed, lists:seq(1, 20)) end),
            {{_, There}} = spawn_monitor(fun() -> Echoed(Large) end),
            _ = spawn_link(Peer,
                fun() -> Self ! {{from_there, << <<N:32>> || N <- lists:seq(1, {size} div 4) >>}} end),
            receive {{from_there, Large}} -> io:format("a large one came~n") end,
            receive {{'DOWN', There, _, _, normal}} -> io:format("a large one went there and back~n") end,
            receive {{'DOWN', Small, _, _, normal}} -> io:format("small ones did~n") end,
            receive {{nodedown, Peer}} -> io:format("given up~n") after 0 -> io:format("never lost~n") end,
            halt(0)""",
            at=network[0],
            flags=flags(tick_s),
        )
        expect_end(
            node, 0, 'a large one came', 'a large one went there and back', 'small ones did', 'never lost'
        )
