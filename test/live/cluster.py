# SPDX-License-Identifier: Apache-2.0
"""Machines that are nodes of one cluster are traced over its connections (vmtrace --node), and a request is
followed over two of them."""
import contextlib
import pathlib
import re
import signal

import nodes.cluster
from harness.results import Test

from . import inside, otp_scripts, session, wide
from .attach import expect

HERE = pathlib.Path(__file__).resolve().parent
HOST = 'localhost'


def tests(root, vmrun):
    suite = Suite(root, pathlib.Path(vmrun))
    return [
        Test('live', 'inside: cluster ' + name[13:].replace('_', ' '), getattr(suite, name), in_turn=True)
        for name in dir(suite)
        if name.startswith('test_cluster_')
    ]


class Cluster(nodes.cluster.Cluster):
    """Starts machines that run programs of test/live; they end with the block."""

    def node(self, name, *arguments, flags=(), source=HERE / 'request.act'):
        flags = ['+S', '2', *self.flags(name), '-pa', str(self.folder), *flags]
        return self.stack.enter_context(
            session.Target(self.vmrun, source, flags, arguments, self.environment)
        )

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        return super().__enter__()

    def __exit__(self, *why):
        self.stack.close()
        super().__exit__(*why)


class Suite(inside.Suite):
    def __init__(self, root, vmrun):
        super().__init__(vmrun)
        self.root = root
        import gen_probes

        self.table = gen_probes.parse(root / 'probes' / 'probes.tab')

    def told(self, cluster, *words):
        tracer = self.start(*words, env=cluster.environment)
        output, errors = tracer.communicate(timeout=session.LIMIT)
        return tracer.returncode, output, errors

    def test_cluster_nodes_are_traced_over_its_connections(self):
        with Cluster(self.vmrun, host=HOST) as cluster:
            nodes = [cluster.node(name, 'server') for name in ('one', 'two')]
            status, output, errors = self.told(
                cluster,
                '--node',
                f'one@{HOST}',
                '--node',
                f'two@{HOST}',
                '--cookie',
                cluster.cookie,
                '-q',
                '-n',
                'BEGIN { printf("%d %s\\n", pid, node); exit(0); }',
            )
            expect(status == 0 and not errors, f'status {status}', errors)
            said = sorted(line for line in output.split('\n') if line)
            expect(
                said == sorted(f'{n.process.pid} {name}@{HOST}' for n, name in zip(nodes, ('one', 'two'))),
                'pids and nodes',
                output,
            )
            for node in nodes:
                self.expect_nothing_left(node)

    def test_cluster_views_name_the_nodes(self):
        with Cluster(self.vmrun, host=HOST) as cluster:
            for name in 'one', 'two':
                cluster.node(name, 'busy')
            status, output, errors = self.told(
                cluster,
                'top',
                '-d',
                '1s',
                '-i',
                '0',
                '--node',
                f'one@{HOST}',
                '--node',
                f'two@{HOST}',
                '--cookie',
                cluster.cookie,
            )
            expect(status == 0, f'status {status}', errors)
            for name in 'one', 'two':
                expect(f' {name}@{HOST} busy' in output, f'nothing of {name}', output)

    def test_cluster_who_may_not_trace(self):
        with Cluster(self.vmrun, host=HOST) as cluster:
            cluster.node('open', 'server')
            cluster.node('shut', 'server', flags=['-vmtrace', 'off'])
            for node, cookie, why in (
                ('open', 'other', 'cannot be reached'),
                ('shut', cluster.cookie, 'not to be traced by other nodes'),
                ('none', cluster.cookie, 'cannot be reached'),
            ):
                status, _, errors = self.told(
                    cluster, '--node', f'{node}@{HOST}', '--cookie', cookie, '-n', 'BEGIN { exit(0); }'
                )
                expect(
                    status == 1 and why in errors and f'{node}@{HOST}' in errors,
                    f'{node}: status {status}',
                    errors,
                )

    def test_cluster_a_traced_node_is_killed(self):
        with Cluster(self.vmrun, host=HOST) as cluster:
            node = cluster.node('one', 'server')
            tracer = self.start(
                '--node',
                f'one@{HOST}',
                '--cookie',
                cluster.cookie,
                '-q',
                '-n',
                'tick-10ms { printf("tick\\n"); }',
                env=cluster.environment,
            )
            expect(tracer.stdout.readline() == 'tick\n', 'nothing is traced')
            node.process.kill()
            tracer.communicate(timeout=session.LIMIT)
            expect(tracer.returncode == 0, f'status {tracer.returncode}')

    # -- a request that goes over two nodes

    def follow(self, trace):
        """Returns what trace(nodes) sees of a request: (node, what) in the order of time, pids by their part
        in it."""
        with Cluster(self.vmrun, host=HOST) as cluster:
            server = cluster.node('server', 'server')
            client = cluster.node('client', 'client', f'server@{HOST}')
            tracers = trace(cluster, [server, client])
            client.line('go')
            client.wait_for('done')
            lines_of = {'client': client.output.seen, 'server': server.output.seen}
            pids = {
                (node, line.split()[1]): part
                for node, part in (('client', 'client'), ('server', 'desk'))
                for line in lines_of[node]
                if line.startswith('self')
            }
            pids |= {
                ('server', line.split()[1]): 'worker'
                for line in lines_of['client']
                if line.startswith('worker')
            }
            client.finish()
            server.process.terminate()  # a killed one may not have reported its rings yet
            lines = tracers()
        names = {str(client.process.pid): 'client', str(server.process.pid): 'server'}
        events = [
            re.fullmatch(r'(\d+) (\d+) (\S+) (sends to|is sent|receives)(.*): label 77, .*', line)
            for line in lines
        ]
        return [
            event[1:]
            for event in sorted((int(e[1]), names[e[2]], pids[names[e[2]], e[3]], e[4]) for e in events if e)
        ]

    EXPECTED = [
        ('client', 'client', 'sends to'),
        ('server', 'desk', 'is sent'),
        ('server', 'desk', 'receives'),
        ('server', 'worker', 'is sent'),
        ('server', 'worker', 'receives'),
        ('server', 'worker', 'sends to'),
        ('client', 'client', 'is sent'),
        ('client', 'client', 'receives'),
    ]

    def test_cluster_a_request_is_followed_by_vmtrace(self):
        def trace(cluster, nodes):
            targets = [word for node in nodes for word in ('-p', str(node.process.pid))]
            tracer = self.start(
                '-q', *targets, '-s', str(self.root / 'scripts/d/seq-trace-nodes.d'), env=cluster.environment
            )
            lines = session.Lines(tracer.stdout)
            for _ in nodes:
                lines.until('tracing', 'vmtrace')
            return lambda: (tracer.wait(session.LIMIT), lines.rest())[1]

        seen = self.follow(trace)
        expect(seen == self.EXPECTED, 'vmtrace saw something else', *seen)

    def test_cluster_a_request_is_followed_by_bpftrace(self):
        session.require_tracer()

        def trace(cluster, nodes):
            tracers = [
                session.Tracer(node.process.pid, self.root / 'scripts/bpftrace/seq-trace-nodes.bt')
                for node in nodes
            ]
            return lambda: [line for tracer in tracers for line in tracer.lines()]

        seen = self.follow(trace)
        expect(seen == self.EXPECTED, 'bpftrace saw something else', *seen)

    # -- a connection that has more to send than goes through

    PACKETS = [
        'dist__port_busy',
        'dist__output',
        'dist__outputv',
        'dist__port_not_busy',
        'dist__monitor',
        'port__busy',
        'port__not_busy',
    ]
    BYTES = 512 * 65536

    def flood(self, trace, flags=()):
        """Returns what trace(target) sees, as lists of words, of a process that sends to a stopped node until
        the sender and the port wait."""
        with Cluster(self.vmrun, host=HOST) as cluster:
            sink = cluster.node('sink', 'sink', source=HERE / 'flood.act')
            source = cluster.node(
                'source', 'source', f'sink@{HOST}', flags=['+zdbbl', '1', *flags], source=HERE / 'flood.act'
            )
            tracer = trace(source)
            sink.process.send_signal(signal.SIGSTOP)
            source.line('go')
            seen = []
            while not {'port__busy', 'dist__port_busy'} <= {e[0] for e in seen}:  # in this order or the other
                line = tracer.next()
                expect(line is not None, 'the tracer has ended', *seen[-5:])
                seen += [line.split()] if line.startswith(('dist__', 'port__')) else []
            sink.process.send_signal(signal.SIGCONT)
            source.wait_for('done')
            sink.process.kill()
            while seen[-1][0] != 'dist__monitor':
                line = tracer.next()
                expect(line is not None, 'the tracer has ended', *seen[-5:])
                seen += [line.split()] if line.startswith(('dist__', 'port__')) else []
            source.finish()
            return next(line.split()[1] for line in source.output.seen if line.startswith('self')), seen

    def check_flood(self, process, seen, packet='dist__outputv'):
        own, other = f'source@{HOST}', f'sink@{HOST}'
        port = seen[0][2]
        expect(re.fullmatch(r'#Port<0\.\d+>', port) is not None, 'no port', *seen[:3])
        waits = {tuple(e[1:]) for e in seen if e[0] == 'dist__port_busy'}
        # Processes of the machine that send meanwhile wait like the one that floods.
        expect(
            (own, port, other, process) in waits and {w[:3] for w in waits} == {(own, port, other)},
            'dist-port_busy',
            *waits,
        )
        packets = [e for e in seen if e[0].startswith('dist__output')]
        expect({tuple(e[:4]) for e in packets} == {(packet, own, port, other)}, packet, *packets[:3])
        sizes = [int(e[4]) for e in packets]
        expect(min(sizes) > 0 and sum(sizes) > self.BYTES, f'{sum(sizes)} bytes in {len(sizes)} packets')
        expect(
            seen[-1] == ['dist__monitor', own, 'nodedown', other, 'visible', 'normal'],
            'dist-monitor',
            seen[-1],
        )
        ports = [
            e for e in seen if e[0] in ('port__busy', 'port__not_busy', 'dist__port_not_busy') and port in e
        ]
        kinds = [e[0] for e in ports]
        expect(
            kinds == ['port__busy', 'port__not_busy', 'dist__port_not_busy'] * (len(kinds) // 3) and kinds,
            'the order',
            *kinds,
        )
        expect(
            {tuple(e[1:]) for e in ports if e[0] == 'dist__port_not_busy'} == {(own, port, other)},
            'dist-port_not_busy',
            *ports[:3],
        )

    def flood_seen_by_vmtrace(self, **more):
        clauses = ''.join(
            f'erlang$target:::{p.d_name} {{ printf("{p.name}{" %s" * len(p.arguments)}\\n", '.replace(
                '%s\\n', '%d\\n' if p.arguments[-1].kind == 'int' else '%s\\n'
            )
            + ', '.join(
                f'copyinstr(arg{i})' if a.kind == 'string' else f'(int)arg{i}'
                for i, a in enumerate(p.arguments)
            )
            + '); } '
            for p in self.table.probes
            if p.name in self.PACKETS
        )

        def trace(target):
            lines = session.Lines(
                self.start(
                    '-q', '-p', str(target.process.pid), '-n', 'BEGIN { printf("tracing\\n"); } ' + clauses
                ).stdout
            )
            lines.until('tracing', 'vmtrace')
            return lines

        return self.flood(trace, **more)

    def test_cluster_a_flood_is_seen_by_vmtrace(self):
        self.check_flood(*self.flood_seen_by_vmtrace())

    def test_cluster_a_flood_through_a_driver_without_outputv_is_seen_by_vmtrace(self):
        self.check_flood(*self.flood_seen_by_vmtrace(flags=['-proto_dist', 'plain']), packet='dist__output')

    # -- what goes to another node, with all arguments

    def test_cluster_messages_and_ends_there_are_seen_by_gdb(self):
        names = ['message__send', 'message__send__remote', 'process__exit_signal__remote']
        with Cluster(self.vmrun, host=HOST) as cluster:
            cluster.node('there', 'there', source=HERE / 'far_words.act')
            lines, firings = wide.trace(
                self.vmrun,
                HERE / 'far_words.act',
                self.table,
                names,
                ['+S', '2', *cluster.flags('here')],
                ['here', f'there@{HOST}'],
                cluster.environment,
            )
        known = dict(line.split(' ', 1) for line in lines if ' ' in line)
        node, this, far, near = f'there@{HOST}', known['self'], known['far'], known['near']
        named = f"{{there,'{node}'}}"
        sent = [
            f'{probe} {this} {to} {rest}'
            for to, rest in ((named, '3 0 0 0'), (far, '0 0 0 0'), (far, '4 5 0 1'))
            for probe in ('message-send', 'message-send-remote')
        ]
        wanted = [
            line.replace('message-send-remote ' + this, f'message-send-remote {this} {node}') for line in sent
        ] + [
            f"process-exit_signal-remote {by} {node} {{{to},'{node}'}} {reason} 0 0 0"
            for by, to, reason in ((this, known['killed'], 'because'), (near, far, known['reason']))
        ]
        seen = [
            str(f)
            for f in firings
            if f.arguments[0] in (this, near)
            and (f.probe != 'message__send' or f.arguments[1] in (far, named))
        ]
        expect(seen == wanted, 'other firings', *seen)

    # -- OTP's own scripts

    # Turns its lines into those of the tracers above.
    OF_DIST = [
        (
            r'dist port_busy: node (\S+), port (\S+), remote_node (\S+), blocked pid (\S+)',
            r'dist__port_busy \1 \2 \3 \4',
        ),
        (
            r'port outputv: node (\S+), port (\S+), remote_node (\S+) bytes (\d+)',
            r'dist__outputv \1 \2 \3 \4',
        ),
        (r'dist output: node (\S+), port (\S+), remote_node (\S+) bytes (\d+)', r'dist__output \1 \2 \3 \4'),
        (
            r'monitor: pid \d+, who (\S+), what (\S+), node (\S+), type (\S+), reason (\S+)',
            r'dist__monitor \1 \2 \3 \4 \5',
        ),
    ]
    # Lines that it leaves out.
    BESIDE_DIST = ''.join(
        f'erlang$target:::{name.replace("__", "-")} {{ printf("{name}{" %s" * n}\\n", '
        f'{", ".join(f"copyinstr(arg{i})" for i in range(n))}); }} '
        for name, n in (('port__busy', 1), ('port__not_busy', 1), ('dist__port_not_busy', 3))
    )

    def test_cluster_a_flood_is_seen_by_otps_dist(self):
        seen_waiting = []

        class Events:
            def __init__(self, lines):
                self.lines = lines

            def next(self):
                line = self.lines.next()
                if line and re.fullmatch(r'blocked pid (\S+) scheduled now, waited \d+ microseconds', line):
                    seen_waiting.append(line.split()[2])
                for pattern, text in Suite.OF_DIST if line else ():
                    line = re.sub(pattern, text, line)
                return line

        def trace(target):
            lines = session.Lines(
                self.start(
                    '-q',
                    '-p',
                    str(target.process.pid),
                    '-n',
                    'BEGIN { printf("tracing\\n"); } ' + self.BESIDE_DIST,
                    '-s',
                    str(otp_scripts.path_of('dist')),
                ).stdout
            )
            lines.until('tracing', 'vmtrace')
            return Events(lines)

        process, seen = self.flood(trace)
        self.check_flood(process, seen)
        waited = {e[4] for e in seen if e[0] == 'dist__port_busy'}  # check_flood says who may be among them
        expect(
            {process} <= set(seen_waiting) <= waited,
            'who went on',
            *set(seen_waiting),
            'who had waited',
            *waited,
        )

    def far_words(self, script):
        """Returns what the program knows, and the script's lines."""
        with Cluster(self.vmrun, host=HOST) as cluster:
            cluster.node('there', 'there', source=HERE / 'far_words.act')
            here = cluster.node('here', 'here', f'there@{HOST}', source=HERE / 'far_words.act')
            tracer = self.start(
                '-q',
                '-p',
                str(here.process.pid),
                '-n',
                'BEGIN { printf("tracing\\n"); }',
                '-s',
                str(otp_scripts.path_of(script)),
            )
            lines = session.Lines(tracer.stdout)
            lines.until('tracing', 'vmtrace')
            here.line('go')
            here.wait_for('done')
            return here.finish(), lines.rest()

    def test_cluster_messages_there_are_seen_by_otps_messages(self):
        known, lines = self.far_words('messages')
        this, far = known['self'], known['far']
        # The script shows a message without a token twice.
        twice = [
            f'send :  {this}{label} -> there@{HOST} {to}: {words} words'
            for to, words in ((f"{{there,'there@{HOST}'}}", 3), (far, 0))
            for label in ('', ' label 0 token {0,0}')
        ]
        wanted = [*twice, f'send :  {this} label 5 token {{0,1}} -> there@{HOST} {far}: 4 words']
        expect([line for line in lines if line.startswith(f'send :  {this}')] == wanted, 'messages', *lines)

    def test_cluster_ends_there_are_seen_by_otps_spawn_exit(self):
        known, lines = self.far_words('spawn-exit')
        this, far, killed, near, reason = (
            known[name] for name in ('self', 'far', 'killed', 'near', 'reason')
        )
        otp_scripts.Suite.in_order(
            lines, [f"sender {this} -> node there@{HOST} pid {{{killed},'there@{HOST}'}} reason because"]
        )
        otp_scripts.Suite.in_order(
            lines,
            [
                f'pid {near} reason {reason}',
                f"sender {near} -> node there@{HOST} pid {{{far},'there@{HOST}'}} reason {reason}",
                f'sender {far} -> pid {this} reason {reason}',
            ],
        )

    def test_cluster_a_flood_is_seen_by_bpftrace(self):
        session.require_tracer()

        class Events:
            """Its lines, with blanks between the words, and without time and thread."""

            def __init__(self, lines):
                self.lines = lines

            def next(self):
                line = self.lines.next()
                return line and ' '.join(line.split('|')[2:])

        self.check_flood(
            *self.flood(
                lambda target: Events(
                    session.Tracer(target.process.pid, session.program(self.table, self.PACKETS)).output
                )
            )
        )
