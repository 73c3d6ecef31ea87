# SPDX-License-Identifier: Apache-2.0
"""Clusters of several releases of OTP: stock nodes in the roots of other releases of Debian, and ours, which
run the library of any of them. All share this machine's network, and an epmd."""
import itertools
import pathlib
import tempfile
import types

from harness.results import Test
from nodes.cluster import Cluster, expect_end

HOME = 25  # the release of this machine's own OTP
# Shows a root the folder for temporary files, in which a cluster's programs are.
ENTER = '''
root=$1 folder=$2 temporary=$3; shift 3
mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"
mkdir -p "$root$temporary"; mount --bind "$temporary" "$root$temporary"
exec chroot "$root" env -C "$folder" "$@"
'''
ALL_THERE = '''
    Others = [list_to_atom(Name) || Name <- init:get_plain_arguments()],
    All = lists:sort([node() | Others]),
    Until = fun Until(F) -> F() orelse receive after 10 -> Until(F) end end,
    On = fun(Node, M, F, A) -> erpc:call(Node, M, F, A) end,
    Join = fun(Node) ->
               Pid = spawn(Node, timer, sleep, [infinity]),
               yes = On(Node, global, register_name, [Node, Pid]),
               Pid
           end,
    %% Every node knows all others, and the name of each.
    Complete = fun(Nodes, Pids) ->
                   [Until(fun() -> lists:sort([Node | On(Node, erlang, nodes, [])]) =:= Nodes end)
                    || Node <- Nodes],
                   [Until(fun() -> On(Node, global, whereis_name, [Name]) =:= maps:get(Name, Pids, undefined)
                        end) || Node <- Nodes, Name <- All]
               end,
    [pong = net_adm:ping(Node) || Node <- Others],
    Pids = maps:from_list([{Node, Join(Node)} || Node <- All]),
    Complete(All, Pids),
    ok = net_kernel:monitor_nodes(true),
    lists:foldl(
        fun(Node, Before) ->
            Linked = maps:get(Node, Before),
            Ref = monitor(process, Linked),
            io:format("end ~s~n", [Node]),
            receive {'DOWN', Ref, process, Linked, noconnection} -> ok end,
            receive {nodedown, Node} -> ok end,
            Complete(All -- [Node], maps:remove(Node, Before)),
            io:format("start ~s~n", [Node]),
            Until(fun() -> net_adm:ping(Node) =:= pong end),
            receive {nodeup, Node} -> ok end,
            Until(fun() -> is_pid(On(Node, erlang, whereis, [echo])) end),
            After = Before#{Node => Join(Node)},
            Complete(All, After),
            After
        end, Pids, Others),
    io:format("all were there~n"), halt(0)
'''


class MixedCluster(Cluster):
    """Kinds of nodes are 'vmrun RELEASE' and 'erl RELEASE'. roots: the root's folder, by release."""

    def __init__(self, vmrun, roots):
        super().__init__(vmrun)
        self.roots = roots

    def node(self, kind, name, program, *arguments, **more):
        machine, release = kind.split()
        if int(release) == HOME:
            return {'vmrun': self.system, 'erl': self.erl}[machine](name, program, *arguments, **more)
        root = self.roots[int(release)]
        if machine == 'vmrun':
            # That OTP's program which asks for names of hosts wants a newer C library.
            (self.folder / 'inetrc').write_text('{lookup, [file]}.\n')
            more.update(VMRUN_OTP=str(root / 'usr/lib/erlang'), ERL_INETRC=str(self.folder / 'inetrc'))
            return self.system(name, program, *arguments, flags=['-start_epmd', 'false'], **more)
        temporary = str(pathlib.Path(tempfile.gettempdir()).resolve())
        words = ['unshare', '--mount', '--propagation', 'private', 'bash', '-ec', ENTER, 'enter']
        inside = [*words, str(root), str(self.folder), temporary]
        place = types.SimpleNamespace(inside=inside, address=self.host)
        return self.erl(name, program, *arguments, at=place, **more)


def tests(vmrun, roots):
    """roots(): makes the roots that are not there, and returns their folders by release. vmrun(): the
    machine."""
    releases = (HOME, 27, 29)
    kinds = [f'{machine} {release}' for release in releases for machine in ('vmrun', 'erl')]
    pairs = [
        (a, b)
        for a, b in itertools.permutations(kinds, 2)
        if a.split()[1] != b.split()[1] and 'vmrun' in a + b
    ]

    def test(text, function, *words):
        def run():
            with MixedCluster(vmrun, roots()) as cluster:
                function(cluster, *words)

        return Test('releases', text, run, in_turn=True)

    return [test(f'nodes: what {a} does with {b}', cases, a, b) for a, b in pairs] + [
        test(f'nodes: a cluster of all, seen from {kind}', all_there, kinds, kind)
        for kind in ('vmrun 25', 'vmrun 29', 'erl 29')
    ]


def cases(cluster, first, second):
    peer = cluster.peer(second)
    expect_end(cluster.node(first, 'first', 'cases', peer.full), 0, ' 0 failed')
    peer.wait_for('written by another node')


def all_there(cluster, kinds, kind):
    """Each of the others ends by a signal and starts again, and the rest of them notices."""
    peers = {other.replace(' ', ''): other for other in kinds if other != kind}
    nodes = {name: cluster.peer(other, name) for name, other in peers.items()}
    names = [node.full for node in nodes.values()]
    watcher = cluster.evaluate(kind, 'watcher', ALL_THERE, arguments=names)
    for name, other in peers.items():
        watcher.wait_for(f'end {nodes[name].full}')
        nodes[name].kill()
        watcher.wait_for(f'start {nodes[name].full}')
        cluster.peer(other, name)
    expect_end(watcher, 0, 'all were there')
