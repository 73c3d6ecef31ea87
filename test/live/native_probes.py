# SPDX-License-Identifier: Apache-2.0
"""The nif probes, and message-send for what native functions send."""
import pathlib
import tempfile

from harness import native
from harness.results import Test

from . import session
from .attach import expect

HERE = pathlib.Path(__file__).resolve().parent


def tests(root, vmrun, table):
    suite = Suite(root, vmrun, table)
    return [
        Test('live', 'native functions', suite.functions, in_turn=True),
        Test('live', 'attached in a long slice', suite.attached_late, in_turn=True),
        Test('live', 'script nif.bt', suite.script, in_turn=True),
    ]


class Suite:
    def __init__(self, root, vmrun, table):
        self.root, self.vmrun, self.table = root, vmrun, table

    def trace(self, text):
        session.require_tracer()
        with tempfile.TemporaryDirectory(prefix='vmrun-native-') as name:
            folder = native.Libraries(self.root, name, pathlib.Path(self.vmrun).parent).get('own')
            return session.trace(
                self.vmrun,
                HERE / 'nif.act',
                text,
                ('+S', '2', '-pa', str(folder)),
                environment={'NATIVE_DIR': str(folder)},
            )

    def functions(self):
        text = session.program(
            self.table,
            ['nif__entry', 'nif__return', 'message__send', 'process__scheduled', 'process__unscheduled'],
        )
        known, lines = self.trace(text)
        found = session.events(lines)
        of = lambda pid: [e for e in found if e.probe.startswith('nif__') and e.arguments[0] == known[pid]]
        self.plain(of('plain'), [e for e in found if e.arguments[0] == known['plain']])
        self.yielding(of('yielding'), int(known['calls']))
        got = [(e.probe, e.arguments[1]) for e in of('killed')]
        expect(got == [('nif__entry', 'terms:held/1')], 'killed in a dirty function', got)
        for name, initial, function in (
            ('spawned', 'primes:dirty_cpu/1', 'primes:dirty_cpu/1'),
            ('tail', 'erlang:apply/2', 'primes:dirty_io/1'),
        ):
            got = self.scheduled([e for e in found if e.arguments[0] == known[name]])
            expect(got == [initial, function, initial], f'{name}: scheduled as', got)
        sent = [
            e.arguments[:3] for e in found if e.probe == 'message__send' and e.arguments[0] == known['sender']
        ]
        expect(
            sent == [[known['sender'], known['main'], '3'], [known['sender'], known['main'], '3']],
            'messages of a native function',
            sent,
        )

    def scheduled(self, got):
        """Returns the function named each time a process is scheduled: the initial call after a dirty
        function."""
        return [e.arguments[1] for e in got if e.probe == 'process__scheduled']

    def plain(self, got, everything):
        names = [
            'here/0',
            'dirty_cpu/1',
            'dirty_io/1',
            'dirty_cpu/1',
            'terms:swap/1',
            'there_and_back/1',
            'dirty/1',
        ]
        wanted = []
        for name in names:
            name = name if ':' in name else 'primes:' + name
            wanted += [('nif__entry', name), ('nif__return', name)]
        expect([(e.probe, e.arguments[1]) for e in got] == wanted, 'another trace', *got)
        threads = {}
        for entry, back in zip(got[::2], got[1::2]):
            expect(entry.thread == back.thread, 'entry and return in different threads', entry, back)
            threads.setdefault(entry.arguments[1], set()).add(entry.thread)
        normal = threads['primes:here/0'] | threads['terms:swap/1'] | threads['primes:there_and_back/1']
        dirty = threads['primes:dirty_cpu/1'] | threads['primes:dirty_io/1'] | threads['primes:dirty/1']
        expect(not normal & dirty, 'dirty functions on schedulers', threads)
        expect(
            not threads['primes:dirty_cpu/1'] & threads['primes:dirty_io/1'],
            'one thread for both kinds',
            threads,
        )
        # The process is also scheduled in and out on dirty threads.
        running = None
        for e in everything:
            if e.probe == 'process__scheduled':
                expect(running is None, 'scheduled twice', *everything)
                running = e.thread
            elif e.probe == 'process__unscheduled':
                expect(running == e.thread, 'unscheduled elsewhere', *everything)
                running = None
            else:
                expect(running == e.thread, 'an event of a process that does not run there', e, *everything)

    def attached_late(self):
        """A process in the middle of a slice that slow native calls make long is seen after its next such
        call."""
        probes = ['nif__entry', 'nif__return', 'local__function__entry']
        text = (
            session.program(self.table, probes)
            + '\nusdt:*:erlang:nif__return { @calls++; if (@calls == 4) { exit(); } }'
        )
        session.require_tracer()
        with tempfile.TemporaryDirectory(prefix='vmrun-native-') as name:
            folder = native.Libraries(self.root, name, pathlib.Path(self.vmrun).parent).get('own')
            with session.Target(
                self.vmrun,
                HERE / 'naps.act',
                ('+S', '2', '-pa', str(folder)),
                (),
                {'NATIVE_DIR': str(folder)},
            ) as target:
                lines = session.Tracer(target.process.pid, text).lines()
        got = [(e.probe, e.arguments[1]) for e in session.events(lines)]
        one = [('nif__entry', 'terms:nap/1'), ('nif__return', 'terms:nap/1')]
        # what comes before was attached while others were not
        whole = got[got.index(one[0]) :] if one[0] in got else []
        expect(whole[:5] == [*one, ('local__function__entry', 'naps:naps/0'), *one], 'another trace', *got)

    def yielding(self, got, calls):
        wanted = [('nif__entry', 'primes:yielding/1'), ('nif__return', 'primes:yielding/1')]
        wanted += [('nif__entry', 'primes:count/4'), ('nif__return', 'primes:count/4')] * calls
        expect(
            [(e.probe, e.arguments[1]) for e in got] == wanted,
            f'not one pair for each of {calls} calls',
            *got,
        )

    def script(self):
        known, lines = self.trace(self.root / 'scripts' / 'bpftrace' / 'nif.bt')
        out = '\n'.join(lines)
        for name in ('primes:here/0', 'primes:dirty_cpu/1', 'terms:swap/1'):
            expect(f'@calls[{name}]' in out and f'@ns[{name}]' in out, f'{name} does not show', out[-1500:])
