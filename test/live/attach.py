# SPDX-License-Identifier: Apache-2.0
"""The live-attach tests: counts, strings, the canonical traces G1 to G6 and G12, repeated attaching."""
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from harness.results import Failure, Test

from . import session, site_code, wide

HERE = pathlib.Path(__file__).resolve().parent


def suite_of(root, vmrun):
    sys.path.insert(0, str(root / 'probes'))
    import gen_probes

    return Suite(root, vmrun, gen_probes.parse(root / 'probes' / 'probes.tab'))


def tests(root, vmrun):
    suite = suite_of(root, vmrun)
    named = [
        (name[5:].replace('_', ' '), getattr(suite, name)) for name in dir(suite) if name.startswith('test_')
    ]
    named += [
        (f'script {path.name}', lambda path=path: suite.script(path))
        for path in sorted((root / 'scripts' / 'bpftrace').glob('*.bt'))
        # these need libraries: see native_probes and port_probes
        if path.stem not in ('nif', 'port', 'driver')
    ]
    return [Test('live', name, run, in_turn=True) for name, run in named]


def slow_tests(root, vmrun):
    return [
        Test(
            'slow',
            'attach a hundred times',
            lambda: suite_of(root, vmrun).attach_again_and_again(13),
            in_turn=True,
        )
    ]


def expect(condition, text, *details):
    if not condition:
        raise Failure(text + ''.join(f'\n  {detail}' for detail in details))


def numbers(text):
    return [int(n) for n in text.split()]


class Suite:
    def __init__(self, root, vmrun, table):
        self.root, self.vmrun, self.table = root, vmrun, table

    def family(self, *families):
        return [p.name for p in self.table.probes if p.family in families]

    def traced(self, source, families, flags=('+S', '2')):
        """Runs a program; returns what it printed and all firings of the families."""
        text = session.program(self.table, self.family(*families))
        known, lines = session.trace(self.vmrun, HERE / source, text, flags)
        return known, session.events(lines)

    # -- what is in the binary

    def test_listing_has_every_row(self):
        listed = subprocess.run([self.vmrun, '-l'], capture_output=True, text=True, timeout=60)
        expect(listed.returncode == 0, f'vmrun -l: status {listed.returncode}', listed.stderr)
        found = {}
        for line in listed.stdout.splitlines()[1:]:
            _, provider, _, _, name, arguments = line.split(None, 5)
            found[name] = (provider, arguments)
        for probe in self.table.probes:
            types = {'string': 'char *', 'int': 'int ', 'uint32': 'uint32_t ', 'int64': 'int64_t '}
            wanted = '(' + ', '.join(types[a.kind] + a.name for a in probe.arguments) + ')'
            expect(
                found.get(probe.d_name) == ('erlang', wanted),
                f'{probe.d_name}: expected {wanted}',
                f'listed: {found.get(probe.d_name)}',
            )
        expect(len(found) == len(self.table.probes), 'more is listed than the table has', *found)

    def test_sites_keep_nothing_below_the_stack(self):
        site_code.check(self.vmrun)

    def test_listing_without_notes(self):
        with tempfile.TemporaryDirectory(prefix='vmrun-live-') as folder:
            bare = pathlib.Path(folder) / 'vmrun'
            subprocess.run(['objcopy', '-R', '.note.stapsdt', self.vmrun, bare], check=True)
            listed = subprocess.run([bare, '-l'], capture_output=True, text=True, timeout=60)
        expect(
            (listed.returncode, listed.stdout) == (1, '')
            and 'this binary has no notes of probes' in listed.stderr,
            f'vmrun -l: status {listed.returncode}',
            listed.stdout[:500],
            listed.stderr,
        )

    # -- counts

    def test_counts(self):
        text = '''BEGIN { printf("tracing\\n"); }
            usdt:*:erlang:message__send { @send[str(arg0), str(arg1)] = count(); }
            usdt:*:erlang:message__queued { @queued[str(arg0)] = count(); }
            usdt:*:erlang:message__receive { @receive[str(arg0)] = count(); }
            usdt:*:erlang:process__spawn /str(arg1) == "counts:worker/2"/ { @spawn = count(); }
            usdt:*:erlang:process__exit { @exit[str(arg1)] = count(); }
            usdt:*:erlang:process__exit_signal { @signal[str(arg1), str(arg2)] = count(); }
            usdt:*:erlang:gc_major__start { @major[str(arg0)] = count(); }
            usdt:*:erlang:gc_major__end { @major_end[str(arg0)] = count(); }
            usdt:*:erlang:gc_minor__start { @minor = count(); }
            usdt:*:erlang:gc_minor__end { @minor_end = count(); }'''
        known, lines = session.trace(self.vmrun, HERE / 'counts.act', text)
        counted = {}
        for line in lines:
            match = re.fullmatch(r'@(\w+)(?:\[(.*)\])?: (\d+)', line)
            if match:
                counted[match[1], match[2]] = int(match[3])
        main, sink = known['main'], known['sink']
        for key, value in (
            (('send', f'{main}, {sink}'), known['sent']),
            (('queued', sink), known['sent']),
            (('receive', sink), known['received']),
            (('spawn', None), known['spawned']),
            (('exit', 'counted_exit'), known['exited']),
            (('signal', f'{main}, linked_exit'), known['signals']),
            (('exit', 'linked_exit'), known['signals']),
            (('major', known['collector']), known['majors']),
        ):
            expect(
                counted.get(key) == int(value),
                f'{key}: counted {counted.get(key)}, the program says {value}',
                *[f'{k}: {v}' for k, v in sorted(counted.items(), key=str)][:40],
            )
        expect(
            counted['major', known['collector']] == counted['major_end', known['collector']],
            'major collections begun and ended differ',
        )
        expect(
            counted.get(('minor', None)) == counted.get(('minor_end', None)),
            'minor collections begun and ended differ',
        )

    # -- strings

    def test_strings(self):
        known, found = self.traced('strings.act', ['process'])
        spawned = {e.arguments[0]: e.arguments[1] for e in found if e.probe == 'process__spawn'}
        exits = {e.arguments[0]: '|'.join(e.arguments[1:]) for e in found if e.probe == 'process__exit'}
        signals = {
            e.arguments[1]: '|'.join(e.arguments[2:]) for e in found if e.probe == 'process__exit_signal'
        }
        expect(spawned.get(known['mfa']) == 'strings:f/2', f'mfa: {spawned.get(known["mfa"])}')
        expect(spawned.get(known['anonymous']) == 'erlang:apply/2', 'mfa of a fun')
        expect(
            spawned.get(known['quoted']) == "strings:'odd name'/0",
            f'quoted mfa: {spawned.get(known["quoted"])}',
        )
        for name, reason in (
            ('tuple', '{a,"b",1.500000e+00,<<"bin">>,#{k=>\'A b\'}}'),
            ('list', '[1,-2,[],{}|x]'),
            ('string', '"line\\nquote\\""'),
            ('bits', '<<1,5:3>>'),
            ('bytes', '<<1,2,200>>'),
            ('atom', "'it\\'s'"),
            ('fun', 'fun lists:map/2'),
            ('normal', 'normal'),
            ('big', '1180591620717411303424'),
        ):
            got = exits.get(known[name])
            expect(got == reason, f'exit reason {name}: {got}', f'expected {reason}')
        self.check_error_reason(exits[known['error']], '{badarith,[{')
        self.check_error_reason(exits[known['throw']], '{{nocatch,ball},[{')
        expect(exits[known['killed']] == 'killed', f'killed: {exits[known["killed"]]}')
        expect(signals[known['killed']] == 'killed', f'signal: {signals[known["killed"]]}')

    @staticmethod
    def check_error_reason(got, start):
        expect(got.startswith(start), f'exit reason {got}', f'should start with {start}')

    # -- canonical traces (G1 to G6, G12 of the probe contract)

    def of_pid(self, found, *pids):
        return [e for e in found if e.arguments[0] in pids]

    def same(self, found, wanted):
        """Compares firings. wanted: probe and arguments, one text each; * stands for any one argument."""
        got = [' '.join([e.probe.replace('__', '-'), *e.arguments]) for e in found]
        ok = len(got) == len(wanted) and all(
            re.fullmatch(re.escape(w).replace(r'\*', r'\S+'), g) for g, w in zip(got, wanted)
        )
        expect(
            ok,
            'another trace',
            'expected:',
            *['  ' + w for w in wanted],
            'got:',
            *['  ' + g for g in got[:40]],
        )

    def test_G1_spawn_exit(self):
        known, found = self.traced('g1.act', ['process'])
        for name, mfa, reason in (
            ('fun', 'erlang:apply/2', 'normal'),
            ('mfa', 'g1:f/1', 'normal'),
            ('reason', 'erlang:apply/2', '{a,"b"}'),
        ):
            p = known[name]
            self.same(
                self.of_pid(found, p),
                [
                    f'process-spawn {p} {mfa}',
                    f'process-scheduled {p} {mfa}',
                    f'process-exit {p} {reason}',
                    f'process-unscheduled {p}',
                ],
            )
        a, p = known['main'], known['killed']
        after = self.since(found, lambda e: e.probe == 'process__exit_signal' and e.arguments[1] == p)
        self.same(
            [after[0], *self.of_pid(after[1:], p)],
            [
                f'process-exit_signal {a} {p} killed',
                f'process-scheduled {p} <exiting>',
                f'process-exit {p} killed',
                f'process-unscheduled {p}',
            ],
        )

    @staticmethod
    def since(found, condition):
        for i, event in enumerate(found):
            if condition(event):
                return found[i:]
        raise Failure('the trace has no such event\n' + '\n'.join(map(str, found[:60])))

    def window(self, found, a, number):
        """Returns the events between two markers: self-sends of size 8, which occur nowhere else here."""
        marks = [
            i for i, e in enumerate(found) if e.probe == 'message__receive' and e.arguments[:2] == [a, '8']
        ]
        sends = [
            i for i, e in enumerate(found) if e.probe == 'message__send' and e.arguments[:3] == [a, a, '8']
        ]
        expect(
            len(marks) > number + 1 and len(sends) > number + 1, 'markers are missing', *map(str, found[:40])
        )
        return found[marks[number] + 1 : sends[number + 1]]

    def test_G2_two_processes(self):
        known, found = self.traced('g2.act', ['message', 'copy'], ['+S', '2'])
        a, b = known['main'], known['other']
        thread = next(e.thread for e in found if e.probe == 'message__send' and e.arguments[:2] == [a, b])
        first = self.until_received(b, [e for e in self.window(found, a, 0) if self.concerns(e, b, thread)])
        self.same(
            first,
            [
                'copy-struct 3',
                f'message-send {a} {b} 3 0 0 0',
                f'message-queued {b} 3 1 0 0 0',
                f'message-receive {b} 3 0 0 0 0',
            ],
        )
        second = self.until_received(b, [e for e in self.window(found, a, 1) if self.concerns(e, b, None)])
        self.same(
            second,
            [
                f'message-send {a} {b} 0 0 0 0',
                f'message-queued {b} 0 1 0 0 0',
                f'message-receive {b} 0 0 0 0 0',
            ],
        )

    @staticmethod
    def concerns(event, b, thread):
        if event.probe == 'copy__struct':
            return event.thread == thread
        return b in event.arguments

    @staticmethod
    def until_received(b, found):
        last = next(
            (i for i, e in enumerate(found) if e.probe == 'message__receive' and e.arguments[0] == b),
            len(found),
        )
        return found[: last + 1]

    def test_G2_with_scheduling(self):
        known, found = self.traced('g2.act', ['message', 'process'], ['+S', '2'])
        a, b = known['main'], known['other']
        mine = [e for e in found if b in e.arguments[:2]]
        start = next(
            i for i, e in enumerate(mine) if e.probe == 'message__send' and e.arguments[:3] == [a, b, '0']
        )
        self.same(
            mine[start - 1 : start + 4],
            [
                f'process-unscheduled {b}',
                f'message-send {a} {b} 0 0 0 0',
                f'message-queued {b} 0 1 0 0 0',
                f'process-scheduled {b} *',
                f'message-receive {b} 0 0 0 0 0',
            ],
        )

    def test_G2_queue_lengths(self):
        known, found = self.traced('g2_lengths.act', ['message'], ['+S', '1'])
        b = known['other']
        queued = [e.arguments[2] for e in found if e.probe == 'message__queued' and e.arguments[0] == b]
        received = [e.arguments[2] for e in found if e.probe == 'message__receive' and e.arguments[0] == b]
        expect(queued == ['1', '2', '3'], f'queued lengths {queued}')
        expect(received == ['2', '1', '0'], f'lengths after receive {received}')

    def test_G3_self_send(self):
        known, found = self.traced('g3.act', ['message', 'copy'], ['+S', '2'])
        a = known['main']
        thread = next(
            e.thread for e in found if e.probe == 'message__send' and e.arguments[:3] == [a, a, '8']
        )
        inside = [e for e in self.window(found, a, 0) if a in e.arguments or e.thread == thread]
        self.same(inside, [f'message-send {a} {a} 3 0 0 0', f'message-receive {a} 3 0 0 0 0'])

    def test_self_send_through_an_alias(self):
        known, found = self.traced('alias_to_self.act', ['message', 'copy'], ['+S', '2'])
        a = known['main']
        thread = next(
            e.thread for e in found if e.probe == 'message__send' and e.arguments[:3] == [a, a, '8']
        )
        inside = [e for e in self.window(found, a, 0) if a in e.arguments or e.thread == thread]
        self.same(inside, [f'message-send {a} {a} 3 0 0 0', f'message-receive {a} 3 0 0 0 0'])

    def test_copies_to_a_known_process(self):
        known, found = self.traced('copies.act', ['copy'], ['+S', '1'])
        a = known['main']
        at = [i for i, e in enumerate(found) if e.probe == 'copy__object']
        pairs = [e for i in at for e in found[i : i + 2]]
        words = [19, 9, 9]  # {dictionary,[{key,{"word",1}}]}, {k,"abc"} twice
        self.same(pairs, [w for n in words for w in (f'copy-object {a} {n}', f'copy-struct {n}')])

    def test_G4_link_exit(self):
        known, found = self.traced('g4.act', ['process', 'message'], ['+S', '2'])
        p, q = known['p'], known['q']
        tail = self.of_pid(
            self.since(found, lambda e: e.probe == 'process__exit' and e.arguments[0] == p), p, q
        )
        ours = [e for e in tail if not (e.probe == 'process__unscheduled' and e.arguments[0] == p)]
        self.same(
            ours,
            [
                f'process-exit {p} boom',
                f'process-exit_signal {p} {q} boom',
                f'process-scheduled {q} <exiting>',
                f'process-exit {q} boom',
                f'process-unscheduled {q}',
            ],
        )
        self.last_is_unscheduled(tail, p)

    def last_is_unscheduled(self, found, p):
        mine = self.of_pid(found, p)
        expect(
            mine and mine[-1].probe == 'process__unscheduled',
            f'the last event of {p} is not process-unscheduled',
            *map(str, mine),
        )

    def test_G4_trapping(self):
        known, found = self.traced('g4.act', ['process', 'message'], ['+S', '2'])
        p, q = known['tp'], known['tq']
        tail = self.of_pid(
            self.since(found, lambda e: e.probe == 'process__exit' and e.arguments[0] == p), p, q
        )
        kept = [
            e
            for e in tail
            if e.arguments[0] == p or e.probe in ('process__scheduled', 'message__queued', 'message__receive')
        ][:7]
        ours = [e for e in kept if e.probe != 'process__unscheduled'][:5]
        wanted = [
            f'process-exit {p} boom',
            f'process-exit_signal {p} {q} boom',
            f'message-queued {q} 4 1 0 0 0',
            f'process-scheduled {q} *',
            f'message-receive {q} 4 0 0 0 0',
        ]
        if len(ours) > 3 and ours[2].probe == 'process__scheduled':  # queued may come after scheduled
            wanted[2], wanted[3] = wanted[3], wanted[2]
        self.same(ours, wanted)

    def test_G4_normal_and_noproc(self):
        known, found = self.traced('g4.act', ['process', 'message'], ['+S', '2'])
        signals = [e.arguments for e in found if e.probe == 'process__exit_signal']
        expect([known['np'], known['nq'], 'normal'] in signals, 'no exit_signal of a normal exit', signals)
        expect(
            not [
                e
                for e in found
                if e.probe == 'process__exit'
                and e.arguments == [known['nq'], 'normal']
                and e.time < self.time_of(found, known['np'])
            ],
            'a normal exit took the linked process along',
        )
        dead = known['dead']
        expect(not [s for s in signals if s[0] == dead], 'exit_signal for a link to a dead process', signals)
        queued = [
            e
            for e in found
            if e.probe == 'message__queued' and e.arguments[:3] == [known['linker'], '4', '1']
        ]
        expect(len(queued) == 1, "no message-queued of {'EXIT',Dead,noproc}", *map(str, found[-30:]))

    @staticmethod
    def time_of(found, pid):
        return next(e.time for e in found if e.probe == 'process__exit' and e.arguments[0] == pid)

    def test_G5_collections(self):
        known, found = self.traced('g5.act', ['gc', 'process-heap'], ['+S', '2'])
        p = known['p']
        mine = self.of_pid(found, p)
        shape = ''.join(
            {
                'gc_major__start': '(',
                'gc_major__end': ')',
                'gc_minor__start': '<',
                'gc_minor__end': '>',
                'process__heap_grow': 'g',
                'process__heap_shrink': 's',
            }[e.probe]
            for e in mine
        )
        expect(re.fullmatch(r'(\(g*s?\)|<g*s?>)+', shape), f'another shape: {shape}', *map(str, mine[:60]))
        expect(shape.startswith('('), f'the first collection is not major: {shape}')
        expect('g' in shape and '<' in shape, f'no growth, or no minor collection: {shape}')
        sizes = [numbers(' '.join(e.arguments[1:])) for e in mine if 'heap' in e.probe]
        for (_, new), (old, _) in zip(sizes, sizes[1:]):
            expect(new == old, 'old size is not the new one of the change before', *sizes)
        for e in mine:
            if 'heap' in e.probe:
                old, new = numbers(' '.join(e.arguments[1:]))
                expect(new > old if e.probe.endswith('grow') else new < old, f'wrong direction: {e}')
        expect(re.search(r'\(s\)$', shape), f'the last collection does not shrink: {shape}')
        expect(mine[-3].arguments[1] == '0', f'need of garbage_collect() is not 0: {mine[-3]}')
        expect(int(mine[-1].arguments[1]) > 10000, f'little reclaimed: {mine[-1]}')

    def test_long_built_in_functions(self):
        """A process is also scheduled in and out on the threads that do long work for it."""
        known, found = self.traced('long.act', ['process', 'message', 'bif', 'gc'], ['+S', '2'])
        p = known['p']
        mine = [e for e in self.of_pid(found, p) if e.probe != 'process__spawn']
        running, threads = None, {}
        for e in mine:
            threads.setdefault(e.probe, set()).add(e.thread)
            if e.probe == 'process__scheduled':
                expect(running is None, 'scheduled twice', e, *mine[:60])
                running = e.thread
            elif e.probe == 'process__unscheduled':
                expect(running == e.thread, 'unscheduled elsewhere', e, *mine[:60])
                running = None
            elif e.probe != 'message__queued':
                expect(running == e.thread, 'an event of a process that does not run there', e, *mine[:60])
        expect(running is None, 'never unscheduled', *mine[-10:])
        sent = [e for e in mine if e.probe == 'message__send']
        expect([e.arguments[2] for e in sent] == ['8000000'], 'other messages', *sent)
        # Built-in functions are called on a scheduler; long work is done on any of several other threads.
        schedulers = {e.thread for e in found if e.probe == 'bif__entry'}
        expect(
            not threads['message__send'] & schedulers, 'the large message was sent by a scheduler', threads
        )
        # md5, the copy and the list, each: out of the scheduler, in and out on a dirty thread, in again.
        expect(
            sum(e.thread not in schedulers for e in mine if e.probe == 'process__scheduled') >= 4,
            'not scheduled for each long call',
            *mine[:60],
        )

    def test_G6_hibernate(self):
        known, found = self.traced('g6.act', ['process'], ['+S', '1'])
        p, a = known['p'], known['main']
        self.same(
            self.of_pid(found, p),
            [
                f'process-spawn {p} erlang:apply/2',
                f'process-scheduled {p} erlang:apply/2',
                f'process-hibernate {p} erlang:apply/2',
                f'process-unscheduled {p}',
                f'process-scheduled {p} erlang:apply/2',
                f'process-exit {p} {{terminated,{a}}}',
                f'process-unscheduled {p}',
            ],
        )

    def test_G6_compaction(self):
        known, found = self.traced('g6_compact.act', ['process', 'gc', 'process-heap'], ['+S', '2'])
        p = known['p']
        mine = self.since(self.of_pid(found, p), lambda e: e.probe == 'process__hibernate')
        if len(mine) > 2 and mine[2].probe == 'process__heap_shrink':
            del mine[2]
        self.same(
            mine[:4],
            [
                f'process-hibernate {p} erlang:apply/2',
                f'gc_major-start {p} 0',
                f'gc_major-end {p} *',
                f'process-unscheduled {p}',
            ],
        )

    def test_G12_calls(self):
        known, found = self.traced('g12.act', ['function', 'bif'], ['+S', '2'])
        p = known['calls']
        mine = [e for e in self.of_pid(found, p) if e.arguments[1].startswith(('calls:', 'erlang:length'))]
        self.same(
            mine,
            [
                f'global-function-entry {p} calls:main/0 *',
                f'local-function-entry {p} calls:f/1 *',
                f'local-function-entry {p} calls:h/1 *',
                f'function-return {p} calls:h/1 *',
                f'function-return {p} calls:f/1 *',
                f'global-function-entry {p} calls:g/1 *',
                f'function-return {p} calls:g/1 *',
            ],
        )
        d0, d1, d2 = (int(e.arguments[2]) for e in mine[:3])
        expect(d0 < d1 < d2, f'depths {d0} {d1} {d2}')
        expect(
            int(mine[5].arguments[2]) == d0, f'depth of the tail call {mine[5].arguments[2]}, of main {d0}'
        )
        q = known['bif']
        inside = [e for e in self.of_pid(found, q) if 'atom_to_list' in e.arguments[1]]
        self.same(inside, [f'bif-entry {q} erlang:atom_to_list/1', f'bif-return {q} erlang:atom_to_list/1'])
        inside = [
            e for e in self.of_pid(found, q) if 'erlang:get/1' in e.arguments[1] or 'length' in e.arguments[1]
        ]
        self.same(inside, [f'bif-entry {q} erlang:get/1', f'bif-return {q} erlang:get/1'])
        self.check_calls_that_load(found, known['late'])

    def check_calls_that_load(self, found, p):
        """A module loaded at its first call shows that call and, before it, in another process, its on_load
        function."""
        calls = [e for e in found if e.arguments[1].startswith(('late_module:', 'plain_module:'))]
        mine = self.of_pid(calls, p)
        self.same(
            mine,
            [
                f'global-function-entry {p} late_module:value/1 *',
                f'function-return {p} late_module:value/1 *',
                f'global-function-entry {p} plain_module:value/1 *',
                f'function-return {p} plain_module:value/1 *',
                f'global-function-entry {p} plain_module:last/1 *',
                f'function-return {p} plain_module:last/1 *',
            ],
        )
        depths = [int(e.arguments[2]) for e in mine]
        expect(depths[0] == depths[2], f'depths of two like calls: {depths[0]} and {depths[2]}')
        loading = [e for e in calls if e.arguments[0] != p]
        self.same(
            [e for e in loading if e.time < mine[0].time],
            [
                'global-function-entry * late_module:prepare/0 *',
                'local-function-entry * late_module:prepared/0 *',
                'function-return * late_module:prepared/0 *',
                'function-return * late_module:prepare/0 *',
            ],
        )
        expect(len(loading) == 4, 'more of the on_load function', *loading)

    # -- sequential tracing and probes of programs (G10, G11, the limits of section D)

    def test_G11_sequential_trace(self):
        known, found = self.traced('g11.act', ['message', 'copy'], ['+S', '2'])
        a, b = known['main'], known['other']
        messages = [e for e in found if e.probe != 'copy__struct' and {a, b} >= set(e.arguments[:1])]
        start = next(
            i for i, e in enumerate(messages) if e.probe == 'message__send' and e.arguments[:2] == [a, b]
        )
        tail = messages[start:]
        self.same(
            tail[:6],
            [
                f'message-send {a} {b} 0 17 0 1',
                f'message-queued {b} 0 1 17 0 1',
                f'message-receive {b} 0 0 17 0 1',
                f'message-send {b} {a} 0 17 1 2',
                f'message-queued {a} 0 1 17 1 2',
                f'message-receive {a} 0 0 17 1 2',
            ],
        )
        sends = [e.arguments[2:] for e in tail if e.probe == 'message__send' and e.arguments[:2] == [a, b]]
        expect(
            sends[1:] == [['0', '17', '2', '3'], ['0', '-2147483648', '2', '4'], ['0', '0', '0', '0']],
            f'later sends {sends}',
        )
        thread = tail[0].thread
        before = [e for e in found if e.thread == thread and e.time < tail[0].time][-1]
        expect(str(before) == 'copy__struct 6', f'before the first send: {before}')

    def test_tracer_dyntrace(self):
        known, found = self.traced('traced.act', ['trace'])
        a, p, q = known['main'], known['p'], known['q']
        mine = [[e.probe, *e.arguments] for e in found]
        wanted = [
            ['trace', p, 'receive', '{my,state}', 'go', ''],
            ['trace', p, 'spawn', '{my,state}', q, '{traced,waits,["x"]}'],
            ['trace', p, 'send', '{my,state}', '{told,"text"}', a],
            ['trace', p, 'exit', '{my,state}', 'bye', ''],
            ['trace_seq', 'state', '17', f'{{send,{{0,1}},{a},{a},note}}'],
            ['trace_seq', 'state', '17', f"{{receive,{{0,1}},{a},{a},note}}"],
        ]
        expect(mine == wanted, 'other firings', *mine)

    def test_G10_user_probes(self):
        names = [f'user_trace__n{n}' for n in (0, 7, 950)] + ['user_trace__i4s4', 'user_trace__s1']
        printed, found = wide.trace(self.vmrun, HERE / 'g10.act', self.table, names)
        known = dict(line.split(' ', 1) for line in printed if ' ' in line)
        a = known['main']
        expect(known['off'] == '[false,false,false,false,false]', f'nobody looks: {known["off"]}')
        expect(
            known['on']
            == '[true,true,true,true,true,error,error,badarg,badarg,badarg,false,true,true,true,true,true,'
            'true,true,'
            'true,badarg,badarg]',
            f'answers: {known["on"]}',
        )

        def i4s4(tag, integers, strings, probe='user_trace__i4s4'):
            shown = [a, tag, *(integers + [0] * 4)[:4], *(strings + [None] * 4)[:4]]
            return [probe, *('NULL' if argument is None else str(argument) for argument in shown)]

        wanted = [
            i4s4(None, [1], ['x']),
            i4s4('GO', [7, 8, 9], ['one', 'four']),
            i4s4(None, [], ['a'], 'user_trace__n7'),
            i4s4(None, [], [], 'user_trace__n0'),
            i4s4(None, [-1, 1 << 62], ['x'], 'user_trace__n950'),
            i4s4(None, [], []),
            i4s4(None, [], ['x' * 1024]),
            i4s4(None, [1, 2, 3, 4], ['abc', '']),
            i4s4(None, [0, -(1 << 63)], []),
            i4s4(None, [1], ['x']),
            i4s4('tag', [1, 0, 3], ['a', None, 'c']),
            i4s4(None, [1, 2, 3, 4], ['a', 'b', 'c', 'd'], 'user_trace__n950'),
            ['user_trace__s1', 'text'],
        ]
        got = [[e.probe, *e.arguments] for e in found]
        expect(
            got == wanted,
            'other firings',
            *[f'{g}  expected {w}' for g, w in zip(got, wanted) if g != w],
            f'{len(got)} firings, expected {len(wanted)}',
        )

    # -- attach and detach

    def test_attach_again_and_again(self):
        self.attach_again_and_again(3)

    def attach_again_and_again(self, rounds):
        session.require_tracer()
        # Each family in its turn: a probe counts, and the tracer leaves after some firings, in the middle of
        # the load.
        programs = []
        for family in ('message', 'copy', 'function', 'bif', 'gc', 'process', 'process-heap', 'run-queue'):
            names = self.family(family)
            programs.append(
                'BEGIN { printf("tracing\\n"); }\n'
                + '\n'.join(
                    f'usdt:*:erlang:{name} {{ @fired = count(); @n++; if (@n > 20) {{ exit(); }} }}'
                    for name in names
                )
            )
        with session.Target(self.vmrun, HERE / 'load.act') as target:
            target.line('go')
            for turn, program in enumerate(programs * rounds):
                lines = session.Tracer(target.process.pid, program).lines()
                expect(target.process.poll() is None, f'vmrun ended at turn {turn}', *target.errors.seen)
                expect(
                    any(re.fullmatch(r'@fired: [1-9]\d*', line) for line in lines),
                    'nothing fired',
                    *lines[-5:],
                )
            self.check_semaphores_are_down(target.process.pid)
            known = target.finish()
            expect(known['answers'] == known['questions'], f'lost messages: {known}')

    def check_semaphores_are_down(self, pid):
        """Checks that every semaphore is 0 once the last tracer is gone."""
        binary = os.readlink(f'/proc/{pid}/exe')
        base = next(
            int(line.split('-')[0], 16)
            for line in open(f'/proc/{pid}/maps')
            if line.rstrip().endswith(binary)
        )
        notes = subprocess.run(['readelf', '-nW', binary], capture_output=True, text=True, check=True).stdout
        header = subprocess.run(['readelf', '-hW', binary], capture_output=True, text=True, check=True).stdout
        offset = base if re.search(r'Type:\s+DYN', header) else 0
        with open(f'/proc/{pid}/mem', 'rb') as memory:
            for address in re.findall(r'Semaphore: (0x[0-9a-f]+)', notes):
                if int(address, 16):
                    memory.seek(offset + int(address, 16))
                    value = struct.unpack('<H', memory.read(2))[0]
                    expect(value == 0, f'the semaphore at {address} is {value}')

    # -- the scripts of scripts/bpftrace

    def script(self, path):
        """Checks that a shipped script still attaches and each of its probes still prints or counts."""
        known, lines = session.trace(self.vmrun, HERE / 'everything.act', path)
        out = '\n'.join(lines)
        for name in re.findall(r'^usdt:\*:erlang:(\w+)', path.read_text(), re.M):
            shown = name.replace('__', '-')
            if name == 'process__port_unblocked' or name.startswith('dist__') or name.endswith('__remote'):
                continue  # see port_probes, cluster
            if path.stem == 'bif':
                shown = 'erlang:'
            elif path.stem == 'file-operation':
                shown = 'RENAME /none/old /none/new tag=tag error=2 | queued '
            elif path.stem == 'seq-trace-nodes':
                shown = ' receives: '  # a message queued with a token comes from another process: see cluster
            elif path.stem == 'seq-trace':
                shown = {'message__send': 'send     <', 'message__receive': 'receive  <'}[name]
            elif path.stem == 'spawn-exit':
                shown = {
                    'process__spawn': 'spawn <',
                    'process__exit': 'exit <',
                    'process__exit_signal': 'signal from <',
                }[name]
            elif name == 'user_trace__i4s4':
                shown += f' pid={known["main"]} tag=tag 1 {1 << 62} 0 0'
            expect(shown in out, f'{name} does not show', out[-1500:])
        expect(known['main'].startswith('<0.'), 'no pid printed')
