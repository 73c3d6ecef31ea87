# SPDX-License-Identifier: Apache-2.0
"""File operations with an injector of faults (fault_injector.cpp) preloaded, under +A 0 and +A 8."""
import pathlib
import subprocess
import tempfile

from harness.golden import ENVIRONMENT
from harness.results import Failure, Skip, Test

HERE = pathlib.Path(__file__).resolve().parent


def tests(build, vmrun):
    return [
        Test('files', f'{name} +A {threads}', lambda run=run, threads=threads: run(build, vmrun, threads))
        for threads in ('0', '8')
        for name, run in (
            ('a disk that fails', faults),
            ('halt writes what was delayed', halt),
            ('killed owners', killed),
        )
    ]


def faults(build, vmrun, threads):
    injector = build / 'test' / 'libfault_injector.so'
    if not injector.exists():
        raise Skip('the injector of faults is not built')
    with tempfile.TemporaryDirectory(prefix='vmrun-files-') as folder:
        control = pathlib.Path(folder) / 'faults'
        environment = dict(
            ENVIRONMENT, LD_PRELOAD=str(injector), VMRUN_FAULTY='/faulty/', VMRUN_FAULTS=str(control)
        )
        done = subprocess.run(
            [vmrun, '+S', '2', '+A', threads, str(HERE / 'faults.act'), folder, str(control)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
    if done.returncode != 0 or not done.stdout.endswith('all done\n'):
        raise Failure(f'status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-2000:]}')


def halt(build, vmrun, threads):
    with tempfile.TemporaryDirectory(prefix='vmrun-files-') as folder:
        for flush, wanted in (('true', 'behind'), ('false', '')):
            name = pathlib.Path(folder) / flush
            done = subprocess.run(
                [vmrun, '+A', threads, str(HERE / 'halt.act'), str(name), flush],
                env=ENVIRONMENT,
                capture_output=True,
                text=True,
                timeout=60,
                stdin=subprocess.DEVNULL,
            )
            if done.returncode != 3 or name.read_text() != wanted:
                raise Failure(
                    f'flush {flush}: status {done.returncode}, file: {name.read_text()!r}\n'
                    f'{done.stderr[-1000:]}'
                )


def killed(build, vmrun, threads):
    with tempfile.TemporaryDirectory(prefix='vmrun-files-') as folder:
        done = subprocess.run(
            [vmrun, '+S', '2', '+A', threads, str(HERE / 'killed.act'), folder],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
    if done.returncode != 0 or done.stdout != 'all done\n':
        raise Failure(f'status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-2000:]}')
