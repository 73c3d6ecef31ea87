# SPDX-License-Identifier: Apache-2.0
"""What debuggers and tracers of native code see of threads that execute machine code of Erlang functions:
the function, and behind it the interpreter, the scheduler's loop and its thread."""
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
    names = iter(stack)
    return any(function in name for name in names) and all(part in next(names, '') for part in BEHIND)


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
