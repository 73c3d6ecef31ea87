# SPDX-License-Identifier: Apache-2.0
"""What profile-N and wall-N say of programs whose shares are known. Shares are of samples, and there are a
few hundred of them. Numbers of samples are compared with processor time, as the operating system counts it.
Nothing depends on how fast the machine is."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from harness.golden import first_line
from harness.results import Skip, Test
from harness.sanitizers import runs_on_x86_64, sanitizer

from . import endpoint, session
from .attach import expect

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = 600  # a share of a half is then within 0.08 in all but one of ten thousand runs
TICKS = os.sysconf('SC_CLK_TCK')


def tests(root, vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [
        Test('live', 'profile: ' + name[5:].replace('_', ' '), getattr(suite, name), in_turn=True)
        for name in dir(suite)
        if name.startswith('test_')
    ]


def processor_seconds(target):
    """Returns processor time of the machine, all its threads together."""
    fields = pathlib.Path(f'/proc/{target.process.pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Suite:
    def __init__(self, vmrun):
        self.vmrun, self.vmtrace = vmrun, vmrun.parent / 'vmtrace'

    def at_work(self, kind, flags=('+S', '2'), kernel=None):
        if not self.vmtrace.exists():
            raise Skip('vmtrace is not built')
        under = (sys.executable, HERE / 'other_kernel.py', kernel) if kernel else ()
        target = session.Target(self.vmrun, HERE / 'profile_load.act', flags, under=under)
        target.line(kind)
        target.wait_for('works')
        return target

    def traced(self, target, script):
        done = subprocess.run(
            [self.vmtrace, '-q', '-p', str(target.process.pid), '-n', script],
            capture_output=True,
            text=True,
            timeout=session.LIMIT,
        )
        expect(done.returncode == 0 and not done.stderr, f'vmtrace: status {done.returncode}', done.stderr)
        return [line.rsplit(' ', 1) for line in done.stdout.splitlines() if line]

    def shares(self, kind, what='mfa', only='', flags=('+S', '2'), kernel=None):
        """Returns each activity with its share of the samples."""
        with self.at_work(kind, flags, kernel) as target:
            rows = self.traced(
                target,
                f'profile-997 {only} {{ @[{what}] = count(); n++; }} '
                f'profile-997 /n > {SAMPLES}/ {{ exit(0); }} END {{ printa("%s %@d\\n", @); }}',
            )
        total = sum(int(count) for _, count in rows)
        return {name: int(count) / total for name, count in rows}

    def exact(self):
        if sanitizer(self.vmrun) or not runs_on_x86_64(self.vmrun):
            raise Skip('the loop of this build is not read: samples are taken where slices end')

    def test_bursts_before_waits_belong_to_the_function_that_works(self):
        self.exact()
        shares = self.shares('bursts')
        expect(
            shares.get('profile_load:burn/2', 0) > 0.8 and shares.get('profile_load:ask/1', 0) < 0.1,
            'shares',
            shares,
        )

    def test_bursts_in_the_interpreter(self):
        self.exact()
        shares = self.shares('bursts', flags=('+S', '2', '+hot', '0'))
        expect(
            shares.get('profile_load:burn/2', 0) > 0.8 and shares.get('profile_load:ask/1', 0) < 0.1,
            'shares',
            shares,
        )

    def test_a_function_that_does_more_gets_a_larger_share(self):
        """Mytkowicz, Diwan, Hauswirth, Sweeney: "Evaluating the Accuracy of Java Profilers", 2010."""
        self.exact()
        for kind, expected in (('tails', 0.25), ('more tails', 0.5)):
            shares = self.shares(kind)
            first, second = (shares.get(f'profile_load:{name}_steps/3', 0) for name in ('first', 'second'))
            expect(
                abs(first - expected) < 0.08 and abs(second - (1 - expected)) < 0.1,
                f'{kind}: not {expected}',
                shares,
            )

    def test_built_in_functions_are_leaves(self):
        self.exact()
        shares = self.shares('built-ins', 'ufunc(ucaller)', '/mfa == "lists:member/2"/')
        expect(shares.get('profile_load:members/1', 0) > 0.95, 'callers of lists:member/2', shares)
        shares = self.shares('built-ins')
        expect(shares.get('lists:member/2', 0) > 0.8, 'shares', shares)

    def test_collections_are_leaves(self):
        shares = self.shares('collections')
        expect(shares.get('[gc]', 0) > 0.5, 'shares', shares)

    def test_drivers_are_leaves(self):
        shares = self.shares('ports')
        expect(shares.get('[driver spawn]', 0) > 0.1, 'shares', shares)

    def test_work_on_dirty_schedulers_is_the_process_s(self):
        shares = self.shares('elsewhere', 'mfa', '/self != NULL/')
        expect(shares.get('erlang:term_to_binary/1', 0) > 0.6, 'shares', shares)

    def test_names_are_those_of_the_sampled_process(self):
        with self.at_work('bursts') as target:
            rows = self.traced(
                target,
                f'profile-997 /self != NULL/ {{ @[mfa, initcall] = count(); n++; }} '
                f'profile-997 /n > {SAMPLES}/ {{ exit(0); }} END {{ printa("%s %s %@d\\n", @); }}',
            )
        burns = [row for row in rows if row[0].startswith('profile_load:burn/2 ')]
        expect(burns or sanitizer(self.vmrun), 'no samples of burn/2', *rows)
        expect(
            all(row[0].split(' ')[1] == 'erlang:apply/2' for row in burns), 'who burns began otherwise', *rows
        )

    def counted(self, target, script, seconds):
        """Returns what a script counts until the machine has used so much processor time, and that time."""
        tracer = subprocess.Popen(
            [
                self.vmtrace,
                '-q',
                '-p',
                str(target.process.pid),
                '-n',
                'BEGIN { printf("tracing\\n"); } ' + script,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        expect(first_line(tracer.stdout) == 'tracing\n', 'vmtrace does not begin')
        before = processor_seconds(target)
        endpoint.until(lambda: processor_seconds(target) > before + seconds, 'the machine works')
        tracer.send_signal(signal.SIGINT)
        output, errors = tracer.communicate(timeout=session.LIMIT)
        used = processor_seconds(target) - before
        expect(tracer.returncode == 0 and not errors, f'vmtrace: status {tracer.returncode}', errors)
        return int(re.search(r'\d+', output).group()), used

    def fires_by_processor_time(self, loads, kernel=None):
        for rate, kind in loads:
            with self.at_work(kind, kernel=kernel) as target:
                count, used = self.counted(
                    target, f'profile-{rate} {{ @ = count(); }} END {{ printa("%@d\\n", @); }}', 3
                )
            expect(
                abs(count - rate * used) < 0.15 * rate * used,
                f'profile-{rate}, {kind}: {count} samples of {used} s',
            )

    def test_it_fires_by_processor_time(self):
        self.fires_by_processor_time(((97, 'bursts'), (997, 'bursts'), (997, 'reads')))

    def test_on_a_kernel_that_sends_no_trap(self):
        """Before Linux 6.11, the signal of the kernel's clock comes by a separate interrupt."""
        self.exact()
        self.fires_by_processor_time(((997, 'bursts'), (997, 'reads')), 'old')
        shares = self.shares('bursts', kernel='old')
        expect(
            shares.get('profile_load:burn/2', 0) > 0.8 and shares.get('profile_load:ask/1', 0) < 0.1,
            'shares',
            shares,
        )

    def test_where_the_kernel_s_clock_is_forbidden(self):
        """Only a timer of POSIX is left."""
        self.exact()
        self.fires_by_processor_time(((97, 'bursts'), (997, 'bursts')), 'filtered')
        shares = self.shares('bursts', kernel='filtered')
        expect(
            shares.get('profile_load:burn/2', 0) > 0.8 and shares.get('profile_load:ask/1', 0) < 0.1,
            'shares',
            shares,
        )

    def test_clocks_of_one_thread_do_not_hide_each_other(self):
        """The first of them has another signal than the others (SIGTRAP)."""
        with self.at_work('bursts') as target:
            rows = self.traced(
                target,
                f'profile-997 {{ @["997"] = count(); n++; }} profile-499 {{ @["499"] = count(); }} wall-499 '
                f'{{ @["wall"] = count(); }} '
                f'profile-997 /n > {4 * SAMPLES}/ {{ exit(0); }} END {{ printa("%s %@d\\n", @); }}',
            )
        counts = {name: int(count) for name, count in rows}
        expect(
            abs(counts['499'] / counts['997'] - 499 / 997) < 0.05 and counts.get('wall'), 'samples', counts
        )

    def test_calls_that_signals_interrupt_go_on(self):
        if not self.vmtrace.exists():
            raise Skip('vmtrace is not built')
        with tempfile.TemporaryDirectory() as folder, session.Target(
            self.vmrun, HERE / 'interrupted.act', ('+S', '2'), [folder]
        ) as target:
            tracer = subprocess.Popen(
                [
                    self.vmtrace,
                    '-q',
                    '-p',
                    str(target.process.pid),
                    '-n',
                    'BEGIN { printf("tracing\\n"); } '
                    'profile-4999, wall-4999 { @ = count(); } profile-997 { @ = count(); }',
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            expect(first_line(tracer.stdout) == 'tracing\n', 'vmtrace does not begin')
            target.line('go')
            target.wait_for('[true,true,true]')
            target.wait_for('done')
            target.finish()
            expect(tracer.wait(timeout=session.LIMIT) == 0, f'vmtrace: status {tracer.returncode}')

    def test_a_trap_that_no_clock_has_sent_ends_the_machine(self):
        with self.at_work('bursts') as target:
            tracer = subprocess.Popen(
                [
                    self.vmtrace,
                    '-q',
                    '-p',
                    str(target.process.pid),
                    '-n',
                    'BEGIN { printf("tracing\\n"); } profile-997 { @ = count(); }',
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            expect(first_line(tracer.stdout) == 'tracing\n', 'vmtrace does not begin')
            endpoint.until(lambda: self.armed(target), 'there are clocks')
            target.process.send_signal(signal.SIGTRAP)
            expect(
                target.process.wait(timeout=session.LIMIT) == -signal.SIGTRAP,
                f'status {target.process.returncode}',
            )
            expect(tracer.wait(timeout=session.LIMIT) == 0, f'vmtrace: status {tracer.returncode}')

    def test_it_does_not_fire_for_threads_that_sleep(self):
        with self.at_work('sleeps') as target:
            before = processor_seconds(target)
            rows = self.traced(
                target,
                'profile-997 { @ = count(); } wall-97 /cpu == 1/ { n++; } wall-97 /n > 60/ { exit(0); } '
                'END { printa("samples %@d\\n", @); }',
            )
            used = processor_seconds(target) - before
        count = sum(int(count) for _, count in rows)
        expect(count <= 997 * (used + 2 / TICKS), f'{count} samples of {used} s')

    def test_wall_clocks_count_threads_that_sleep(self):
        with self.at_work('sleeps', ('+S', '4')) as target:
            rows = self.traced(
                target,
                'wall-97 /cpu > 0/ { @[cpu, mfa] = count(); } wall-97 /cpu == 4/ { n++; } wall-97 /n == 60/ '
                '{ exit(0); } '
                'END { printa("%d %s %@d\\n", @); }',
            )
        idle = {row[0].split(' ')[0]: int(row[1]) for row in rows if row[0].endswith('[idle]')}
        expect(
            sorted(idle) == ['1', '2', '3', '4'] and min(idle.values()) > 40,
            'not about 60 samples of each scheduler',
            *rows,
        )

    def armed(self, target):
        """Returns the clocks of processor time that the machine has: timers (if this kernel lists them;
        schedulers have some of another clock) and events of the kernel's."""
        place = pathlib.Path(f'/proc/{target.process.pid}')
        timers = (place / 'timers').read_text().splitlines() if (place / 'timers').exists() else []
        links = []
        for link in (place / 'fd').iterdir():
            try:
                links.append(os.readlink(link))
            except FileNotFoundError:  # closed at this moment
                pass
        return [line for line in timers if line.startswith('ClockID: -')] + [
            link for link in links if 'perf_event' in link
        ]

    def test_no_clock_stays_when_the_tracer_is_killed(self):
        with self.at_work('bursts') as target:
            expect(not self.armed(target), 'clocks before anybody traces')
            tracer = subprocess.Popen(
                [
                    self.vmtrace,
                    '-q',
                    '-p',
                    str(target.process.pid),
                    '-n',
                    'BEGIN { printf("tracing\\n"); } profile-997 { @ = count(); }',
                ],
                stdout=subprocess.PIPE,
                text=True,
            )
            expect(first_line(tracer.stdout) == 'tracing\n', 'vmtrace does not begin')
            endpoint.until(lambda: self.armed(target), 'there are clocks')
            tracer.kill()
            tracer.wait()
            endpoint.until(lambda: not self.armed(target), 'the clocks go')
            target.line('end')
            target.wait_for('done')
            target.finish()
