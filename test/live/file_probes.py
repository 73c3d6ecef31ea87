# SPDX-License-Identifier: Apache-2.0
"""The probes of the file driver and the async pool: traces G8 and G9, the slots of every command, probes that
fire without a command."""
import pathlib
import sys
import tempfile

from harness.results import Test

from . import session, wide
from .attach import expect

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'drivers/efile'))
import gen_commands  # noqa: E402

NUMBERS = {row[0]: row[1] for row in gen_commands.parse(HERE.parents[1] / 'drivers/efile/commands.tab')}
OPEN, READ, LSEEK, WRITE, PREADV, IPREAD, CLOSE, RENAME, SETOPT, READ_LINE = (
    NUMBERS[name] for name in 'OPEN READ LSEEK WRITE PREADV IPREAD CLOSE RENAME SETOPT READ_LINE'.split()
)
KEPT_OF_TAG = 128  # bytes of a user tag that an operation has at its end


def tests(root, vmrun, table):
    suite = Suite(vmrun, table)
    result = []
    for threads in ('0', '8'):
        result += [
            Test('live', f'{name} +A {threads}', lambda run=run, a=threads: run(a), in_turn=True)
            for name, run in (
                ('G8 rename that fails', suite.g8),
                ('G9 raw file', suite.g9),
                ('file driver, slots of every command', suite.slots),
                ('file driver, the four probes of an operation', suite.identity),
                ('file driver, firing rules', suite.rules),
            )
        ]
    return result + [
        Test('live', 'file driver, short circuit', suite.short_circuit, in_turn=True),
        Test('live', 'async pool, lengths of queues', suite.queue_lengths, in_turn=True),
    ]


def shown(event):
    return ' '.join([event.probe.replace('__', '-'), *event.arguments])


def same(got, wanted):
    expect(
        [shown(e) for e in got] == wanted,
        'another trace',
        'expected:',
        *['  ' + w for w in wanted],
        'got:',
        *['  ' + shown(e) for e in got],
    )


def number(event, i):
    return int(event.arguments[i])


def command_of(event):
    return number(event, 3 if event.probe in ('efile_drv__entry', 'efile_drv__return') else 2)


def identity_of(event):
    return tuple(event.arguments[:2])


class Suite:
    def __init__(self, vmrun, table):
        self.vmrun, self.table = vmrun, table

    def family(self, *families):
        return [p.name for p in self.table.probes if p.family in families]

    def traced(self, source, families, threads, environment=None):
        with tempfile.TemporaryDirectory(prefix='vmrun-live-') as folder:
            known, lines = session.trace(
                self.vmrun,
                HERE / source,
                session.program(self.table, self.family(*families)),
                ('+S', '2', '+A', threads),
                [folder],
                environment,
            )
        return known, session.events(lines)

    # -- canonical traces

    def g8(self, threads):
        known, found = self.traced('g8.act', ['efile_drv', 'aio_pool', 'port', 'driver', 'message'], threads)
        a, f = known['main'], known['server']
        entries = [e for e in found if e.probe == 'efile_drv__entry' and command_of(e) == RENAME]
        expect(len(entries) == 2, 'not two renames', *map(shown, found[-40:]))
        for entry, tag, size in zip(entries, ('some-user-tag', ''), (33, 20)):
            t, n = identity_of(entry)
            k = next(
                e.arguments[1] for e in found if e.probe == 'driver__ready_async' and e.time > entry.time
            )
            until = next(e.time for e in found if e.probe == 'efile_drv__return' and identity_of(e) == (t, n))
            since = max(e.time for e in found if e.probe == 'port__command' and e.time < entry.time)
            part = [
                e
                for e in found
                if since <= e.time <= until
                and (k in e.arguments or e.probe.startswith('efile_drv') or e.arguments[0] == f)
            ]
            reply = next(e for e in part if e.probe == 'message__queued')
            pool = [f'aio_pool-add {k} 1', f'aio_pool-get {k} 0'] if threads != '0' else []
            same(
                part,
                [
                    f'port-command {f} {k} efile command',
                    f'driver-outputv {f} {k} efile {size}',
                    f'efile_drv-entry {t} {n} {tag} 12 old-name new-name',
                    *pool,
                    f'efile_drv-int_entry {t} {n} 12',
                    f'efile_drv-int_return {t} {n} 12',
                    f'driver-ready_async {f} {k} efile',
                    shown(reply),
                    f'efile_drv-return {t} {n} {tag} 12 0 2',
                ],
            )
            expect(reply.arguments[0] == f, f'the answer goes to {reply.arguments[0]}, not to {f}')
            work, rest = [e for e in part if '__int_' in e.probe], [
                e for e in part if e.probe in ('efile_drv__entry', 'efile_drv__return')
            ]
            expect(len({e.thread for e in work}) == 1, 'int_entry and int_return on different threads')
            expect(
                (work[0].thread == rest[0].thread) == (threads == '0'),
                'the work was done on the wrong kind of thread',
            )
            expect(rest[0].thread == rest[1].thread, 'entry and return on different schedulers')
            # Around it are the call from A to the server and the answer.
            around = [
                e
                for e in found
                if e.probe.startswith('message') and a in e.arguments[:2] and f in e.arguments[:2] + [f]
            ]
            expect(
                any(e.probe == 'message__send' and e.arguments[:2] == [a, f] for e in around),
                'no call to the server',
            )
            expect(
                any(e.probe == 'message__send' and e.arguments[:2] == [f, a] for e in around),
                'no answer of the server',
            )

    def g9(self, threads):
        known, found = self.traced('g9.act', ['efile_drv', 'aio_pool', 'port', 'driver'], threads)
        a, name = known['main'], known['name']
        start = next(e for e in found if e.probe == 'driver__start' and e.arguments[:2] == [a, 'efile'])
        k = start.arguments[2]
        mine = {identity_of(e) for e in found if e.probe == 'efile_drv__entry' and start.time < e.time}
        part = [
            e
            for e in found
            if k in e.arguments
            and not e.probe.startswith(('port__command', 'driver__outputv', 'driver__ready'))
            or e.probe.startswith('efile_drv')
            and identity_of(e) in mine
        ]
        end = next(i for i, e in enumerate(part) if e.probe == 'driver__stop')
        first, second = part[: end + 1], part[end + 1 :]
        tags = [identity_of(e) for e in first if e.probe == 'efile_drv__entry']
        expect(len(tags) == 3, 'not three operations', *map(shown, first))
        pool = [f'aio_pool-add {k} 1', f'aio_pool-get {k} 0'] if threads != '0' else []

        def operation(identity, command, s1):
            t, n = identity
            return [
                f'efile_drv-entry {t} {n}  {command} {s1} ',
                *pool,
                f'efile_drv-int_entry {t} {n} {command}',
                f'efile_drv-int_return {t} {n} {command}',
                f'efile_drv-return {t} {n}  {command} 1 0',
            ]

        same(
            first,
            [
                f'driver-start {a} efile {k}',
                f'port-open {a} efile {k}',
                *operation(tags[0], OPEN, name),
                *operation(tags[1], READ, ''),
                *operation(tags[2], CLOSE, ''),
                f'port-exit {a} {k} efile normal',
                f'driver-stop {a} efile {k}',
            ],
        )
        on_one_scheduler = len({t for t, _ in tags}) == 1
        expect(not on_one_scheduler or int(tags[0][1]) < int(tags[1][1]) < int(tags[2][1]), f'numbers {tags}')
        missing = [e for e in second if e.probe == 'efile_drv__return']
        expect(
            [e.arguments[3:] for e in missing] == [['1', '0', '2']],
            'open of a missing file',
            *map(shown, second),
        )

    # -- all arguments

    def slots(self, threads):
        with tempfile.TemporaryDirectory(prefix='vmrun-live-') as folder:
            lines, firings = wide.trace(
                self.vmrun,
                HERE / 'efile_slots.act',
                self.table,
                ['efile_drv__entry', 'efile_drv__return'],
                ('+S', '1', '+A', threads),
                [folder],
            )
        returns = {tuple(e.arguments[:2]): e for e in firings if e.probe == 'efile_drv__return'}
        firings = [e for e in firings if e.probe == 'efile_drv__entry']
        wanted = [line[len('expect ') :] for line in lines if line.startswith('expect ')]
        got = ['|'.join(e.arguments[2:]) for e in firings if e.arguments[10] in '\n'.join(wanted)]
        for w, g in zip(wanted, got):
            expect(w == g, f'expected {w}', f'got      {g}')
        expect(len(got) == len(wanted), f'{len(got)} entries, {len(wanted)} expected', *got[len(wanted) :])
        commands = {int(w.split('|')[1]) for w in wanted}
        expect(
            commands == set(range(1, 34)) - {17, 18},
            f'commands left out: {set(range(1, 34)) - {17, 18} - commands}',
        )
        numbers = [int(e.arguments[1]) for e in firings]
        expect(
            numbers == list(range(numbers[0], numbers[0] + len(numbers))), f'numbers of operations: {numbers}'
        )
        expect({e.arguments[0] for e in firings} == {'1'}, 'the thread is not scheduler 1')
        for e in firings:
            kept = '' if e.arguments[2] == 'NULL' else e.arguments[2][:128]
            expect(
                returns[identity_of(e)].arguments[2] == kept,
                'the tag at return',
                shown(e),
                shown(returns[identity_of(e)]),
            )

    # -- identity

    def identity(self, threads):
        _, found = self.traced('efile_slots.act', ['efile_drv'], threads)
        by_name = {}
        for e in found:
            by_name.setdefault(identity_of(e), []).append(e)
        closing = [
            name
            for name, events in by_name.items()
            if [e.probe for e in events] == ['efile_drv__int_entry', 'efile_drv__int_return']
        ]
        expect(len(closing) <= 1, f'without an entry: {closing}')
        for name, events in by_name.items():
            if name in closing:
                continue
            entry = events[0]
            expect(entry.probe == 'efile_drv__entry', f'{name} begins with {shown(entry)}')
            command = command_of(entry)
            inner = {
                SETOPT: [],
                IPREAD: ['int_entry 27', 'int_entry 25', 'int_return 25', 'int_return 27'],
            }.get(command, [f'int_entry {command}', f'int_return {command}'])
            got = [f'{e.probe[11:]} {command_of(e)}' for e in events]
            if command == READ_LINE and threads == '0':  # one read at a time
                got = got[:3] + got[-1:]
            expect(got == [f'entry {command}', *inner, f'return {command}'], f'operation {name}: {got}')
            expect(
                events[-1].arguments[2] == entry.arguments[2][:KEPT_OF_TAG],
                'another user tag at return',
                shown(entry),
                shown(events[-1]),
            )

    # -- what fires of its own accord

    def rules(self, threads):
        known, found = self.traced('efile_rules.act', ['efile_drv', 'aio_pool', 'driver'], threads)
        inline = threads == '0'
        entered = {identity_of(e) for e in found if e.probe == 'efile_drv__entry'}
        # Files that their port leaves open are closed without an entry or a return.
        silent = {}
        for e in found:
            if e.probe.startswith('efile_drv') and identity_of(e) not in entered:
                silent.setdefault(identity_of(e), []).append(f'{e.probe} {command_of(e)}')
        expect(
            list(silent.values()) == [['efile_drv__int_entry 23', 'efile_drv__int_return 23']] * 2,
            'closing at port exit',
            silent,
        )

        def operations(mark, following):
            """Returns the efile_drv events of one part of the program: command numbers with e(ntry), i(nt),
            o(ut), r(eturn)."""
            begin = next(e.time for e in found if e.probe == 'efile_drv__entry' and e.arguments[2] == mark)
            ends = [e.time for e in found if e.probe == 'efile_drv__entry' and e.arguments[2] == following]
            letters = {
                'efile_drv__entry': 'e',
                'efile_drv__int_entry': 'i',
                'efile_drv__int_return': 'o',
                'efile_drv__return': 'r',
            }
            return ' '.join(
                letters[e.probe] + str(command_of(e))
                for e in found
                if e.probe in letters
                and identity_of(e) in entered
                and begin <= e.time < (ends[0] if ends else 1 << 63)
            )

        def plain(command):
            return f'e{command} i{command} o{command} r{command}'

        def check(mark, following, wanted):
            got = operations(mark, following)
            expect(got == wanted, f'part {mark}:', f'expected {wanted}', f'got      {got}')

        setopt = 'e26 r26'
        check('nothing', 'delayed', f'{plain(OPEN)} {plain(CLOSE)}')
        # The write comes in front of the seek, and of the close. Both are accepted before the first is done.
        both = {c: (f'e4 e{c} i4 o4 r4 i{c} o{c} r{c}') for c in (LSEEK, CLOSE)}
        check(
            'delayed',
            'ahead',
            ' '.join([plain(OPEN), setopt, both[LSEEK], plain(WRITE), setopt, both[CLOSE]]),
        )
        back_and_ask = 'e3 e3 i3 o3 r3 i3 o3 r3'
        back_and_write = 'e3 e4 i3 o3 r3 i4 o4 r4'
        check(
            'ahead',
            'indirect',
            ' '.join(
                [
                    plain(OPEN),
                    setopt,
                    plain(READ),
                    back_and_ask,
                    plain(READ),
                    back_and_write,
                    plain(LSEEK),
                    plain(CLOSE),
                ]
            ),
        )
        check(
            'indirect',
            'large',
            ' '.join([plain(OPEN), plain(WRITE), 'e27 i27 i25 o25 o27 r27', plain(CLOSE)]),
        )
        write, read = (
            f'e{c} ' + ('i{0} o{0} '.format(c) * 3 if inline else f'i{c} o{c} ') + f'r{c}'
            for c in (WRITE, READ)
        )
        check('large', 'left', ' '.join([plain(OPEN), write, plain(LSEEK), read, plain(CLOSE)]))
        check('left', 'flushed', plain(OPEN))
        port = known['flushed'].split()[0]
        flushed = [e for e in found if port in e.arguments]
        expect(any(e.probe == 'driver__flush' for e in flushed), 'no driver-flush', *map(shown, flushed))
        if inline:
            part = [
                e
                for e in found
                if known['large'].split()[0] in e.arguments
                and e.probe in ('driver__ready_async', 'driver__timeout')
            ]
            order = ''.join('t' if e.probe == 'driver__timeout' else 'r' for e in part)
            expect(
                order == 'r' + 'rtrtr' + 'r' + 'rtrtr' + 'r',
                f'ready_async and timeouts of the parts: {order}',
            )
        marks = {e.arguments[2]: e for e in found if e.probe == 'efile_drv__entry'}
        # The write in front of a command carries that command's tag.
        carried = [
            command_of(e) for e in found if e.probe == 'efile_drv__entry' and e.arguments[2] == 'flusher'
        ]
        expect(carried == [WRITE, LSEEK], f'the tag of the flushing command is on {carried}')
        expect(command_of(marks['too much']) == WRITE, 'the write that was too much')

    def short_circuit(self):
        for level in (1, 2):
            _, found = self.traced(
                'efile_slots.act',
                ['efile_drv', 'aio_pool', 'driver'],
                '8',
                {'ERL_EFILE_THREAD_SHORT_CIRCUIT': str(level)},
            )
            data = {READ, LSEEK, WRITE, 24, PREADV, IPREAD, 29}
            threads = {}
            for e in found:
                if e.probe.startswith('efile_drv'):
                    threads.setdefault(identity_of(e), []).append(e)
            for events in threads.values():
                if events[0].probe != 'efile_drv__entry':
                    continue  # the close of a port that has ended
                command = command_of(events[0])
                inline = level == 2 or command in data or command == SETOPT
                expect(
                    (len({e.thread for e in events}) == 1) == inline,
                    f'level {level}, command {command}',
                    *map(shown, events),
                )
            added = [e for e in found if e.probe == 'aio_pool__add']
            ready = [e for e in found if e.probe == 'driver__ready_async']
            expect(bool(added) == (level == 1), f'level {level}: {len(added)} jobs in the pool')
            pooled = [
                events
                for events in threads.values()
                if level == 1
                and events[0].probe == 'efile_drv__entry'
                and command_of(events[0]) not in data | {SETOPT}
            ]
            expect(
                len(ready) == len(pooled),
                f'level {level}: {len(ready)} driver-ready_async, {len(pooled)} operations in the pool',
            )

    def queue_lengths(self):
        """Checks that lengths are right: what is added and taken adds up, in every queue."""
        _, found = self.traced('aio_queue.act', ['aio_pool'], '1')
        length = 0
        for e in found:
            n = number(e, 1)
            expect(n >= 0, f'length {n}')
            length += 1 if e.probe == 'aio_pool__add' else -1
        expect(length == 0, f'{length} jobs are left')
        added = [number(e, 1) for e in found if e.probe == 'aio_pool__add']
        taken = [number(e, 1) for e in found if e.probe == 'aio_pool__get']
        # Every length occurs equally often on the way up and on the way down.
        expect(
            sorted(added) == sorted(n + 1 for n in taken),
            'lengths do not match',
            sorted(added)[-10:],
            sorted(taken)[-10:],
        )
        expect(max(added) > 1, 'no queue was ever longer than one')
