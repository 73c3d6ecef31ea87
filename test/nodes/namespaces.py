# SPDX-License-Identifier: Apache-2.0
"""Sockets of one program on two hosts: opened in another network namespace by {netns, Path}; datagrams to a
group of hosts."""
import functools

from harness.results import Test
from nodes.cluster import Cluster, expect_end
from nodes.network import Network


def tests(vmrun):
    return [
        Test('nodes', f'sockets on another host, of {kind}', functools.partial(on_two_hosts, vmrun, kind))
        for kind in ('vmrun', 'erl')
    ]


def on_two_hosts(vmrun, kind):
    with Cluster(vmrun, epmd=False) as cluster, Network(2) as network:
        here, there = (tuple(int(n) for n in network[i].address.split('.')) for i in (0, 1))
        node = cluster.evaluate(
            kind,
            'two_hosts',
            f"""
            [Here, There, Group] = [{{{','.join(map(str, here))}}}, {{{','.join(map(str, there))}}},
                {{224, 0, 0, 77}}],
            Elsewhere = {{netns, "/proc/{network[1].holder.pid}/ns/net"}},
            {{ok, L}} = gen_tcp:listen(0, [Elsewhere, binary, {{active, false}}]),
            {{ok, Port}} = inet:port(L),
            {{error, econnrefused}} = gen_tcp:connect({{127, 0, 0, 1}}, Port, []),
            [begin
                 {{ok, C}} = gen_tcp:connect(There, Port, [binary, {{active, false}} | More]),
                 {{ok, S}} = gen_tcp:accept(L),
                 {{ok, {{From, _}}}} = inet:peername(S),
                 ok = gen_tcp:send(C, "over the switch"),
                 {{ok, <<"over the switch">>}} = gen_tcp:recv(S, 15)
             end || {{More, From}} <- [{{[], Here}}, {{[Elsewhere], There}}]],
            {{error, enoent}} = gen_tcp:listen(0, [{{netns, "/proc/self/ns/none"}}]),
            io:format("streams~n"),
            {{ok, R}} = gen_udp:open(0, [Elsewhere, binary, {{add_membership, {{Group, There}}}}]),
            {{ok, To}} = inet:port(R),
            {{ok, U}} = gen_udp:open(0, [binary, {{multicast_if, Here}}, {{multicast_ttl, 2}}]),
            ok = gen_udp:send(U, Group, To, "to all"),
            receive {{udp, R, Here, _, <<"to all">>}} -> io:format("to the group~n") end,
            ok = inet:setopts(R, [{{drop_membership, {{Group, There}}}}]),
            ok = gen_udp:send(U, Group, To, "to nobody"),
            ok = gen_udp:send(U, There, To, "to one"),
            receive {{udp, R, Here, _, Next}} -> io:format("~s~n", [Next]) end,
            halt(0)""",
            named=False,
            at=network[0],
        )
        expect_end(node, 0, 'streams', 'to the group', 'to one')
