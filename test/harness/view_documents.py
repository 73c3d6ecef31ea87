# SPDX-License-Identifier: Apache-2.0
"""The views that write documents: a page with a flame graph, a timeline for Perfetto's viewer. Their contents
are compared with what the traced program does."""
import collections
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from .golden import ENVIRONMENT
from .results import Failure, Test
from .sanitizers import need_signals_at_once
from .views import LIMIT, run


def tests(root, build, vmrun):
    suite = Suite(build / 'vmtrace', vmrun, root / 'test/d/views')
    return [
        *[
            Test('d', 'view ' + name[5:].replace('_', ' '), getattr(suite, name))
            for name in dir(suite)
            if name.startswith('test_')
        ],
        Test('d', 'the picture of README.md can be drawn anew', lambda: picture(root, build)),
    ]


def picture(root, build):
    """What the views show of the program is found in their output, and laid out."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / 'look.svg'
        subprocess.run(
            [sys.executable, root / 'docs/pictures/draw.py', build, file],
            check=True,
            capture_output=True,
            timeout=LIMIT,
        )
        shown = [
            text
            for element in xml.etree.ElementTree.parse(file).iter()
            for text in [''.join(element.itertext())]
            if element.tag.endswith('}text')
        ]
    for wanted in ('mailer', 'PROCESS', 'shop:pricing/1', 'scheduler ', 'orders'):
        expect(any(wanted in text for text in shown), f'{wanted} is not in the picture: {shown}')
    expect(any(re.search(r'^ +\d+ \|@+ +\d+$', text) for text in shown), f'no row of a plot: {shown}')


def expect(condition, what):
    if not condition:
        raise Failure(what)


class Flame:
    """The data of a page: weights of frames by themselves, and of all stacks that contain them."""

    def __init__(self, page):
        self.data = json.loads(
            re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1]
        )
        self.own, self.roots, path = collections.Counter(), collections.Counter(), []
        for depth, name, _, own in self.data['nodes']:
            path[depth:] = [self.data['names'][name][0]]
            self.own[path[-1]] += own
            self.roots[path[0]] += own

    def total(self):
        return sum(self.own.values())


class Timeline:
    """The events of a document. It checks what its readers rely on: every slice and span that begins ends and
    none ends that has not begun, times of a track do not go back, and arrows begin and end in slices."""

    def __init__(self, text):
        document = json.loads(text)
        self.facts = document['otherData']
        self.events = [e for e in document['traceEvents'] if e['ph'] != 'M']
        self.names = {
            (e['pid'], e['tid']): e['args']['name']
            for e in document['traceEvents']
            if e.get('name') == 'thread_name'
        }
        self.check()

    def of(self, phase, name=None):
        return [e for e in self.events if e['ph'] == phase and name in (None, e.get('name'))]

    def check(self):
        last, slices, spans, flows = (
            collections.Counter(),
            collections.Counter(),
            collections.Counter(),
            set(),
        )
        for e in self.events:
            track = e['pid'], e['tid']
            expect(type(e['pid']) is int and type(e['tid']) is int, f'numbers are no numbers: {e}')
            expect(e['ts'] >= last[track], f'time goes back: {e}')
            last[track] = e['ts']
            slices[track] += {'B': 1, 'E': -1}.get(e['ph'], 0)
            span = e['pid'], e.get('cat'), e.get('id')
            spans[span] += {'b': 1, 'e': -1}.get(e['ph'], 0)
            expect(slices[track] >= 0 and spans[span] >= 0, f'an end without a beginning: {e}')
            if e['ph'] in 'sf':
                expect(slices[track] > 0, f'an arrow outside of all slices: {e}')
            if e['ph'] == 's':
                expect(e['id'] not in flows, f'an arrow begins twice: {e}')
                flows.add(e['id'])
            if e['ph'] == 'f':
                expect(e['id'] in flows, f'an arrow ends that has not begun: {e}')
        expect(not any(slices.values()) and not any(spans.values()), 'what begins does not end')


class Suite:
    def __init__(self, vmtrace, vmrun, programs):
        self.vmtrace, self.vmrun, self.programs = vmtrace, vmrun, programs

    def document(self, view, program, *options):
        """Returns what a view writes of a program, and what it prints."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / 'document'
            file.write_text('what was there before')
            _, err = run(
                [self.vmtrace, view, '-o', file, '-c', f'{self.vmrun} {self.programs / program}', *options]
            )
            return file.read_text(), err

    def test_flame_the_hot_function_is_the_widest(self):
        page, said = self.document('flame', 'hot.act', '-F', '997')
        flame = Flame(page)
        expect(
            flame.own.most_common(1)[0][0] == 'hot:burn/2',
            f'the widest leaf is another one: {flame.own.most_common(3)}',
        )
        expect(
            flame.roots['worker'] * 2 > flame.total(),
            f'most is not in the process of that name: {flame.roots}',
        )
        expect(f'{flame.total()} samples' in said, said)

    def test_flame_every_word_that_is_allocated(self):
        flame = Flame(self.document('flame', 'allocate.act', '-a')[0])
        expect(
            2000 * 1000 <= flame.roots['large'] < 2000 * 1000 + 2000, f"large: {flame.roots['large']} words"
        )
        expect(100 * 1000 <= flame.roots['small'] < 100 * 1000 + 2000, f"small: {flame.roots['small']} words")
        expect(
            flame.roots['erlang:apply/2'] >= 500 * 20,
            f"those that end early: {flame.roots['erlang:apply/2']} words",
        )

    def test_timeline_an_arrow_for_each_message(self):
        text, said = self.document('timeline', 'ping_pong.act')
        timeline = Timeline(text)
        expect(timeline.facts['dropped'] == timeline.facts['left out'] == 0, f'{timeline.facts}')
        expect(f"{timeline.facts['events']} events" in said, said)
        begun, ended = len(timeline.of('s')), len(timeline.of('f'))
        expect(begun >= 2000 and ended >= 2000, f'{begun} arrows begin, {ended} end, of 2000 messages')
        expect(begun == len(timeline.of('B', 'send')), 'sends and arrows differ')
        for name in ('waiting', 'runnable', 'ping_pong:ping/2', 'ping_pong:pong/0'):
            expect(timeline.of('B', name), f'no slice is called {name}')
        expect(any(e['name'].endswith(' collection') for e in timeline.of('B')), 'no collection')
        shown = list(timeline.names.values())
        expect(
            any(n.startswith("'</script>\"\\\\' <0.") for n in shown),
            f'no track has the name of the process: {shown}',
        )

    def test_timeline_no_more_events_than_wanted(self):
        text, said = self.document('timeline', 'ping_pong.act', '-n', '500')
        timeline = Timeline(text)
        expect(timeline.facts['events'] == 500 and timeline.facts['left out'] > 1000, f'{timeline.facts}')
        expect('left out' in said, said)

    def test_timeline_says_what_was_dropped(self):
        text, said = self.document('timeline', 'ping_pong.act', '-b', '1k')
        timeline = Timeline(text)
        if timeline.facts['dropped']:
            expect(f"{timeline.facts['dropped']} were dropped" in said, said)
        else:
            expect(len(timeline.of('s')) >= 2000, 'nothing was dropped, and messages lack')

    def test_timeline_everything_a_machine_does(self):
        timeline = Timeline(self.document('timeline', '../target/everything.act')[0])
        expect(timeline.of('b'), 'no port and no file')

    # -- The flight recorder

    def recorder(self, folder, *options):
        """Runs a recorder on a program that goes from mark to mark and says how far it is."""
        need_signals_at_once(self.vmrun)
        machine = subprocess.Popen(
            [self.vmrun, '+S', '1', self.programs / 'count.act'],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        expect(machine.stdout.readline() == 'ready\n', 'the program does not begin')
        record = subprocess.Popen(
            [self.vmtrace, 'record', '-p', str(machine.pid), '-b', '256k', '-o', folder / 'file', *options],
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        expect(machine.stdout.readline() == '1000\n', 'nobody records')
        return machine, record

    def buffers(self, record):
        """Returns the buffers that the recorder has; it gets that of a thread a moment after its first
        event."""
        lines = pathlib.Path(f'/proc/{record.pid}/maps').read_text().splitlines()
        return {line.split()[4] for line in lines if 'vmtrace-ring' in line}

    def kill_in_the_middle(self, machine, record, known=frozenset()):
        """Kills the program and returns what it had done by then: more than a buffer holds. known: buffers
        that do not count."""
        for line in machine.stdout:
            if int(line) >= 10000 and self.buffers(record) - known:
                break
        machine.kill()
        return max(
            int(line)
            for line in [line, *machine.stdout.read().splitlines(keepends=True)]
            if line.endswith('\n')
        )

    def test_record_the_last_events_of_a_machine_that_is_killed(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            machine, record = self.recorder(folder)
            last = self.kill_in_the_middle(machine, record)
            _, said = record.communicate(timeout=LIMIT)
            text = (folder / 'file').read_text()
            marks = [int(n) for n in re.findall(r' mark <[\d.]+> (\d+) step$', text, re.M)]
            expect(record.returncode == 0 and 'the last' in said, said)
            expect(
                marks and marks[-1] >= last,
                f'{marks[-1:]} is the last of {len(marks)} that are recorded, {last} the last that was told',
            )
            expect(marks == list(range(marks[0], marks[-1] + 1)), 'events lack in the middle')
            expect(marks[0] > 1, 'the oldest did not give way')
            expect(' counter init:main/1 count:' in text, 'a name is not known any more')
            expect(re.search(r'^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9} +\d+ run <', text, re.M), text[:200])

    def test_record_writes_when_it_is_asked_and_goes_on(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            machine, record = self.recorder(folder, '-f', 'timeline')
            for _ in machine.stdout:
                if known := self.buffers(record):
                    break
            record.send_signal(signal.SIGUSR1)
            expect('events' in record.stderr.readline(), 'nothing is said of the first file')
            self.kill_in_the_middle(machine, record, known)
            _, said = record.communicate(timeout=LIMIT)
            expect('file.2: ' in said, said)
            first, second = [Timeline((folder / file).read_text()) for file in ('file', 'file.2')]
            expect(first.of('i', 'step') and second.of('i', 'step'), 'a file without events')
