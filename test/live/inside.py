# SPDX-License-Identifier: Apache-2.0
"""Tracing through the machine's own endpoint. What a session counts is compared with what the program knows
and with bpftrace on the same run, and with what is left when tracers end in any manner."""
import os
import pathlib
import re
import signal
import subprocess

from harness.golden import first_line
from harness.results import Failure, Skip, Test

from . import session
from .attach import expect

HERE = pathlib.Path(__file__).resolve().parent
KILLS = 100
NOBODY = 65534
AROUND = 3  # firings of a probe while the machine ends: only bpftrace is still attached


def tests(root, vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [
        Test('live', 'inside: ' + name[5:].replace('_', ' '), getattr(suite, name), in_turn=True)
        for name in dir(suite)
        if name.startswith('test_')
    ]


def said_of(target, vmrun, *arguments):
    """Returns what vmtrace prints about all that a target does, after the line `tracing` that its BEGIN must
    print."""
    vmtrace = vmrun.parent / 'vmtrace'
    if not vmtrace.exists():
        raise Skip('vmtrace is not built')
    tracer = subprocess.Popen(
        [vmtrace, '-q', '-p', str(target.process.pid), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    expect(first_line(tracer.stdout) == 'tracing\n', 'vmtrace does not begin')
    target.line('go')
    target.wait_for('done')
    target.finish()
    output, errors = tracer.communicate(timeout=session.LIMIT)
    expect(tracer.returncode == 0 and not errors, f'vmtrace: status {tracer.returncode}', errors)
    return output


def thread_name(task):
    try:
        return (task / 'comm').read_text().strip()
    except (FileNotFoundError, ProcessLookupError):  # it ends at this moment
        return ''


def trimmed(lines):
    return [line for line in lines if line]


class Counter:
    """Runs count_firings on a process."""

    def __init__(self, program, pid, probes, **options):
        self.process = subprocess.Popen(
            [program, str(pid), *probes],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def wait_until_ready(self):
        line = self.process.stdout.readline()
        if line != 'ready\n':
            raise Failure(f'count_firings: {line}' + self.process.communicate()[1])
        return self

    def counts(self):
        """Ends it. Returns firings by probe, and how many different first arguments."""
        output, errors = self.process.communicate('', timeout=session.LIMIT)
        if self.process.returncode:
            raise Failure('count_firings: ' + errors)
        rows = [line.split() for line in output.splitlines()]
        expect(not [r for r in rows if r[0] == 'drops'], 'something was dropped', *rows)
        return {r[0]: (int(r[1]), int(r[2])) for r in rows}


class Suite:
    def __init__(self, vmrun):
        self.vmrun, self.program = vmrun, vmrun.parent / 'test' / 'count_firings'

    def start(self, *words, env=None):
        """Starts vmtrace."""
        vmtrace = self.vmrun.parent / 'vmtrace'
        if not vmtrace.exists():
            raise Skip('vmtrace is not built')
        return subprocess.Popen(
            [vmtrace, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        )

    def counter(self, target, *probes, **options):
        if not self.program.exists():
            raise Skip('count_firings is not built')
        return Counter(self.program, target.process.pid, probes, **options)

    def words_of_probes(self, pid):
        """Returns all semaphores of the machine and the words of its own consumers beside them."""
        sections = subprocess.run(
            ['readelf', '-SW', self.vmrun], capture_output=True, text=True, check=True
        ).stdout
        address, size = re.search(r' \.probes +PROGBITS +(\w+) \w+ (\w+)', sections).groups()
        for line in pathlib.Path(f'/proc/{pid}/maps').read_text().splitlines():
            fields = line.split()
            if fields[-1] == str(self.vmrun.resolve()) and int(fields[2], 16) == 0:
                base = int(fields[0].split('-')[0], 16)
                break
        with open(f'/proc/{pid}/mem', 'rb', buffering=0) as memory:
            return os.pread(memory.fileno(), int(size, 16), base + int(address, 16))

    def left(self, pid):
        """Returns what tracing leaves in a process: its threads and socket, and raised probes."""
        threads = ['trace'] * [thread_name(t) for t in pathlib.Path(f'/proc/{pid}/task').iterdir()].count(
            'trace'
        )
        return (
            threads
            + ['endpoint'] * bool(session.endpoint_of(pid))
            + ['probes'] * any(self.words_of_probes(pid))
        )

    def expect_nothing_left(self, target):
        """The machine notices at once that a connection is closed, but only polling from
        outside shows that it has finished."""
        pid = target.process.pid
        for _ in range(session.LIMIT * 100):
            if not self.left(pid):
                return
            subprocess.run(['sleep', '0.01'], check=True)
        raise Failure(f'still there: {self.left(pid)}')

    # -- counts

    def test_counts_what_the_program_did(self):
        with session.Target(self.vmrun, HERE / 'counts.act') as target:
            counter = self.counter(
                target,
                'message-send',
                'process-spawn',
                'process-exit',
                'gc_major-start',
                'gc_major-end',
                'process-exit_signal',
            ).wait_until_ready()
            target.line('go')
            target.wait_for('done')
            counts = counter.counts()
            known = target.finish()
        for probe, name in (
            ('process-spawn', 'spawned'),
            ('process-exit', 'exited'),
            ('process-exit_signal', 'signals'),
        ):
            expect(
                counts[probe][0] >= int(known[name]),
                f'{probe}: {counts[probe]}, the program says {known[name]}',
            )
        expect(
            counts['gc_major-start'] == counts['gc_major-end'],
            'major collections begun and ended differ',
            counts,
        )
        expect(counts['message-send'][0] >= int(known['sent']), f'message-send: {counts}')

    def test_agrees_with_bpftrace(self):
        session.require_tracer()
        probes = (
            'message-send',
            'message-queued',
            'message-receive',
            'process-spawn',
            'process-exit',
            'process-scheduled',
            'gc_minor-start',
            'local-function-entry',
            'function-return',
            'copy-struct',
        )
        text = 'BEGIN { printf("tracing\\n"); }\n' + '\n'.join(
            f'usdt:*:erlang:{name.replace("-", "__")} {{ @{name.replace("-", "_")} = count(); }}'
            for name in probes
        )
        with session.Target(self.vmrun, HERE / 'counts.act') as target:
            tracer = session.Tracer(target.process.pid, text)
            counter = self.counter(target, *probes).wait_until_ready()
            target.line('go')
            target.wait_for('done')
            # Both stay until the machine ends. For ours that is a moment earlier, and only the end fires
            # after it.
            target.finish()
            counts = counter.counts()
            seen = dict(re.findall(r'@(\w+): (\d+)', '\n'.join(tracer.lines())))
        for name in probes:
            ours, theirs = counts[name][0], int(seen.get(name.replace('-', '_'), 0))
            expect(0 <= theirs - ours <= AROUND, f'{name}: {ours} inside, {theirs} by bpftrace', counts, seen)

    def test_two_at_once_see_the_same(self):
        with session.Target(self.vmrun, HERE / 'counts.act') as target:
            counters = [
                self.counter(target, 'process-spawn', 'process-exit').wait_until_ready() for _ in range(2)
            ]
            target.line('go')
            target.wait_for('done')
            first, second = [counter.counts() for counter in counters]
            expect(first == second, 'the two differ', first, second)
            self.expect_nothing_left(target)
            target.finish()

    # -- D

    def script(self, program, *arguments):
        """Returns what vmtrace prints about a run of a program."""
        with session.Target(self.vmrun, HERE / program) as target:
            return said_of(target, self.vmrun, *arguments)

    BEGIN = 'BEGIN { printf("tracing\\n"); } '

    def counted(self, *others):
        """Returns how often probes fired in a run, by a script that only counts, and by a counter of them if
        there is one beside it."""
        vmtrace = self.vmrun.parent / 'vmtrace'
        if not vmtrace.exists():
            raise Skip('vmtrace is not built')
        probes = (
            'message-send',
            'message-queued',
            'message-receive',
            'process-spawn',
            'process-exit',
            'copy-struct',
            'function-return',
            'local-function-entry',
        )
        with session.Target(self.vmrun, HERE / 'counts.act') as target:
            tracer = subprocess.Popen(
                [
                    vmtrace,
                    '-q',
                    '-p',
                    str(target.process.pid),
                    '-n',
                    self.BEGIN
                    + ', '.join(probes)
                    + ' { @[probename] = count(); } END { printa("%s %@d\\n", @); }',
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            expect(first_line(tracer.stdout) == 'tracing\n', 'vmtrace does not begin')
            beside = [self.counter(target, *some).wait_until_ready() for some in others]
            target.line('go')
            target.wait_for('done')
            target.finish()
            output, errors = tracer.communicate(timeout=session.LIMIT)
            expect(tracer.returncode == 0 and not errors, f'vmtrace: status {tracer.returncode}', errors)
            counts = {
                name: int(count) for name, count in (line.split() for line in output.splitlines() if line)
            }
            return counts, [b.counts() for b in beside]

    def test_counting_alone_and_beside_others_is_exact(self):
        alone, _ = self.counted()
        beside, others = self.counted(
            ('message-send', 'message-queued', 'copy-struct'), ('message-receive', 'function-return')
        )
        for name, count in alone.items():
            expect(
                abs(count - beside[name]) <= AROUND, f'{name}: {count} alone, {beside[name]} beside others'
            )
        for counts in others:
            for name, (count, _) in counts.items():
                expect(
                    abs(count - beside[name]) <= AROUND, f'{name}: {beside[name]} counted, {count} one by one'
                )

    def test_stacks_of_processes(self):
        output = self.script(
            'counts.act',
            '-n',
            self.BEGIN + 'process-exit /copyinstr(arg1) == "counted_exit"/ { @[ustack()] = count(); }',
        )
        stacks = [
            [line.split(' (')[0].strip() for line in text.splitlines()] for text in output.split('\n\n')
        ]
        expect(
            any(s[0].startswith("counts:'-main/0-fun") and s[-1] == '200' for s in map(trimmed, stacks) if s),
            'no stack of the function that exits, 200 times',
            output,
        )
        expect('0x' not in output, 'a frame without a name', output)

    SAMPLES = 300

    def samples(self, program, clauses, schedulers=4):
        """Returns rows of what is printed once profile-997 has fired often enough for a script that counts
        n."""
        vmtrace = self.vmrun.parent / 'vmtrace'
        if not vmtrace.exists():
            raise Skip('vmtrace is not built')
        with session.Target(self.vmrun, HERE / program, ('+S', str(schedulers))) as target:
            script = clauses + f'profile-997 /n >= {self.SAMPLES}/ {{ exit(0); }}'
            done = subprocess.run(
                [vmtrace, '-q', '-p', str(target.process.pid), '-n', script],
                capture_output=True,
                text=True,
                timeout=session.LIMIT,
            )
            expect(
                done.returncode == 0 and not done.stderr, f'vmtrace: status {done.returncode}', done.stderr
            )
            self.expect_nothing_left(target)
            return [line.split() for line in done.stdout.splitlines() if line]

    def test_profile_of_a_machine_that_works_sees_processes(self):
        rows = self.samples(
            'inside_load.act',
            'profile-997 /self != NULL/ { @[mfa, ustackdepth > 0] = count(); n++; } '
            'END { printa("%s %d %@d\\n", @); } ',
            schedulers=2,
        )
        at_work = [row for row in rows if row[0].startswith('inside_load:p')]
        expect(
            at_work and all(row[1] == '1' for row in at_work),
            'no samples of the processes that work, or without a stack',
            *rows,
        )

    def test_what_one_event_leads_to_is_printed_after_it(self):
        vmtrace = self.vmrun.parent / 'vmtrace'
        if not vmtrace.exists():
            raise Skip('vmtrace is not built')
        with session.Target(self.vmrun, HERE / 'moves.act', ('+S', '4:4')) as target:
            for _ in range(self.ATTACHMENTS):  # while a session begins, threads fire for the first time
                done = subprocess.run(
                    [
                        vmtrace,
                        '-q',
                        '-p',
                        str(target.process.pid),
                        '-x',
                        'bufsize=16m',
                        '-n',
                        'user_trace-i4s4 { printf("%d %d\\n", arg2, cpu); } user_trace-i4s4 /++n == 50000/ '
                        '{ exit(0); }',
                    ],
                    capture_output=True,
                    text=True,
                    timeout=session.LIMIT,
                )
                expect(done.returncode == 0, f'vmtrace: status {done.returncode}', done.stderr)
                rows = [line.split() for line in done.stdout.splitlines() if line]
                numbers = [int(row[0]) for row in rows]
                late = [pair for pair in zip(numbers, numbers[1:]) if pair[0] >= pair[1]]
                expect(not late, 'numbers do not rise', *late)

    ATTACHMENTS = 20

    def test_functions_by_name(self):
        output = self.script(
            'counts.act',
            '-n',
            self.BEGIN + 'erlang*:counts:worker:entry { @["by name", mfa] = count(); } '
            'END { printa("%s %s %@d\\n", @); }',
        )
        expect(
            output.split() == ['by', 'name', 'counts:worker/2', '300'],
            'counts:worker/2 is called 300 times',
            output,
        )

    # For by_name.act: how often each function is called, and which probes of all calls show that.
    CALLS = 8 * 300
    BY_NAME = {
        ('by_name:local/1', 'function'): 3 * CALLS,
        ('by_name:tail/2', 'function'): 5 * CALLS,
        ('by_name_later:f/1', 'function'): CALLS,
        ('erlang:atom_to_list/1', 'bif'): CALLS,
        ('lists:reverse/2', 'bif'): 3 * CALLS,
    }

    def test_functions_by_name_agree_with_the_probes_of_all_calls(self):
        text, wanted = self.BEGIN, []
        for number, ((mfa, kind), calls) in enumerate(self.BY_NAME.items()):
            module, function = mfa.split(':')
            families = {
                'entry': ('local-function-entry', 'global-function-entry')
                if kind == 'function'
                else ('bif-entry',),
                'return': (f'{kind}-return',),
            }
            for name, probes in families.items():
                text += f'erlang*:{module}:{function}:{name} {{ @["{mfa} {name}", "by name"] = count(); }} '
                for probe in probes:
                    text += (
                        f'{probe} /copyinstr(arg1) == "{mfa}"/ {{ @["{mfa} {name}", "of all"] = count(); }} '
                    )
                # The probe of all calls reports the function that comes last; the probe of a named function
                # reports the return of each call.
                of_all = self.CALLS if (function, name) == ('tail/2', 'return') else calls
                wanted += [f'{mfa} {name}, by name {calls}', f'{mfa} {name}, of all {of_all}']
        output = self.script('by_name.act', '-Z', '-n', text + 'END { printa("%s, %s %@d\\n", @); }')
        expect(sorted(trimmed(output.splitlines())) == sorted(wanted), 'counts differ', output, *wanted)

    def test_functions_by_name_leave_others_alone(self):
        with session.Target(self.vmrun, HERE / 'by_name.act') as target:
            vmtrace = subprocess.Popen(
                [
                    self.vmrun.parent / 'vmtrace',
                    '-q',
                    '-p',
                    str(target.process.pid),
                    '-n',
                    self.BEGIN + 'erlang*:by_name:local:entry { @[ustack(2)] = count(); }',
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            first_line(vmtrace.stdout)
            expect(not any(self.words_of_probes(target.process.pid)), 'a probe of all calls is raised')
            target.line('go')
            target.wait_for('done')
            target.finish()
            output, _ = vmtrace.communicate(timeout=session.LIMIT)
            frames = {line.split(' (')[0].strip() for line in output.splitlines() if ':' in line}
            expect(
                frames == {'by_name:local/1', 'by_name:work/1'}, 'the function itself is innermost', output
            )

    def test_functions_by_name_while_their_code_is_replaced(self):
        """Tracers come and go, killed or not, while these very functions run and one of them gets new
        versions."""
        with session.Target(self.vmrun, HERE / 'by_name.act', flags=('+S', '4:4')) as target:
            target.line('go')
            target.wait_for('done')
            target.line('go')
            target.wait_for('loading')
            text = self.BEGIN + (
                'erlang*:by_name*::entry, erlang*:lists:reverse: { @ = count(); n++; } '
                'erlang*:by_name_later::return { returned++; } '
                'tick-200us /n > 1000 && returned > 1000/ { exit(0); }'
            )
            for i in range(KILLS // 4):
                tracer = subprocess.Popen(
                    [self.vmrun.parent / 'vmtrace', '-q', '-Z', '-p', str(target.process.pid), '-n', text],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                if i % 3 == 1:
                    tracer.stdout.readline()
                    tracer.kill()
                    tracer.communicate()
                elif i % 3 == 2:
                    tracer.kill()
                    tracer.communicate()
                else:
                    _, errors = tracer.communicate(timeout=session.LIMIT)
                    expect(tracer.returncode == 0 and not errors, 'vmtrace does not see all of them', errors)
            self.expect_nothing_left(target)
            target.finish()

    def test_functions_are_listed(self):
        with session.Target(self.vmrun, HERE / 'by_name.act') as target:
            vmtrace = [self.vmrun.parent / 'vmtrace', '-l', '-p', str(target.process.pid)]

            def listed(*arguments):
                lines = subprocess.run(
                    [*vmtrace, *arguments], capture_output=True, text=True, check=True
                ).stdout.splitlines()
                return [tuple(line.split()[2:]) for line in lines if line.split()[0] == '-']

            expect(
                listed('-n', 'by_name:l*:entry')
                == [
                    ('by_name', 'load/2', 'entry'),
                    ('by_name', 'load_and_work/2', 'entry'),
                    ('by_name', 'local/1', 'entry'),
                ],
                'entries of by_name:l*',
            )
            names = ('entry', 'return', 'exception')
            expect(
                listed('-n', 'lists:reverse/2:') == [('lists', 'reverse/2', name) for name in names],
                'a built-in function',
            )
            expect(listed() == [('*', '*', name) for name in names], 'all functions are a line each')
            target.line('go')
            target.wait_for('done')
            target.finish()

    def test_listed_functions_can_be_pasted(self):
        """Names have blanks, colons, quotes and the characters of patterns. What -l shows names that function
        and no other."""
        name = r"(?:'(?:\\.|[^'\\])*'|[^\s'/])*"
        with subprocess.Popen(
            [self.vmrun, HERE.parent / 'd/target/odd_names.act'],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as target:
            target.stdin.write('go\n')
            target.stdin.flush()
            expect(target.stdout.readline() == 'done\n', 'the machine does not run')
            vmtrace = [self.vmrun.parent / 'vmtrace', '-l', '-p', str(target.pid), '-n']

            def listed(description):
                lines = subprocess.run(
                    [*vmtrace, description], capture_output=True, text=True, check=True
                ).stdout.splitlines()
                return re.findall(
                    rf"^\s+-\s+erlang\d+\s+({name})\s+({name}/\d) entry$", '\n'.join(lines), re.M
                )

            functions = listed('erlang*:odd_names::entry') + listed("erlang*:'my mod: 1':'h/2'/0:entry")
            for function in (
                "'f g'/1",
                "'a:b'/1",
                "'*'/1",
                "'?'/1",
                "'a/1'/1",
                "'it\\'s'/1",
                'größe/1',
                '日本/1',
                "''/1",
                "'++'/2",
                "'[a]'/1",
                "'back\\\\slash\\n'/1",
            ):
                expect(('odd_names', function) in functions, f'{function} is not listed', *functions)
            expect(functions[-1] == ("'my mod: 1'", "'h/2'/0"), 'a module of such a name', functions[-1])
            for module, function in functions:
                again = listed(f'erlang*:{module}:{function}:entry')
                expect(again == [(module, function)], f'{module}:{function} names', *again)
            target.communicate()

    def test_a_message_has_one_number(self):
        output = self.script(
            'counts.act',
            '-n',
            self.BEGIN + 'message-send { sent[message] = 1; @sent = count(); } '
            'message-queued /sent[message]/ { @queued = count(); } '
            'message-receive /sent[message]/ { sent[message] = 0; @received = count(); } '
            'END { printa("%@d %@d %@d\\n", @sent, @queued, @received); }',
        )
        sent, queued, received = map(int, output.split())
        expect(
            5000 <= min(received, queued) and max(received, queued) <= sent <= received + AROUND,
            'sent, queued, received differ',
            output,
        )

    def test_numbers_of_messages_are_not_used_again(self):
        output = self.script(
            'counts.act',
            '-x',
            'dynvarsize=16m',
            '-n',
            'int seen[int64_t]; '
            + self.BEGIN
            + 'message-queued /seen[message]/ { @again = count(); } message-queued { seen[message] = 1; '
            '@queued = count(); } '
            'END { printa("again %@d\\n", @again); printa("queued %@d\\n", @queued); }',
        )
        expect(int(re.search(r'queued (\d+)', output)[1]) >= 5000, 'few messages', output)
        expect('again' not in output and 'drop' not in output, 'a number was used twice', output)

    def test_variables_of_processes_go_with_them(self):
        output = self.script(
            'counts.act',
            '-x',
            'dynvarsize=64k',
            '-n',
            self.BEGIN
            + 'process-scheduled { self->n++; @most = max(self->n); } process-exit { @ends = count(); }'
            'END { printa("most %@d\\n", @most); }',
        )
        expect('drop' not in output and 'most' in output, 'no room for variables of processes', output)

    # -- what is left

    def test_a_machine_that_ends_says_so(self):
        with session.Target(self.vmrun, HERE / 'counts.act') as target:
            counter = self.counter(target, 'process-spawn').wait_until_ready()
            target.line('go')
            target.wait_for('done')
            known = target.finish()
            expect(counter.counts()['process-spawn'][0] >= int(known['spawned']), 'the counts are lost')

    def test_a_machine_that_is_killed_leaves_no_socket(self):
        """Nothing is left even while its endpoint is open, because the endpoint has no name in the file
        system."""
        before = set(session.files_of_endpoints())  # they are of a machine that was killed in between
        for is_open in (True, False):
            with session.Target(self.vmrun, HERE / 'inside_load.act') as target:
                pid = target.process.pid
                if is_open:
                    target.process.send_signal(signal.SIGRTMIN + 5)
                    session.until(lambda: session.endpoint_of(pid), 'the endpoint is open')
                else:
                    counter = self.counter(target, 'message-send').wait_until_ready()
                    session.until(
                        lambda: not session.endpoint_of(pid), 'the endpoint is closed behind who came in'
                    )
                target.process.kill()
                target.process.wait()
                if not is_open:
                    _, errors = counter.process.communicate()
                    expect('gone' in errors, f'its end is not noticed: {errors}')
                session.until(
                    lambda: before.issuperset(session.files_of_endpoints()), 'no file of a socket is left'
                )

    def test_another_user_is_refused(self):
        if os.geteuid() != 0:
            raise Skip('changing the user needs root')
        with session.Target(self.vmrun, HERE / 'inside_load.act') as target:
            counter = self.counter(target, 'message-send', user=NOBODY, group=NOBODY, extra_groups=[])
            _, errors = counter.process.communicate('')
            expect(counter.process.returncode and 'not permitted' in errors, f'not refused: {errors}')
            expect(not self.left(target.process.pid), 'the endpoint was opened for another user')
            target.finish()

    def test_the_signal_alone_opens_the_endpoint_for_a_moment(self):
        with session.Target(self.vmrun, HERE / 'inside_load.act') as target:
            os.kill(target.process.pid, signal.SIGRTMIN + 5)
            self.counter(target, 'message-send').wait_until_ready().counts()
            self.expect_nothing_left(target)
            target.finish()
