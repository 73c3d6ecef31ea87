# SPDX-License-Identifier: Apache-2.0
"""A run of one suite by OTP's real common_test, in a system of its own: home, cookie, epmd and files."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from harness.golden import ENVIRONMENT
from harness.results import Failure
from nodes.cluster import free_port
from otp.source import SOURCE, compiled, fetched, hook

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 1200  # erl_distribution_SUITE waits for ticks and takes half of it
# As OTP's own ts_run starts a node for suites.
SYSTEM = [
    '-noinput',
    '-sname',
    'test_server',
    '-boot',
    'start_sasl',
    '-sasl',
    'errlog_type',
    'error',
    '-enable-feature',
    'maybe_expr',
]


class Outcome:
    """cases: name -> (ok, failed or skipped; why); end: how the system ended, if not well; log: the last that
    it printed."""

    def __init__(self, lines, end, log):
        self.cases, self.end, self.log = {}, end, log
        open_ended = ('failed', end or 'has no end')
        for line in lines:
            what, name, why = (line.split(' ', 2) + ['', ''])[:3]
            if name.split('/')[-1] in ('init_per_suite', 'end_per_suite', 'init_per_group', 'end_per_group'):
                continue
            known = self.cases.get(name)
            if what == 'began':
                if known is None or known[0] == 'skipped':
                    self.cases[name] = open_ended
            elif what == 'ended':
                if known in (None, open_ended):
                    self.cases[name] = ('ok', '')
            elif what == 'skipped' and known == ('ok', ''):
                pass  # two groups have the case, and only one of them was skipped
            elif known is None or known[0] != 'failed' or known == open_ended:
                self.cases[name] = (what, why)

    @property
    def passed(self):
        return {name for name, (what, _) in self.cases.items() if what == 'ok'}


def run(folder_of_programs, folder, suite, left_out=(), seconds=SECONDS):
    """The programs ct_run, erl and the like come from the first folder, or from PATH if there is none."""
    if folder_of_programs and not (pathlib.Path(folder_of_programs) / 'ct_run').exists():
        raise Failure(f'{folder_of_programs} has no ct_run: that of stock erl would run in its place')
    modules = compiled(folder, suite)
    with tempfile.TemporaryDirectory(prefix='vmrun-otp-', ignore_cleanup_errors=True) as work:
        work = pathlib.Path(work)
        for name in ('home', 'logs', 'test'):
            (work / name).mkdir()
        fill(work / 'test', fetched() / folder, modules, suite)
        environment = dict(
            ENVIRONMENT,
            HOME=str(work / 'home'),
            ERL_EPMD_PORT=str(free_port()),
            VMRUN_OTP_RESULTS=str(work / 'results'),
            VMRUN_OTP_LEFT_OUT=','.join(left_out),
            VMRUN_OTP_WORK=str(work),
        )
        if folder_of_programs:
            environment['PATH'] = f'{folder_of_programs}:{environment["PATH"]}'
        command = [
            'ct_run',
            *SYSTEM,
            '-pa',
            str(hook()),
            '-pz',
            str(work / 'test'),
            '-dir',
            str(work / 'test'),
            '-suite',
            suite,
            '-no_auto_compile',
            '-logdir',
            str(work / 'logs'),
            '-ct_hooks',
            'otp_results',
        ]
        start_epmd(environment)
        end, log = run_to_end(command, work, environment, seconds)
        keep(work / 'logs', folder_of_programs, folder, suite)
        results = work / 'results'
        return Outcome(results.read_text(errors='replace').splitlines() if results.exists() else [], end, log)


def fill(to, source, modules, suite):
    """The folder of a suite, with data that it may write in. The rest of it belongs to everybody."""
    for place in (source, modules):
        for file in place.iterdir():
            if not (to / file.name).exists() and not file.name.endswith('.making'):
                if file.is_dir() and (modules / file.name).is_dir():
                    shutil.copytree(modules / file.name, to / file.name, symlinks=True)
                elif file.name == f'{suite}_data':
                    shutil.copytree(file, to / file.name, symlinks=True)
                elif file.name not in ('lock', 'modules', 'compile.log'):
                    (to / file.name).symlink_to(file)


def start_epmd(environment):
    """It runs before all others, where the system lets it: on a busy machine it may read of a new connection
    before the end of the last one, and refuse its name (creation_selection of distribution_SUITE, with stock
    erl too)."""

    def in_real_time():
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))

    if epmd := shutil.which('epmd', path=environment['PATH']):
        subprocess.run([epmd, '-daemon'], env=environment, preexec_fn=in_real_time, check=True)


def run_to_end(command, work, environment, seconds):
    """How the system ended, None if well, and the last that it printed. ct_run's status says whether cases
    have failed: no matter here."""
    path = shutil.which(command[0], path=environment['PATH'])
    with open(work / 'log', 'wb') as log:
        process = subprocess.Popen(
            [path, *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=work / 'test',
            env=environment,
            start_new_session=True,
        )
        try:
            status = process.wait(seconds)
            end = None if status in (0, 1) else f'the system ended with status {status}'
        except subprocess.TimeoutExpired:
            end = f'no end of the suite after {seconds} s'
        finally:
            end_all(environment)
            process.wait()
    return end, (work / 'log').read_text(errors='replace')[-8000:]


def end_all(environment):
    """Whoever has the environment is one of the system, and is ended: most are in the background."""
    mark = f'VMRUN_OTP_WORK={environment["VMRUN_OTP_WORK"]}'.encode()
    for process in pathlib.Path('/proc').glob('[0-9]*'):
        with contextlib.suppress(OSError):
            if mark in (process / 'environ').read_bytes().split(b'\0'):
                os.kill(int(process.name), signal.SIGKILL)


def keep(logs, folder_of_programs, folder, suite):
    """common_test's own pages, of the last run only: for readers that want to know more of a failure."""
    to = SOURCE / 'logs' / ('ours' if folder_of_programs else 'stock') / folder / suite
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(
        logs,
        to,
        symlinks=True,
        ignore_dangling_symlinks=True,
        ignore=lambda _, names: [n for n in names if n == 'log_private'],
    )
