# SPDX-License-Identifier: Apache-2.0
"""What debuggers and tracers of native code see of threads that execute machine code of Erlang functions:
the function, and behind it the interpreter, the scheduler's loop and its thread; and what gdb shows of Erlang
with scripts/gdb/vmrun-gdb.py."""
import pathlib
import re
import shutil
import subprocess
import tempfile

from harness.golden import ENVIRONMENT
from harness.results import Skip, Test
from harness.sanitizers import need_machine_code

from . import session
from .attach import expect

HERE = pathlib.Path(__file__).resolve().parent
SPIN = HERE / 'spin.act'
SAMPLES = 200
SCRIPT = HERE.parent.parent / 'scripts/gdb/vmrun-gdb.py'
HASH = 'vmrun::bif_erlang_phash2_1'  # called from machine code of turns/1
BEHIND = ['interpret', 'start_schedulers', '_M_run']  # parts of the names behind machine code


def tests(vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [
        Test('live', 'native stacks: ' + name[5:].replace('_', ' '), getattr(suite, name), in_turn=True)
        for name in vars(Suite)
        if name.startswith('test_')
    ]


def need_perf():
    works = shutil.which('perf') and subprocess.run(
        ['perf', 'record', '-q', '-e', 'task-clock', '-o', '/dev/null', 'true'], capture_output=True
    )
    if not works or works.returncode:
        raise Skip('no perf that works here')


def is_whole(stack, function):
    """Whether the stack, names from the innermost on, has the function and all that is behind it."""
    places = [n for n, name in enumerate(stack) if function in name]
    behind = stack[places[-1] + 1 :] if places else []
    return len(behind) >= len(BEHIND) and all(part in name for part, name in zip(BEHIND, behind))


def perf_script(folder, recorded, *options):
    """The stacks of a recording, lists of names."""
    done = subprocess.run(
        ['perf', 'script', '-i', recorded, '-F', 'comm,ip,sym', *options],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return [
        [line.split(None, 1)[-1] for line in sample.splitlines()[1:]] for sample in done.stdout.split('\n\n')
    ]


def gdb(program, *commands, before=()):
    """The lines that gdb prints, and its errors."""
    if not shutil.which('gdb'):
        raise Skip('no gdb here')
    words = ['gdb', '-nx', '-q', '-batch']
    for command in ('set style enabled off', 'set width 0', 'set debuginfod enabled off', *commands):
        words += ['-ex', command]
    done = subprocess.run([*words, program, *before], capture_output=True, text=True, timeout=session.LIMIT)
    return done.stdout.splitlines(), done.stderr


def frames(lines):
    """The last backtrace among them, the innermost frame first. Those of Erlang have no number, but for
    machine code."""
    begin = max((n for n, line in enumerate(lines) if line.startswith('#0 ')), default=len(lines))
    found = (re.match(r'(?:#\d+ +)?(?:0x\w+ in )?(\S.* \(.*)$', line) for line in lines[begin:])
    return [match[1] for match in found if match]


def is_at(frame, function, file, line):
    return frame.startswith(function + ' ') and frame.endswith(f'{file}:{line}')


class Suite:
    def __init__(self, vmrun):
        self.vmrun = vmrun

    def test_bpftrace_sees_the_scheduler_behind_machine_code(self):
        need_machine_code(self.vmrun)
        session.require_tracer()
        with session.Target(self.vmrun, SPIN, flags=('+S', '1', '+JPperf', 'map')) as target:
            pid = target.process.pid
            names = pathlib.Path(f'/tmp/perf-{pid}.map')
            tracer = session.Tracer(
                pid,
                'BEGIN { printf("tracing\\n"); @n = 0; } '
                f'profile:hz:997 /pid == {pid} && comm == "1_scheduler"/ '
                f'{{ @[ustack(8)] = count(); @n++; if (@n == {SAMPLES}) {{ exit(); }} }}',
            )
            lines = tracer.lines()
            target.line('go')
            target.finish()
            names.unlink(missing_ok=True)
        # Maps are printed as "@[", a line for each frame, "]: count".
        stacks = [
            (stack.split('\n'), int(count))
            for stack, count in re.findall(r'@\[\n(.*?)\n\]: (\d+)', '\n'.join(lines), re.S)
        ]
        found = sum(n for stack, n in stacks if is_whole(stack, ':inner/2') or is_whole(stack, ':step/2'))
        expect(found > SAMPLES // 2, f'{found} of {SAMPLES} stacks', *lines[-40:])

    def test_perf_follows_frame_pointers_behind_machine_code(self):
        need_machine_code(self.vmrun)
        need_perf()
        with tempfile.TemporaryDirectory() as folder:
            recorded = f'{folder}/perf.data'
            done = subprocess.run(
                ['perf', 'record', '-q', '-e', 'cpu-clock:u', '-F', '997', '-g', '-o', recorded]
                + [self.vmrun, '+S', '1', '+JPperf', 'map', SPIN, 'count', '20000'],
                capture_output=True,
                text=True,
                env=ENVIRONMENT,
            )
            expect(done.returncode == 0, 'perf record', done.stderr)
            stacks = perf_script(folder, recorded)
        inside = [s for s in stacks if s and re.search(r':(inner|step)/2', s[0])]
        whole = [s for s in inside if is_whole(s, s[0])]
        expect(len(inside) > 20, f'{len(inside)} of {len(stacks)} samples in machine code', *stacks[-5:])
        expect(len(whole) == len(inside), f'{len(whole)} of {len(inside)} stacks', *inside[-5:])

    def test_perf_unwinds_machine_code(self):
        """With --call-graph dwarf, by what the dump says of the frame."""
        need_machine_code(self.vmrun)
        need_perf()
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [
                    'perf',
                    'record',
                    '-q',
                    '-k',
                    'mono',
                    '-e',
                    'cpu-clock:u',
                    '-F',
                    '297',
                    '--call-graph',
                    'dwarf',
                ]
                + ['-o', f'{folder}/perf.data', self.vmrun, '+S', '1', '+JPperf', 'dump']
                + ['+JPperfdirectory', folder, SPIN, 'count', '100000'],
                capture_output=True,
                text=True,
                env=ENVIRONMENT,
            )
            expect(done.returncode == 0, 'perf record', done.stderr)
            subprocess.run(
                ['perf', 'inject', '--jit', '-i', 'perf.data', '-o', 'jit.data'],
                cwd=folder,
                capture_output=True,
            )
            stacks = perf_script(folder, 'jit.data')
        inside = [s for s in stacks if s and re.search(r':(inner|step)/2', s[0])]
        through = [s for s in inside if is_whole(s, s[0])]
        expect(len(inside) > 20, f'{len(inside)} of {len(stacks)} samples in machine code', *stacks[-5:])
        expect(len(through) == len(inside), f'{len(through)} of {len(inside)} stacks', *inside[-5:])

    def stopped_in_a_function(self, *commands, flags=(), before=()):
        """What gdb prints of a machine that is in a built-in function which turns/1 has called."""
        lines, errors = gdb(
            self.vmrun,
            *before,
            f'break {HASH}',
            f'run {" ".join(["+S", "1", *flags])} {SPIN} count 100000',
            'ignore 1 100',  # by then turns/1 has machine code (spin.act)
            'continue',
            *commands,
            'kill',
        )
        expect(sum(HASH in line for line in lines) > 1, 'not stopped in the function', *lines, errors)
        return frames(lines)

    def test_gdb_finds_the_scheduler_behind_machine_code(self):
        need_machine_code(self.vmrun)
        names = self.stopped_in_a_function('bt')
        expect(all('machine_code' in name for name in names[1:3]), 'no machine code called it', *names)
        expect(is_whole(names, 'machine_code'), 'the stack ends', *names)

    def test_gdb_shows_erlang_functions_between_those_of_machine_code_and_the_scheduler(self):
        need_machine_code(self.vmrun)
        names = self.stopped_in_a_function('bt', before=(f'source {SCRIPT}',))
        expect(
            is_at(names[2], 'spin:turns/1', 'spin.act', 23), 'no function of the program called it', *names
        )
        expect(is_at(names[3], 'spin:main/1', 'spin.act', 5), 'not called by main/1', *names)
        expect(is_whole(names, 'spin:main/1') or is_whole(names, 'init:'), 'the stack ends', *names)

    def test_gdb_shows_erlang_functions_that_are_interpreted(self):
        """Behind a function that the interpreter has called, and behind the interpreter at another place."""
        for commands in ([], ['finish', 'stepi 500']):
            names = self.stopped_in_a_function(
                *commands, 'bt', flags=('+jit', 'none'), before=(f'source {SCRIPT}',)
            )
            at = next((n for n, name in enumerate(names) if 'interpret' in name), None)
            expect(at is not None, 'not in the interpreter', *names)
            expect('spin:' in names[at + 1], 'no function of the program', *names)
            expect(
                any(is_at(name, 'spin:main/1', 'spin.act', 5) for name in names[at + 1 :]),
                'no main/1',
                *names,
            )
            expect(BEHIND[1] in ' '.join(names), 'the stack ends', *names)

    def test_gdb_shows_a_process_of_a_stripped_machine_and_of_its_core_file(self):
        need_machine_code(self.vmrun)
        if not shutil.which('strip'):
            raise Skip('no strip here')
        with tempfile.TemporaryDirectory() as folder:
            stripped = f'{folder}/vmrun'
            subprocess.run(['strip', '-o', stripped, self.vmrun], check=True)
            show = (f'source {SCRIPT}', 'erl-bt spinning', 'erl-ps')
            with session.Target(stripped, SPIN, flags=('+S', '1')) as target:
                pid = str(target.process.pid)
                running = gdb(stripped, *show, f'generate-core-file {folder}/core', before=('-p', pid))
                target.line('go')
                target.finish()
            left = gdb(stripped, *show, before=('-c', f'{folder}/core'))
            for lines, errors in (running, left):
                text = '\n'.join(lines)
                expect(
                    re.search(
                        r'^<0\.\d+\.0> spinning\n(#\d+ +spin:.*\n)*#\d+ +spin:for_ever/0 at .*:18\n',
                        text,
                        re.M,
                    ),
                    'the stack of the process',
                    *lines,
                    errors,
                )
                expect(
                    re.search(r'^<0\.0\.0> +init +init:loop/1 at init.erl:\d+$', text, re.M),
                    'no init',
                    *lines,
                    errors,
                )
