# SPDX-License-Identifier: Apache-2.0
"""Compares what vmtrace's profile-997 says of a machine with what `perf record` says of the same seconds and
the same threads (PROBES.md, I7). Each share that either puts above 5 % is within 3 points of the other's.
perf unwinds native stacks by itself and knows functions with machine code from the map that `+JPperf map`
writes. Anything else is named by the innermost frame that is in FRAMES. The rows are printed: `./dev test
--slow shares`."""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from harness.golden import first_line
from harness.results import Failure, Skip, Test
from harness.sanitizers import runs_on_x86_64, sanitizer
from live import endpoint

LIVE = pathlib.Path(__file__).resolve().parent.parent / 'live'
SAMPLES = 6000  # 3 points are more than three standard deviations of a share of a half, of both together
POINTS, LEAST = 3, 5
LIMIT = 600

# Innermost first: what the machine does.
FRAMES = [
    (r'\$(.*)', r'\1'),  # a function that has machine code
    (r'vmrun::bif_(\w+?)_([a-z_0-9]+)_(\d+)\b', r'\1:\2/\3'),
    (
        r'vmrun::\(anonymous '
        r'namespace\)::Collection::|vmrun::collect_(now|major|on_dirty)\b|vmrun::Collector::',
        '[gc]',
    ),
    (r'vmrun::(prepare|publish)_module\b', '[load]'),
    (
        r'vmrun::(\(anonymous '
        r'namespace\)::)?call_(start|stop|flush|output|outputv|output_to|ready_input|ready_output|timeout|'
        r'control|call'
        r'|event|event_callback|ready_async|process_exit|finish|stop_select)\b|vmrun::.*JobQueue|'
        r'vmrun::async::',
        '[driver]',
    ),
    (r'vmrun::\(anonymous namespace\)::run_port\b', '[port]'),
    (r'vmrun::preloaded::|enif_', 'zlib'),  # the one native library that has a row
    (r'vmrun::interpret\b', 'Erlang'),
]

# Programs: the kind of profile_load.act, flags, and the functions that have separate rows.
KINDS = [
    ('bursts', (), (r'profile_load:.*',)),
    ('more tails', (), (r'profile_load:.*',)),
    ('bursts', ('+hot', '0'), ()),
    ('built-ins', (), (r'lists:member/2',)),
    ('built-ins', ('+hot', '0'), (r'lists:member/2',)),
    ('collections', (), (r'profile_load:.*',)),
    ('ports', (), ()),
    ('elsewhere', (), ('erlang:term_to_binary/1',)),
    ('loads', (), ()),
    ('native', (), ('zlib',)),
]


def tests(root, build):
    suite = Suite(pathlib.Path(build).resolve())
    result = []
    for kind, flags, own in KINDS:
        for under in ('vmrun', 'bin/erl'):
            name = f'shares as perf has them: {kind} {" ".join(flags)}'.strip() + (
                ', under erl' if under != 'vmrun' else ''
            )
            result.append(
                Test(
                    'slow',
                    name,
                    lambda k=kind, f=flags, o=own, u=under: suite.compare(u, k, f, o),
                    in_turn=True,
                )
            )
    result.append(Test('slow', 'shares as perf has them: Elixir', suite.compare_elixir, in_turn=True))
    return result


def shares(counts):
    total = sum(counts.values())
    return {name: 100 * n / total for name, n in counts.items()}


def place(frames):
    for frame in frames:
        for pattern, name in FRAMES:
            if found := re.match(pattern, frame):
                return found.expand(name)
    return '[scheduler]'


def ticks(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return int(fields[11]) + int(fields[12])


class Suite:
    def __init__(self, build):
        self.build = build

    def demand(self):
        if sanitizer(self.build / 'vmrun') or not runs_on_x86_64(self.build / 'vmrun'):
            raise Skip('the loop of this build is not read: samples are taken where slices end')
        if (
            not shutil.which('perf')
            or subprocess.run(
                ['perf', 'record', '-q', '-e', 'task-clock', '-o', '/dev/null', 'true'], capture_output=True
            ).returncode
            != 0
        ):
            raise Skip('no perf that works here')

    def compare(self, under, kind, flags, own):
        self.demand()
        with tempfile.TemporaryDirectory() as folder:
            if under == 'vmrun':
                command = [
                    self.build / 'vmrun',
                    '+S',
                    '2',
                    '+JPperf',
                    'map',
                    *flags,
                    LIVE / 'profile_load.act',
                ]
            else:
                source = (
                    (LIVE / 'profile_load.act')
                    .read_text()
                    .replace('-module(profile_load).', '-module(profile_load).\n-export([main/0]).')
                )
                pathlib.Path(folder, 'profile_load.erl').write_text(source)
                if not shutil.which('erlc'):
                    raise Skip('no erlc here')
                subprocess.run(['erlc', 'profile_load.erl'], cwd=folder, check=True, capture_output=True)
                command = [
                    self.build / under,
                    '+S',
                    '2',
                    '+JPperf',
                    'map',
                    *flags,
                    '-noshell',
                    '-pa',
                    folder,
                    '-run',
                    'profile_load',
                    'main',
                ]
            with self.started(command, folder, kind) as pid:
                self.hold(self.rows(pid, folder, own))

    def compare_elixir(self):
        self.demand()
        if not shutil.which('elixir'):
            raise Skip('no elixir here')
        with tempfile.TemporaryDirectory() as folder:
            environment = {
                **os.environ,
                'PATH': f'{self.build / "bin"}:{os.environ["PATH"]}',
                'ELIXIR_ERL_OPTIONS': '+JPperf map',
            }
            with Started(
                ['elixir', str(LIVE.parent / 'slow/shop.exs'), folder], folder, environment
            ) as process:
                pid = int(first_line(process.stdout).split()[1])
                self.hold(self.rows(pid, folder, ()))

    def started(self, command, folder, kind):
        process = Started(list(map(str, command)), folder, None)
        for expected, answer in (('ready\n', kind), ('works\n', None)):
            if (line := first_line(process.process.stdout)) != expected:
                process.__exit__()
                raise Failure(f'not {expected!r} but {line!r}')
            if answer:
                process.process.stdin.write(answer + '\n')
                process.process.stdin.flush()
        return PidOf(process)

    def rows(self, pid, folder, own):
        """Returns both profiles: [(name, vmtrace's share, perf's share)]."""
        script = (
            'BEGIN { printf("tracing\\n"); } profile-997 { @[mfa] = count(); n++; } '
            f'profile-997 /n == {SAMPLES}/ {{ exit(0); }} END {{ printa("%s %@d\\n", @); }}'
        )
        # Threads that it makes on demand must exist, because perf does not follow threads that come while it
        # attaches.
        endpoint.until(lambda: ticks(pid) > 2 * os.sysconf('SC_CLK_TCK'), 'the machine works')
        data = pathlib.Path(folder, 'perf.data')
        control, answers = os.pipe(), os.pipe()
        perf = subprocess.Popen(
            [
                'perf',
                'record',
                '-q',
                '-e',
                'task-clock',
                '-F',
                '997',
                '--call-graph',
                'dwarf,8192',
                '-o',
                data,
                '-p',
                str(pid),
                '--delay',
                '-1',
                f'--control=fd:{control[0]},{answers[1]}',
            ],
            stderr=subprocess.DEVNULL,
            pass_fds=(control[0], answers[1]),
        )
        os.write(control[1], b'enable\n')
        os.read(answers[0], 16)
        tracer = subprocess.Popen(
            [self.build / 'vmtrace', '-q', '-p', str(pid), '-n', script], stdout=subprocess.PIPE, text=True
        )
        if first_line(tracer.stdout) != 'tracing\n':
            perf.kill()
            raise Failure('vmtrace does not begin')
        ours = collections.Counter()
        for line in tracer.communicate(timeout=LIMIT)[0].splitlines():
            if line:
                name, count = line.rsplit(' ', 1)
                ours[name] += int(count)
        perf.send_signal(2)
        perf.wait()
        for end in (*control, *answers):
            os.close(end)
        told = subprocess.run(
            ['perf', 'script', '-i', data, '-F', 'comm,ip,sym'],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            env={**os.environ, 'DEBUGINFOD_URLS': ''},
        ).stdout
        theirs = collections.Counter()
        for sample in told.split('\n\n'):
            thread, *frames = sample.strip('\n').splitlines() or ['']
            if thread.strip() not in ('', 'trace'):  # the tracing thread is not sampled
                theirs[place(re.sub(r'^\s*[0-9a-f]+ ', '', frame) for frame in frames)] += 1
        if not theirs:
            raise Failure('perf has no samples')
        ours, theirs = (shares(self.together(counts, own)) for counts in (ours, theirs))
        return [(name, ours.get(name, 0), theirs.get(name, 0)) for name in sorted({*ours, *theirs})]

    @staticmethod
    def together(counts, own):
        """Merges functions without a separate row."""
        result = collections.Counter()
        for name, count in counts.items():
            if name.startswith('[driver'):
                name = '[driver]'
            elif name.startswith('[thread'):
                name = '[scheduler]'
            elif name.startswith('zlib:'):
                name = 'zlib' if 'zlib' in own else 'Erlang'
            elif name[0] != '[' and not any(re.fullmatch(pattern, name) for pattern in own):
                name = 'Erlang'
            result[name] += count
        return result

    @staticmethod
    def hold(rows):
        table = [
            f'{name:40} vmtrace {ours:5.1f}  perf {theirs:5.1f}  {ours - theirs:+5.1f}'
            for name, ours, theirs in rows
            if max(ours, theirs) > 0.5
        ]
        print('\n'.join(table), flush=True)
        if any(max(ours, theirs) > LEAST and abs(ours - theirs) > POINTS for _, ours, theirs in rows):
            raise Failure('\n'.join(['shares differ', *table]))


class Started:
    def __init__(self, command, folder, environment):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment
        )

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


class PidOf:
    def __init__(self, started):
        self.started = started

    def __enter__(self):
        return self.started.process.pid

    def __exit__(self, *_):
        self.started.__exit__()
