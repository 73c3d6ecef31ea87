# SPDX-License-Identifier: Apache-2.0
"""Machines that are reached by a command (vmtrace --via): a vmtrace beside the machine passes on messages,
and sends what is in its rings."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess

from harness.results import Skip, Test

from . import inside, session
from .attach import expect

HERE = pathlib.Path(__file__).resolve().parent
AHEAD = 1_000_000  # seconds


def tests(root, vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [
        Test('live', 'inside: far ' + name[9:].replace('_', ' '), getattr(suite, name), in_turn=True)
        for name in dir(suite)
        if name.startswith('test_far_')
    ]


class Suite(inside.Suite):
    def __init__(self, vmrun):
        super().__init__(vmrun)
        self.vmtrace = vmrun.parent / 'vmtrace'

    def way(self, pid, before=''):
        return ['--via', f'{before} {self.vmtrace} --relay {pid}']

    def said_of(self, target, script):
        """Returns what a script prints of all that a target does, and what vmtrace complains of. BEGIN must
        print `tracing`."""
        tracer = self.start('-q', '-b', '64m', *self.way(target.process.pid), '-n', script)
        # a machine that ends waits only a moment
        output, errors = session.Lines(tracer.stdout), session.Lines(tracer.stderr)
        output.until('tracing', 'vmtrace')
        target.line('go')
        target.wait_for('done')
        known = target.finish()
        status, complaints = tracer.wait(session.LIMIT), errors.rest()
        expect(status == 0, f'vmtrace: status {status}', *complaints)
        return known, output.rest(), complaints

    def test_far_counts_are_those_of_the_program(self):
        with session.Target(self.vmrun, HERE / 'counts.act') as target:
            known, lines, errors = self.said_of(
                target,
                'BEGIN { printf("tracing\\n"); } process-spawn { @s = count(); } process-exit { @e = '
                'count(); } '
                'process-exit_signal { @l = count(); } message-send { @m = count(); } '
                'END { printa("spawned %@d\\n", @s); printa("exited %@d\\n", @e); printa("signals %@d\\n", '
                '@l); printa("sent %@d\\n", @m); }',
            )
        said = dict(line.split() for line in lines if ' ' in line)
        for name in ('spawned', 'exited', 'signals', 'sent'):
            expect(
                int(said[name]) >= int(known[name]), f'{name}: {said[name]}, the program says {known[name]}'
            )
        expect(not errors, 'complaints', errors)

    def test_far_records_come_whole_and_in_order(self):
        with session.Target(self.vmrun, HERE / 'counts.act') as target:
            _, lines, errors = self.said_of(
                target,
                'BEGIN { printf("tracing\\n"); } message-send, process-scheduled, global-function-entry { '
                '@n = count(); '
                'printf("at %d %s\\n", timestamp, copyinstr(arg0)); } END { printa("all %@d\\n", @n); }',
            )
        times = [int(line.split()[1]) for line in lines if re.fullmatch(r'at \d+ <0\.\d+\.0>', line)]
        counted = [int(line.split()[1]) for line in lines if line.startswith('all ')]
        expect(counted == [len(times)] and not errors, f'{counted} firings, {len(times)} records', errors)
        late = sum(a > b for a, b in zip(times, times[1:]))
        # threads that Linux interrupts
        expect(late <= len(times) // 1000, f'{late} of {len(times)} records out of order')

    def test_far_clock_is_another(self):
        ahead = ['unshare', '--time', '--monotonic', str(AHEAD), '--fork']
        if subprocess.run([*ahead, 'true'], capture_output=True).returncode:
            raise Skip('no time namespaces here')
        with contextlib.ExitStack() as stack:
            near = stack.enter_context(session.Target(self.vmrun, HERE / 'counts.act'))
            shifted = subprocess.Popen(
                [*ahead, '--kill-child', self.vmrun, HERE / 'counts.act'],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.callback(shifted.kill)
            expect(shifted.stdout.readline() == 'ready\n', 'the machine of the other clock does not begin')
            pid = child_of(shifted.pid)
            tracer = self.start(
                '-q',
                '-p',
                str(near.process.pid),
                *self.way(pid, f'nsenter --time=/proc/{pid}/ns/time'),
                '-n',
                'tick-20ms { printf("%d\\n", $target); } tick-2s { exit(0); }',
            )
            output, errors = tracer.communicate(timeout=session.LIMIT)
        ticks = output.split()
        expect(
            set(ticks) == {str(near.process.pid), str(pid)} and not errors, f'ticks of {set(ticks)}', errors
        )
        turns = sum(a != b for a, b in zip(ticks, ticks[1:]))
        expect(
            turns > len(ticks) // 4,
            f'{turns} turns between two machines in {len(ticks)} ticks: clocks are not brought together',
        )

    def test_far_relay_is_killed(self):
        with session.Target(self.vmrun, HERE / 'counts.act') as target:
            tracer = self.start(*self.way(target.process.pid), '-n', 'tick-10ms { printf("tick\\n"); }')
            while 'tick' not in tracer.stdout.readline():
                expect(tracer.poll() is None, 'vmtrace ended')
            os.kill(child_of(tracer.pid), signal.SIGKILL)
            _, errors = tracer.communicate(timeout=session.LIMIT)
            expect(
                tracer.returncode == 0 and f'pid {target.process.pid} has exited' in errors,
                f'status {tracer.returncode}',
                errors,
            )
            self.expect_nothing_left(target)

    def test_far_tracer_is_killed(self):
        with session.Target(self.vmrun, HERE / 'counts.act') as target:
            tracer = self.start(
                *self.way(target.process.pid),
                '-n',
                'message-send { @ = count(); } tick-10ms { printf("tick\\n"); }',
            )
            while 'tick' not in tracer.stdout.readline():
                expect(tracer.poll() is None, 'vmtrace ended')
            tracer.kill()
            tracer.communicate()
            self.expect_nothing_left(target)

    def test_far_commands_that_are_no_relay(self):
        for command, why in (
            ('true', 'ended with status 0'),
            ('exit 3', 'status 3'),
            ('head -c 300000 /dev/urandom', 'failed to reach'),
            ('yes', 'failed to reach'),
            ('kill -9 $$', 'signal 9'),
            (f'{self.vmtrace} --relay 1', 'failed to grab pid 1'),
        ):
            tracer = self.start('--via', f'sh -c "{command}"', '-n', 'BEGIN { exit(0); }')
            _, errors = tracer.communicate(timeout=session.LIMIT)
            expect(tracer.returncode == 1 and why in errors, f'{command}: status {tracer.returncode}', errors)


def child_of(pid):
    children = pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split()
    expect(len(children) == 1, f'children of {pid}: {children}')
    return int(children[0])
