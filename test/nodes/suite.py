# SPDX-License-Identifier: Apache-2.0
"""vmrun as a member of an Erlang cluster: nodes of ours and of a stock erl with each other
(docs/testing.md)."""
import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from harness.golden import MODES, mode_flags
from harness.results import Skip, Test
from nodes import cluster as clusters
from nodes import handshake, hostile, mutations, namespaces, otp_network, partitions, peers, tls
from nodes.cluster import Cluster, expect, expect_end, free_port

PAIRS = [('vmrun', 'erl'), ('erl', 'vmrun'), ('vmrun', 'vmrun')]
STOCK = [('erl', 'erl')]  # shows that the tests themselves are right: of the slow suite
EITHER = ['vmrun', 'erl']
# Whose remote shell, and where it runs: OTP's own system is 'system' when vmrun runs it.
SHELLS = [('erl', 'vmrun'), ('erl', 'system'), ('system', 'erl'), ('system', 'system')]


def paired(suite, vmrun, pairs):
    """What two nodes do with each other, whatever they are."""
    return [
        Test(suite, text.format(a=a, b=b), functools.partial(function, vmrun, a, b))
        for text, function in (
            ('what {a} does with {b}', cases),
            ('wrong cookie: {a} with {b}', wrong_cookie),
            ('hidden: {a} with {b}', hidden),
            ('named by the other node: {a} with {b}', dynamic_name),
            ('killed: {a} with {b}', killed),
            ('killed and started again: {a} with {b}', started_again),
            ('both connect at once: {a} with {b}', simultaneous),
            ('a name that is taken: {a} after {b}', name_clash),
        )
        for a, b in pairs
    ]


def slow_tests(vmrun):
    return (
        paired('slow', vmrun, STOCK)
        + [
            Test(
                'slow',
                f'small messages beside large ones: {a} with {b}',
                functools.partial(beside_large, vmrun, a, b),
            )
            for a, b in PAIRS
        ]
        + [
            Test(
                'slow',
                'a distribution driver that has no outputv: erl with erl',
                functools.partial(plain_driver, vmrun, (('erl', PLAIN, 'erl', PLAIN),)),
            )
        ]
    )


def tests(vmrun):
    def test(name, function):
        return Test('nodes', name, functools.partial(function, vmrun))

    all_tests = paired('nodes', vmrun, PAIRS)
    all_tests += [
        test('epmd: the first node starts it', first_epmd),
        test('epmd: none is installed', no_epmd),
        test('another epmd module', epmd_module),
        test('a fixed port and no epmd', fixed_port),
        test('another distribution module', proto_dist),
        test('a distribution driver that has no outputv', plain_driver),
        test('IPv6', ipv6),
        test('the cookie file', cookie_file),
        test('a name that cannot be', bad_name),
        test('connected once only', connected_once),
        test('crash dumps', crash_dumps),
        test(
            'between two nodes of erl that part, without global',
            lambda v: between_two(v, ['-kernel', 'prevent_overlapping_partitions', 'false'], 'both stay'),
        ),
        test('between two nodes of erl that part, with global', lambda v: between_two(v, [], 'lost one')),
        test('started by the program', started_by_program),
        *(
            test(f'a remote shell of {of} on {on}', lambda v, of=of, on=on: remote_shell(v, of, on))
            for of, on in SHELLS
        ),
        *(
            test(
                f'answers beside large messages: vmrun with {other}',
                lambda v, o=other: answered_beside_large(v, o),
            )
            for other in EITHER
        ),
        test('erl_call', erl_call),
        test("a stock node's tools", tools),
        test('a node in C', c_node),
        test('a node in C spawns nothing', c_node_spawns_nothing),
        test('Elixir', elixir),
        Test('nodes', 'many nodes', functools.partial(many, vmrun), in_turn=True),
    ]
    for part in (handshake, hostile, mutations, namespaces, otp_network, partitions, peers, tls):
        all_tests += part.tests(vmrun)
    return all_tests


def tests_in_mode(vmrun, mode, seed, folder):
    """The tests; each node of ours has the flags of a mode (docs/testing.md): what starts it is a script
    that adds them."""
    clusters.slowness = max(clusters.slowness, MODES[mode][1])
    path = pathlib.Path(folder) / f'vmrun-{mode}'
    path.write_text(
        f'#!/bin/bash\nexec -a "$0" {shlex.join([os.path.abspath(vmrun), *mode_flags(mode, seed)])} "$@"\n'
    )
    path.chmod(0o755)
    return [Test(t.suite, f'{t.name} [{mode}]', t.run, t.in_turn) for t in tests(str(path))]


def cases(vmrun, first, second):
    with Cluster(vmrun) as cluster:
        peer = cluster.peer(second)
        expect_end(cluster.node(first, 'first', 'cases', peer.full), 0, ' 0 failed')
        peer.wait_for('written by another node')


# --- Who may connect ---


def wrong_cookie(vmrun, first, second):
    with Cluster(vmrun) as cluster:
        peer = cluster.peer(second)
        other = cluster.evaluate(
            first,
            'stranger',
            f'''
            pang = net_adm:ping('{peer.full}'), [] = nodes(),
            true = erlang:set_cookie('{peer.full}', {cluster.cookie}),
            io:format("~p~n", [net_adm:ping('{peer.full}')]), halt(0)''',
            cookie='another',
        )
        expect_end(other, 0, 'pong')
        peer.wait_for(
            '** Connection attempt from node stranger@localhost rejected. Invalid challenge reply. **'
        )


def hidden(vmrun, first, second):
    with Cluster(vmrun) as cluster:
        peer = cluster.peer(second)
        node = cluster.evaluate(
            first,
            'hidden',
            f'''
            pong = net_adm:ping('{peer.full}'),
            io:format("~p ~p ~p~n", [nodes(), nodes(hidden), nodes(connected)]),
            io:format("~p~n", [rpc:call('{peer.full}', erlang, nodes, [])]),
            io:format("~p~n", [rpc:call('{peer.full}', erlang, nodes, [hidden])]), halt(0)''',
            flags=['-hidden'],
        )
        expect_end(node, 0, rf"\[\] \[{peer.full}\] \[{peer.full}\]\n\[\]\n\[hidden@localhost\]")


def dynamic_name(vmrun, first, second):
    """A node that others name, also when the one that has named it goes away and comes back."""
    with Cluster(vmrun) as cluster:
        peer = cluster.peer(second)
        node = cluster.evaluate(
            first,
            'undefined',
            f'''
            'nonode@nohost' = node(),
            true = is_alive(),
            true = monitor_node('{peer.full}', true),
            receive {{nodedown, '{peer.full}'}} -> ok end,
            Monitor = monitor(process, {{net_kernel, '{peer.full}'}}),
            receive {{'DOWN', Monitor, process, {{net_kernel, '{peer.full}'}}, noconnection}} -> ok end,
            true = net_kernel:connect_node('{peer.full}'),
            [Name, "localhost"] = string:split(atom_to_list(node()), "@"),
            true = Name =/= "undefined",
            #{{name_type := dynamic}} = net_kernel:get_state(),
            Self = [node()],
            Self = rpc:call('{peer.full}', erlang, nodes, [hidden]),
            io:format("named~n"), halt(0)''',
        )
        expect_end(node, 0, 'named')


def name_clash(vmrun, second, first):
    with Cluster(vmrun) as cluster:
        cluster.peer(first, 'taken')
        expect_end(
            cluster.node(second, 'taken', 'other_node'),
            1,
            r"Protocol 'inet_tcp': the name taken@localhost seems to be in use by another Erlang node",
        )


def killed(vmrun, first, second):
    """Whoever is left hears of it at once: its links and monitors, and that the node is down."""
    with Cluster(vmrun) as cluster:
        peer = cluster.peer(second)
        node = cluster.evaluate(
            first,
            'left',
            f'''
            process_flag(trap_exit, true),
            Peer = '{peer.full}',
            ok = net_kernel:monitor_nodes(true, [nodedown_reason]),
            Pid = spawn_link(Peer, timer, sleep, [infinity]),
            Ref = monitor(process, {{echo, Peer}}),
            true = erlang:monitor_node(Peer, true),
            io:format("watching~n"),
            receive {{'EXIT', Pid, noconnection}} -> ok end,
            receive {{'DOWN', Ref, process, {{echo, Peer}}, noconnection}} -> ok end,
            receive {{nodedown, Peer}} -> ok end,
            receive {{nodedown, Peer, [{{nodedown_reason, Reason}}]}} -> io:format("~p~n", [Reason]) end,
            [] = nodes(), halt(0)''',
        )
        node.wait_for('watching')
        peer.kill()
        expect_end(node, 0, 'connection_closed')


def started_again(vmrun, first, second):
    """Pids of a node's earlier life are of nobody: links and monitors say so, and what is sent to them
    reaches no one."""
    with Cluster(vmrun) as cluster:
        peer = cluster.peer(second)
        node = cluster.evaluate(
            first,
            'left',
            f'''
            process_flag(trap_exit, true),
            Peer = '{peer.full}',
            Old = erpc:call(Peer, erlang, whereis, [echo]),
            true = monitor_node(Peer, true),
            io:format("watching~n"),
            receive {{nodedown, Peer}} -> io:format("down~n") end,
            (fun Wait() -> net_adm:ping(Peer) =:= pong orelse receive after 20 -> Wait() end end)(),
            New = (fun Wait() -> case erpc:call(Peer, erlang, whereis, [echo]) of undefined -> Wait(); Pid ->
                Pid end end)(),
            true = New =/= Old,
            Old ! {{self(), old}},
            exit(Old, kill),
            Ref = monitor(process, Old),
            receive {{'DOWN', Ref, process, Old, noproc}} -> ok end,
            true = link(Old),
            receive {{'EXIT', Old, noproc}} -> ok end,
            New ! {{self(), new}},
            receive {{New, new}} -> io:format("only the new one~n") end,
            halt(0)''',
        )
        node.wait_for('watching')
        peer.kill()
        node.wait_for('down')
        cluster.peer(second)
        expect_end(node, 0, 'only the new one')


def simultaneous(vmrun, first, second):
    """Each connects to the other again and again, at the same moments as far as that can be; in the end they
    are connected."""
    with Cluster(vmrun) as cluster:
        text = '''
            Other = list_to_atom(hd(init:get_plain_arguments())),
            register(meeting, self()),
            Meet = fun Meet(N) ->
                           case net_adm:ping(Other) of
                               pong -> ok;
                               pang when N > 0 -> receive after 20 -> Meet(N - 1) end
                           end
                   end,
            Done = fun Done() ->  % what is sent while the other one still disconnects may be lost
                           Meet(500),
                           {meeting, Other} ! done,
                           receive done -> {meeting, Other} ! done after 200 -> Done() end
                   end,
            Wait = fun Wait() ->
                           case rpc:call(Other, erlang, whereis, [meeting]) of
                               Pid when is_pid(Pid) -> ok;
                               _ -> receive after 50 -> Wait() end
                           end
                   end,
            Wait(), Meet(500), {meeting, Other} ! ready, receive ready -> ok end,
            _ = [begin _ = erlang:disconnect_node(Other),
                pong = (fun P(0) -> pang; P(N) -> case net_adm:ping(Other) of pong -> pong; _ -> P(N - 1) end
                end)(100) end
                 || _ <- lists:seq(1, 50)],
            Done(),
            io:format("met~n"), receive after 500 -> halt(0) end'''
        a, b = (
            cluster.evaluate(kind, name, text, arguments=[f'{other}@localhost'])
            for kind, name, other in ((first, 'one', 'two'), (second, 'two', 'one'))
        )
        a.wait_for('met')
        b.wait_for('met')


def between_two(vmrun, flags, outcome):
    """global breaks further connections where some are lost (prevent_overlapping_partitions); those to a node
    without it stay."""
    told = {
        'both stay': '[(fun Alone() -> rpc:call(N, erlang, nodes, []) =:= [node()] orelse Alone() end)() || '
        'N <- [A, B]], '
        '[state = element(1, rpc:call(N, sys, get_state, [global_name_server])) || N <- [A, B]], '
        '[N = rpc:call(N, erlang, node, []) || N <- [A, B]], receive {nodedown, _} -> ok after 0 -> '
        'io:format("both stay~n") end',
        'lost one': 'receive {nodedown, N} when N =:= A; N =:= B -> io:format("lost one~n") end',
    }[outcome]
    with Cluster(vmrun) as cluster:
        a, b = cluster.peer('erl', 'a'), cluster.peer('erl', 'b')
        node = cluster.evaluate(
            'vmrun',
            'between',
            f"""
            A = '{a.full}', B = '{b.full}',
            [pong, pong] = [net_adm:ping(N) || N <- [A, B]],
            pong = rpc:call(A, net_adm, ping, [B]),
            ok = net_kernel:monitor_nodes(true),
            true = rpc:call(A, erlang, disconnect_node, [B]),
            {told}, halt(0)""",
            flags=flags,
        )
        expect_end(node, 0, outcome)


# --- Finding each other ---


def first_epmd(vmrun):
    """It lives on when the node has ended, and serves stock nodes."""
    with Cluster(vmrun, epmd=False) as cluster:
        node = cluster.peer('vmrun', 'one')
        try:
            expect_end(
                cluster.evaluate(
                    'erl',
                    'two',
                    f"""io:format("~p~n", [net_adm:ping('{node.full}')]), halt(0)""",
                    flags=['-start_epmd', 'false'],
                ),
                0,
                'pong',
            )
            node.kill()
            expect_end(
                cluster.evaluate(
                    'erl',
                    'three',
                    'io:format("~p~n", [net_adm:names(localhost)]), halt(0)',
                    flags=['-start_epmd', 'false'],
                ),
                0,
                r'\{ok,\[\{"three",\d+\}\]\}',
            )
        finally:
            ended = subprocess.run(
                ['epmd', '-port', str(cluster.port), '-kill'],
                capture_output=True,
                text=True,
                env=cluster.environment,
            )
        expect('Killed' in ended.stdout, 'epmd -kill:', ended.stdout, ended.stderr)


def no_epmd(vmrun):
    """An OTP that has everything else. Nodes on a port that is known need none."""
    installed = pathlib.Path('/usr/lib/erlang')
    if not (installed / 'lib').exists():
        raise Skip(f'no OTP in {installed}')
    with Cluster(vmrun, epmd=False) as cluster:
        root = cluster.folder / 'otp'
        root.mkdir()
        for part in ('lib', 'releases'):
            (root / part).symlink_to(installed / part)
        cluster.environment.update(PATH=str(root), VMRUN_OTP=str(root))
        program = str(cluster.folder / 'other_node.beam')
        flags = ['-sname', 'lonely', '-setcookie', 'x']
        lonely = cluster.start('lonely', [cluster.vmrun, *flags, program])
        expect_end(lonely, 1, 'cannot be a node: epmd, .* is not installed')
        fixed = cluster.start('fixed', [cluster.vmrun, *flags, '-erl_epmd_port', str(free_port()), program])
        fixed.wait_for('ready')


def epmd_module(vmrun):
    """A module that finds nodes without epmd, on either side."""
    with Cluster(vmrun, epmd=False) as cluster:
        flags = ['-start_epmd', 'false', '-epmd_module', 'file_epmd']
        for a, b in PAIRS:
            peer = cluster.peer(b, f'peer_{a}', flags=flags)
            expect_end(
                cluster.evaluate(
                    a,
                    f'first_{a}_{b}',
                    f"io:format(\"~p~n\", [net_adm:ping('{peer.full}')]), halt(0)",
                    flags=flags,
                ),
                0,
                'pong',
            )


def fixed_port(vmrun):
    with Cluster(vmrun, epmd=False) as cluster:
        flags = ['-start_epmd', 'false', '-erl_epmd_port', str(free_port())]
        for a, b in PAIRS:
            peer = cluster.peer(b, 'peer', flags=flags)
            expect_end(
                cluster.evaluate(
                    a,
                    f'first_{a}',
                    f"io:format(\"~p~n\", [net_kernel:hidden_connect_node('{peer.full}')]), halt(0)",
                    flags=[*flags, '-dist_listen', 'false'],
                ),
                0,
                'true',
            )
            peer.kill()


def proto_dist(vmrun):
    """A distribution module that is none of ours carries a connection to a stock node."""
    with Cluster(vmrun) as cluster:
        peer = cluster.peer('erl')
        expect_end(
            cluster.evaluate(
                'vmrun',
                'one',
                f"""
            io:format("~p~n", [net_adm:ping('{peer.full}')]), {{echo, '{peer.full}'}} ! {{self(), x}},
                receive {{_, x}} -> ok end, halt(0)""",
                flags=['-proto_dist', 'counting_tcp'],
            ),
            0,
            'counting_tcp_dist carries',
            'pong',
        )


PLAIN = ['-proto_dist', 'plain']
PLAIN_PAIRS = (('vmrun', PLAIN, 'erl', ()), ('erl', (), 'vmrun', PLAIN), ('vmrun', PLAIN, 'vmrun', PLAIN))


def plain_driver(vmrun, pairs=PLAIN_PAIRS):
    """On either side, and on both: it is given each packet in one piece."""
    with Cluster(vmrun) as cluster:
        for i, (a, with_a, b, with_b) in enumerate(pairs):
            peer = cluster.peer(b, f'peer{i}', flags=with_b)
            expect_end(cluster.node(a, f'first{i}', 'cases', peer.full, flags=with_a), 0, ' 0 failed')


def ipv6(vmrun):
    with Cluster(vmrun, host='::1') as cluster:
        flags = ['-proto_dist', 'inet6_tcp']
        for a, b in PAIRS:
            peer = cluster.peer(b, f'peer_{a}_{b}', flags=flags)
            expect_end(
                cluster.evaluate(
                    a,
                    f'first_{a}_{b}',
                    f"io:format(\"~p~n\", [net_adm:ping('{peer.full}')]), halt(0)",
                    flags=flags,
                ),
                0,
                'pong',
            )


# --- Becoming a node ---


def cookie_file(vmrun):
    with Cluster(vmrun) as cluster:
        file = cluster.folder / '.erlang.cookie'
        peer = cluster.peer('vmrun', cookie='')
        cookie = file.read_text()
        expect(
            re.fullmatch('[A-Z]{20}', cookie) and file.stat().st_mode & 0o777 == 0o400,
            'cookie file:',
            cookie,
            oct(file.stat().st_mode),
        )
        expect_end(
            cluster.evaluate(
                'erl', 'two', f"io:format(\"~p~n\", [net_adm:ping('{peer.full}')]), halt(0)", cookie=''
            ),
            0,
            'pong',
        )
        file.chmod(0o444)
        expect_end(
            cluster.node('vmrun', 'three', 'other_node', cookie=''),
            1,
            r'Cookie file .*/\.erlang\.cookie must be accessible by owner only',
        )
        file.unlink()
        file.mkdir()
        expect_end(cluster.node('vmrun', 'three', 'other_node', cookie=''), 1, r'vmrun: cannot be a node')


def bad_name(vmrun):
    with Cluster(vmrun) as cluster:
        program = str(cluster.folder / 'other_node.beam')
        for flags, said in (
            (['-sname', 'a.b'], 'Invalid node name!'),
            (['-sname', 'a@b.c'], "Can't set short node name!"),
            (['-sname', 'a', '-proto_dist', 'nonsense'], "Protocol 'nonsense': not supported"),
        ):
            expect_end(cluster.start('bad', [cluster.vmrun, *flags, '-setcookie', 'x', program]), 1, said)


def crash_dumps(vmrun):
    """They name the other nodes. A stock erl writes its dump while others go on, and now and then leaves the
    connection out: of ten, one has it."""
    with Cluster(vmrun) as cluster:
        peer = cluster.peer('vmrun')

        def dump_of(kind, n):
            dump = cluster.folder / f'{kind}{n}.dump'
            cluster.environment.update(ERL_CRASH_DUMP=str(dump), ERL_CRASH_DUMP_SECONDS='60')
            expect_end(
                cluster.evaluate(
                    kind, f'node_{kind}{n}', f"""pong = net_adm:ping('{peer.full}'), halt("over")"""
                ),
                1,
            )
            text = dump.read_text(errors='replace')
            expect(re.search(rf"^=node:'node_{kind}{n}@\S+'$", text, re.M), 'its own name', kind, text[:2000])
            expect('=no_distribution' not in text, 'there is distribution', kind)
            return text

        def names_the_other(text):
            return re.search(
                rf"^=visible_node:\d+\nName: '{peer.full}'\nController: #Port<[0-9.]+>$", text, re.M
            )

        own = dump_of('vmrun', 0)
        expect(names_the_other(own), 'the other node', own[:2000])
        expect(any(names_the_other(dump_of('erl', n)) for n in range(10)), 'the other node, of erl')


def connected_once(vmrun):
    """-kernel dist_auto_connect once: what was connected is not again by itself, but may connect, or be
    connected to by hand."""
    with Cluster(vmrun) as cluster:
        for kind in EITHER:
            for other in EITHER:
                # A global that is told late of a connection would connect again to say that it has seen it.
                # A global that hears late of a connection, or asks the other late, would connect again.
                alone = ['-connect_all', 'false']
                peer = cluster.peer(other, f'peer_{kind}_{other}', flags=alone)
                node = cluster.evaluate(
                    kind,
                    f'once_{kind}_{other}',
                    f"""
                    Peer = '{peer.full}',
                    pong = net_adm:ping(Peer),
                    %% The peer's net_kernel disconnects only what it knows to be connected.
                    Knows = fun() -> rpc:call(Peer, net_kernel, node_info, [node(), state]) end,
                    Wait = fun Wait() -> Knows() =:= {{ok, up}} orelse Wait() end,
                    %% The peer may still answer what OTP's rex has asked of it, and so connect.
                    Apart = fun Apart() ->
                        Wait(),
                        monitor_node(Peer, true),
                        rpc:cast(Peer, erlang, disconnect_node, [node()]),
                        receive {{nodedown, Peer}} -> ok end,
                        true = erlang:monitor_node(Peer, true, [allow_passive_connect]),
                        receive {{nodedown, Peer}} -> io:format("nobody has connected~n")
                        after 1000 -> monitor_node(Peer, false), Apart()
                        end
                    end,
                    Apart(),
                    pang = net_adm:ping(Peer),
                    true = net_kernel:connect_node(Peer),
                    pong = net_adm:ping(Peer),
                    true = erlang:monitor_node(Peer, true, [allow_passive_connect]),
                    [Peer] = nodes(), halt(0)""",
                    flags=['-kernel', 'dist_auto_connect', 'once', '-kernel', 'net_setuptime', '3', *alone],
                )
                expect_end(node, 0, 'nobody has connected')


def started_by_program(vmrun):
    """net_kernel:start/2 and stop/0. A stock erl is alive for a moment longer than stop takes; ours is
    not."""
    with Cluster(vmrun) as cluster:
        peer = cluster.peer('erl')
        no_more = {'vmrun': 'false = is_alive()', 'erl': '(fun Wait() -> is_alive() andalso Wait() end)()'}
        text = (
            lambda kind: f'''
            #{{started := no}} = net_kernel:get_state(),
            false = is_alive(),
            {{ok, _}} = net_kernel:start(late@localhost, #{{name_domain => shortnames}}),
            true = is_alive(),
            true = erlang:set_cookie({cluster.cookie}),
            pong = net_adm:ping('{peer.full}'),
            #{{started := dynamic, name := late@localhost}} = net_kernel:get_state(),
            ok = net_kernel:stop(),
            {no_more[kind]},
            nonode@nohost = node(), [] = nodes(),
            io:format("stopped~n"), halt(0)'''
        )
        for kind in EITHER:
            name = f'late_{kind}'
            cluster.evaluate(kind, name, text(kind), named=False)
            expect_end(cluster.started[-1], 0, 'stopped')


# --- People's tools ---


def erl_call(vmrun):
    if not shutil.which('erl_call'):
        raise Skip('no erl_call here')
    with Cluster(vmrun) as cluster:
        peer = cluster.peer('vmrun')

        def call(*arguments, stdin=None):
            return subprocess.run(
                ['erl_call', '-c', cluster.cookie, '-sname', peer.full, *arguments],
                input=stdin,
                capture_output=True,
                text=True,
                env=cluster.environment,
                timeout=60,
            ).stdout

        expect(call('-a', 'erlang node') == "peer@localhost", 'node:', call('-a', 'erlang node'))
        expect(
            call('-a', 'lists seq [1000,1002]') == '[1000, 1001, 1002]',
            'seq:',
            call('-a', 'lists seq [1000,1002]'),
        )
        expect(
            'hello from' in call('-fetch_stdout', '-a', 'other_node print ["hello"]'),
            'output:',
            call('-fetch_stdout', '-a', 'other_node print ["hello"]'),
        )


def tools(vmrun):
    """observer_backend and what etop asks, of a node of ours."""
    with Cluster(vmrun) as cluster:
        peer = cluster.peer('vmrun')
        expect_end(
            cluster.evaluate(
                'erl',
                'looking',
                f'''
            Peer = '{peer.full}',
            pong = net_adm:ping(Peer),
            Info = rpc:call(Peer, observer_backend, sys_info, []),
            {{{{processes, N}}, true}} = {{{{processes, proplists:get_value(process_count, Info)}},
                is_integer(proplists:get_value(process_count, Info))}},
            Pid = rpc:call(Peer, erlang, whereis, [echo]),
            {{registered_name, echo}} = rpc:call(Peer, erlang, process_info, [Pid, registered_name]),
            Self = self(),
            spawn_link(Peer, observer_backend, etop_collect, [Self]),
            receive {{_, EtopInfo}} when is_tuple(EtopInfo) -> etop_info = element(1, EtopInfo) end,
            io:format("~p seen~n", [N]), halt(0)''',
            ),
            0,
            r'\d+ seen',
        )


def compile_c_node(cluster):
    includes = list(pathlib.Path('/usr/lib/erlang/lib').glob('erl_interface-*'))
    if not shutil.which('cc') or not includes or not list(includes[0].glob('lib/libei.a')):
        raise Skip('no C compiler, or no libei (erlang-dev), here')
    subprocess.run(
        [
            'cc',
            '-D_REENTRANT',
            '-Wall',
            '-Werror',
            f'-I{includes[0]}/include',
            str(pathlib.Path(__file__).with_name('c_node.c')),
            '-o',
            str(cluster.folder / 'c_node'),
            f'-L{includes[0]}/lib',
            '-lei',
            '-lpthread',
        ],
        check=True,
    )
    return str(cluster.folder / 'c_node')


def c_node(vmrun):
    with Cluster(vmrun) as cluster:
        program = compile_c_node(cluster)
        for kind in EITHER:
            peer = cluster.peer(kind, f'peer_{kind}')
            expect_end(
                cluster.start('c_node', [program, cluster.cookie, peer.full]), 0, 'echoed', 'called: 6'
            )


def c_node_spawns_nothing(vmrun):
    """A node in C supports no requests to spawn. That is not known before one has connected to it."""
    with Cluster(vmrun) as cluster:
        program = compile_c_node(cluster)
        for kind in EITHER:
            there = cluster.start('c_node', [program, cluster.cookie])
            there.wait_for('listens')
            asking = cluster.evaluate(
                kind,
                f'asking_{kind}',
                '''
            Ask = fun() ->
                Request = spawn_request('c_node@localhost', erlang, node, []),
                receive {spawn_reply, Request, error, Why} -> Why end
            end,
            io:format("~p ~p ~p~n", [Ask(), Ask(), nodes(hidden)]), halt(0)''',
            )
            expect_end(asking, 0, r"notsup notsup \[c_node@localhost\]")
            expect_end(there, 0, 'left')


def remote_shell(vmrun, of, on):
    """erl -remsh, of a stock system or of ours: what runs on the other node is OTP's shell, with the standard
    library it belongs to."""
    stdlib = list(pathlib.Path('/usr/lib/erlang/lib').glob('stdlib-*/ebin'))
    if not stdlib:
        raise Skip("OTP's standard library is not in /usr/lib/erlang")
    with Cluster(vmrun) as cluster:
        peer = cluster.peer(on, flags=['-pa', str(stdlib[0])] if on == 'vmrun' else [])
        shell = cluster.start_on_terminal(
            'shell', [cluster.command(of), *cluster.flags('shell'), '-remsh', peer.full]
        )
        for line, answer in (
            ('node().', 'peer@localhost'),
            ('F = fun(X) -> X * 2 end, lists:map(F, [1, 2]).', '[2,4]'),
            ('hd([]).', '** exception error: bad argument'),
            ('self() ! a, flush().', 'Shell got a'),
        ):
            shell.wait_for('> ')
            shell.text = ''
            shell.type(line)
            shell.wait_for(answer)


def many(vmrun, members=97):
    """Ours and two of erl's, each connected to all others."""
    with Cluster(vmrun) as cluster:
        hub = cluster.erl('hub', 'meshed', 'hub', str(members + 2))
        hub.wait_for('ready')
        for n in range(members):
            cluster.ours(
                f'n{n}', 'meshed', 'member', flags=['+S', '1', '+SDcpu', '1', '+SDio', '1', '+A', '1']
            )
        for n in range(2):
            cluster.erl(f'e{n}', 'meshed', 'member')
        expect_end(hub, 0, f'{members + 2} members were connected, each to all')


def beside_large(vmrun, first, second, seconds=10, large=100 * 1000 * 1000, times=3):
    """20 000 small messages a second both ways beside large ones both ways: each of them comes, in order."""
    count = 20000 * seconds
    with Cluster(vmrun) as cluster:
        peer = cluster.peer(second)
        node = cluster.evaluate(
            first,
            'busy',
            f"""
            Peer = '{peer.full}', pong = net_adm:ping(Peer), Self = self(),
            Small = fun Small(To, N) when N > {count} -> To ! over;
                        Small(To, N) -> [To ! I || I <- lists:seq(N, N + 199)],
                            receive after 10 -> Small(To, N + 200) end
                    end,
            Sink = fun Sink(N, Last, Worst) ->
                           receive
                               N -> Now = erlang:monotonic_time(millisecond),
                                   Sink(N + 1, Now, max(Worst, Now - Last));
                               over -> Self ! {{small, node(), N - 1, Worst}}
                           end
                   end,
            Large = fun(To) -> B = binary:copy(<<"0123456789">>, {large // 10}),
                [To ! B || _ <- lists:seq(1, {times})] end,
            Taker = fun() -> B = binary:copy(<<"0123456789">>, {large // 10}),
                [receive B -> ok end || _ <- lists:seq(1, {times})], Self ! {{large, node()}} end,
            Start = fun(On, F) -> spawn_link(On, F) end,
            [begin
                 SinkThere = Start(There, fun() -> Sink(1, erlang:monotonic_time(millisecond), 0) end),
                 TakerThere = Start(There, Taker),
                 Start(Here, fun() -> Small(SinkThere, 1) end),
                 Start(Here, fun() -> Large(TakerThere) end)
             end || {{Here, There}} <- [{{node(), Peer}}, {{Peer, node()}}]],
            [receive {{small, At, {count}, Worst}} -> io:format("small to ~p: all, ~p ms apart at most~n",
                [At, Worst]) end || At <- [node(), Peer]],
            [receive {{large, At}} -> io:format("large to ~p: all~n", [At]) end || At <- [node(), Peer]],
            halt(0)""",
        )
        expect_end(
            node,
            0,
            f'small to {node.full}: all',
            f'small to {peer.full}: all',
            f'large to {node.full}: all',
            f'large to {peer.full}: all',
        )


def answered_beside_large(vmrun, other, large=200 * 1000 * 1000, times=30):
    """Who says little does not wait until the large messages of others are gone: it has many answers while
    one of them goes out."""
    with Cluster(vmrun) as cluster:
        peer = cluster.peer(other)
        node = cluster.evaluate(
            'vmrun',
            'busy',
            f"""
            Peer = '{peer.full}', pong = net_adm:ping(Peer), Self = self(), Gone = counters:new(1, []),
            % has ended when a message comes: only the way there counts
            Nobody = spawn(Peer, erlang, node, []),
            Large = binary:copy(<<"0123456789">>, {large // 10}),
            Senders = [spawn_link(fun Send() -> Nobody ! Large, counters:add(Gone, 1, 1), Send() end)
                || _ <- [1, 2]],
            (fun Begun() -> counters:get(Gone, 1) > 0 orelse Begun() end)(),
            Before = counters:get(Gone, 1),
            [begin {{echo, Peer}} ! {{Self, N}}, receive {{_, N}} -> ok end end
                || N <- lists:seq(1, {times})],
            Meanwhile = counters:get(Gone, 1) - Before,
            [begin unlink(S), exit(S, kill) end || S <- Senders],
            io:format("~p answers, ~p large messages gone meanwhile~n", [{times}, Meanwhile]),
            true = Meanwhile =< {times} div 2, halt(0)""",
        )
        expect_end(node, 0, 'answers')


def elixir(vmrun):
    if not shutil.which('elixir'):
        raise Skip('no Elixir here')
    with Cluster(vmrun) as cluster:
        peer = cluster.peer('vmrun')
        node = cluster.start(
            'elixir',
            [
                'elixir',
                '--sname',
                'ex@localhost',
                '--cookie',
                cluster.cookie,
                '-e',
                f'''
            peer = :"{peer.full}"
            IO.inspect(Node.connect(peer))
            send({{:echo, peer}}, {{self(), %{{hello: "world"}}}})
            receive do {{_, m}} -> IO.inspect(m) end
            IO.inspect(:erpc.call(peer, :erlang, :node, []))
            ''',
            ],
        )
        expect_end(node, 0, 'true', r'%\{hello: "world"\}', ':peer@localhost')
