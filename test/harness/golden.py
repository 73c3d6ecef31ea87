# SPDX-License-Identifier: Apache-2.0
"""Golden scripts under vmrun, in every mode, and on a stock erl."""
import functools
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import threading

from .results import Failure, Skip, Test
from .sanitizers import need_its_own_memory, need_machine_code

# The flags of each mode, named here only. The first two are the ordinary ones; the others are stress modes,
# with a factor on the timeout.
MODES = {
    's1': (['+S', '1'], 1),
    's4': (['+S', '4:4'], 1),
    'gc-stress': (['+S', '1', '+gc-stress', '+verify-heap', '+hot', '1'], 20),
    'slice': (['+S', '4:4', '+slice', '20', '+hot', '1'], 4),
    'yield': (['+S', '2:2', '+yield-all', '+hot', '1'], 8),
    'random': (['+S', '1', '+random-sched', '{seed}', '+hot', '1'], 4),
    'jit': (['+S', '4:4', '+jit', 'all'], 2),
    'exits': (['+S', '4:4', '+jit', 'all', '+jit-exits', '{seed}'], 2),
}
ORDINARY_MODES = ['s1', 's4']


def drawn(script, possible, seed):
    """The stress mode, if there is one of those possible, that the seed draws for a script."""
    stress = [mode for mode in possible if mode not in ORDINARY_MODES and mode not in script.mode_skips]
    return [random.Random(f'{seed} {script.name}').choice(stress)] if stress else []


def mode_flags(mode, seed):
    return [flag.format(seed=seed) for flag in MODES[mode][0]]


patience = 1  # a factor on the timeout of every program, for a slow build; set once by test/run
small_limits = False  # whether the build has -Dlimits=small; set once by test/run

ENVIRONMENT = dict(
    os.environ,
    LANG='C.UTF-8',
    LC_ALL='C.UTF-8',
    ERL_CRASH_DUMP='/dev/null',
    ERL_CRASH_DUMP_SECONDS='0',
    ERL_AFLAGS='',
)


def first_line(stream):
    """Returns the first line, and reads not a byte more: communicate() does not see what a stream has read
    ahead."""
    line = b''
    while not line.endswith(b'\n') and (byte := os.read(stream.fileno(), 1)):
        line += byte
    return line.decode()


class NoEnd(Failure):
    """A program's time limit has passed. out: what it had printed."""

    def __init__(self, text, out):
        super().__init__(text)
        self.out = out


def run_program(command, stdin, timeout, cwd=None, env=ENVIRONMENT):
    """Returns status, output and error text. Ends the whole process group at the timeout."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        cwd=cwd,
        start_new_session=True,
    )
    timeout *= patience
    try:
        out, err = process.communicate(stdin.encode(), timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        try:
            out, err = process.communicate(timeout=10)
        except subprocess.TimeoutExpired as late:  # programs it has started hold its output open
            out, err = late.stdout or b'', late.stderr or b''
        text = (out + err).decode(errors='replace')[-1500:]
        raise NoEnd(
            f'no end after {timeout} s; printed so far:\n{text}\ncommand: {" ".join(command)}',
            out.decode(errors='replace'),
        ) from None
    return process.returncode, out.decode(errors='replace'), err.decode(errors='replace')


def differences_of_run(script, command, timeout, cwd=None, env=ENVIRONMENT):
    """Returns how a run of a script differs from what it expects; empty if it does not."""
    try:
        return script.differences(*run_program(command, script.stdin, timeout, cwd, env))
    except NoEnd as late:
        unlike = script.first_difference(late.out)
        raise Failure(f'{unlike}\n{late}') if unlike else late


def repeat(script, mode, seed):
    """What a failure says besides, when the seed decides."""
    return (
        f'\nagain: ./dev test --suite golden --mode {mode} --seed {seed} {script.name}'
        if mode not in ORDINARY_MODES
        else ''
    )


@functools.cache
def has_probes(vmrun):
    """Asks the machine itself, because any vmrun may be tested."""
    return (
        run_program([vmrun, str(pathlib.Path(__file__).with_name('dynamic_trace.act'))], '', 60)[1].strip()
        != 'none'
    )


@functools.cache
def stock_release():
    """The number of the installed OTP; 0: there is none."""
    if not shutil.which('erl') or not shutil.which('erlc'):
        return 0
    asked = 'io:format("~s", [erlang:system_info(otp_release)]), halt().'
    done = subprocess.run(['erl', '-noshell', '-eval', asked], capture_output=True, text=True, check=True)
    return int(done.stdout)


def too_new(script):
    """Why a script that is about the inside of an OTP is not about the installed one, or None."""
    for need in script.requires:
        if need.startswith('until') and int(need[5:]) < stock_release():
            return f'it is about the modules of Erlang/OTP {need[5:]} and older, here is {stock_release()}'
    return None


def vmrun_test(script, mode, vmrun, seed):
    factor = MODES[mode][1]

    def run():
        if mode in script.mode_skips:
            raise Skip(script.mode_skips[mode])
        if small_limits and 'small' in script.mode_skips:
            raise Skip(script.mode_skips['small'])
        if 'probes' in script.requires and not has_probes(vmrun):
            raise Skip('built without probes')
        if 'allocator' in script.requires:
            need_its_own_memory(vmrun)
        if 'machine_code' in script.requires:
            need_machine_code(vmrun)
        if why := too_new(script):
            raise Skip(why)
        command = [vmrun, *mode_flags(mode, seed), *script.flags, str(script.path), *script.arguments]
        difference = differences_of_run(script, command, script.timeout * factor)
        if difference:
            raise Failure(f'{difference}\ncommand: {" ".join(command)}{repeat(script, mode, seed)}')

    return Test('golden', f'{script.name} [{mode}]', run)


class StockErl:
    """Compiles scripts with erlc and runs them with erl, in a temporary folder."""

    def __init__(self, folder, harness):
        self.folder = pathlib.Path(folder)
        # One node compiles all scripts, if this erlc can do that (OTP 24). It ends when it has been idle for
        # a while.
        self.compiling = dict(ENVIRONMENT, ERLC_USE_SERVER='yes', ERLC_SERVER_ID=f'vmrun_test_{os.getpid()}')
        self.harness = harness
        self.one_at_a_time = threading.Lock()
        self.release = 0
        if shutil.which('erl') and shutil.which('erlc'):
            shutil.copy(harness / 'act_main.erl', self.folder)
            subprocess.run(['erlc', 'act_main.erl'], cwd=self.folder, check=True)
            self.release = stock_release()

    def unable(self, script):
        """Returns why the script cannot run here, or None."""
        if not self.release:
            return 'no erl here'
        if script.erl_skip is not None:
            return script.erl_skip
        if script.erl_until and script.erl_until[0] < self.release:
            return script.erl_until[1]
        for need in script.requires:
            if need.startswith('otp') and int(need[3:]) > self.release:
                return f'needs Erlang/OTP {need[3:]}, here is {self.release}'
        return too_new(script)

    def module_text(self, script, change=lambda text: text):
        """Returns an .erl text with the same line numbers: module and export attributes go before the
        contents of a line."""
        text = change(script.text)
        if text.startswith('#!'):
            text = '%%' + text[2:]
        exports = ','.join(
            f'main/{n}'
            for n, pattern in ((0, r'^main\(\s*\)'), (1, r'^main\(\s*[^)\s]'))
            if re.search(pattern, text, re.M)
        )
        module = re.search(r'^-module\(([^)]*)\)\.', text, re.M)
        export = f' -export([{exports}]). ' if '-export([main/' not in text and exports else ' '
        if module:
            return module[1].strip("' "), text[: module.end()] + export + text[module.end() :]
        name = script.path.stem
        first, newline, rest = text.partition('\n')
        return name, f"-module('{name}').{export}{first}{newline}{rest}"

    def companions(self, area):
        """Makes a folder with the modules that belong to an area's scripts, compiled by erlc."""
        with self.one_at_a_time:
            folder = self.folder / f'companions_{area.name}'
            if not folder.exists():
                folder.mkdir()
                for module in area.glob('*.erl'):
                    shutil.copy(module, folder)
                    subprocess.run(
                        ['erlc', module.name], cwd=folder, check=True, capture_output=True, env=self.compiling
                    )
            return folder

    def compile(self, script, change=lambda text: text, options=()):
        """Returns the folder, the module, and the result of erlc."""
        name, text = self.module_text(script, change)
        folder = self.folder / re.sub(r'\W', '_', script.name + ''.join(options))
        folder.mkdir(exist_ok=True)
        (folder / f'{name}.erl').write_text(text, encoding='utf-8', errors='surrogateescape')
        for other in [*script.path.parent.glob('*.hrl'), *self.companions(script.path.parent).iterdir()]:
            shutil.copy(other, folder)
        return (
            folder,
            name,
            run_program(
                ['erlc', '+nowarn_unused_vars', *options, '-o', str(folder), str(folder / f'{name}.erl')],
                '',
                60,
                cwd=folder,
                env=self.compiling,
            ),
        )

    def run(self, script, folder, module, env=ENVIRONMENT):
        quiet = ['-kernel', 'logger', '[{handler,default,logger_std_h,#{config=>#{type=>standard_error}}}]']
        command = [
            'erl',
            '-noshell',
            '+S',
            '2',
            *quiet,
            '-pa',
            str(self.folder),
            '-pa',
            str(folder),
            '-run',
            'act_main',
            'start',
            module,
            '-extra',
            *script.arguments,
        ]
        return run_program(command, script.stdin, script.timeout * 2, cwd=folder, env=env)

    def test(self, script, known=None, passed=lambda script: None):
        """known: a StockRecord of scripts that need not run again. passed: called with the script when it
        prints what it expects."""

        def run():
            why = self.unable(script)
            if why:
                raise Skip(why)
            if known and known.has(script):
                return
            compare()
            passed(script)

        def compare():
            folder, module, (status, out, err) = self.compile(script)
            if script.name.startswith('errors/'):
                if status == 0:
                    raise Failure('erlc accepts it')
                return
            if status != 0:
                raise Failure('erlc: ' + out + err)
            difference = script.differences(*self.run(script, folder, module))
            if difference:
                raise Failure(difference)

        return Test('erl', script.name, run)


# Areas whose scripts erlc compiles for vmrun, with these options: for machines of its own release, and of the
# oldest that it knows.
COMPILED_AREAS = (
    'bits',
    'comprehensions',
    'funs',
    'gc',
    'patterns',
    'receive',
    'regression',
    'strings',
    'unicode',
)
COMPILED_FOR = ('erlc', 'oldest')


def compiled_tests(scripts, erl, vmrun):
    return [
        Test('erlc', f'{script.name} [{mode}]', functools.partial(run_compiled, script, erl, vmrun, mode))
        for script in scripts
        if script.name.startswith(COMPILED_AREAS)
        for mode in COMPILED_FOR
    ]


def run_compiled(script, erl, vmrun, mode):
    """Checks that a script compiled by erlc prints the same."""
    if why := erl.unable(script) or script.mode_skips.get(mode):
        raise Skip(why)
    # erlc compiles for its own release and for three before it.
    options = [f'+r{erl.release - 3}'] if mode == 'oldest' else []
    folder, module, (status, out, err) = erl.compile(script, options=options)
    if status != 0:
        raise Failure('erlc: ' + out + err)
    command = [
        os.path.abspath(vmrun),
        *script.flags,
        '-pa',
        str(folder),
        str(folder / f'{module}.beam'),
        *script.arguments,
    ]
    if difference := differences_of_run(script, command, script.timeout, cwd=folder):
        raise Failure(difference)
