# SPDX-License-Identifier: Apache-2.0
"""The ready-made views of vmtrace, each on a program that misbehaves in its way: the first row must show what
is wrong. Each view's script also runs by itself, as --show-script prints it."""
import contextlib
import itertools
import re
import shlex
import subprocess
import tempfile

from .golden import ENVIRONMENT, first_line, run_program
from .results import Failure, Test
from .sanitizers import need_signals_at_once

LIMIT = 60

# view, options, program below the root, words of the table's title, the pattern of its first row
FOUND = [
    ('top', '-d 2s -i 0 -k QUEUE', 'docs/examples/mailbox.act', 'in all', r' logger_disk$'),
    ('top', '-d 2s -i 0', 'docs/examples/hot.act', 'in all', r' <0\.\d+\.0> in hot:'),
    ('messages', '-d 2s', 'docs/examples/mailbox.act', 'lay there', r' logger_disk$'),
    ('messages', '-d 2s', 'docs/examples/convoy.act', 'lay there', r' prices$'),
    ('calls', '-d 2s', 'docs/examples/hot.act', 'in all', r'hot:find_session/2 +hot:handle/2$'),
    (
        'calls',
        '-d 2s -m hot -f find_session -r 0',
        'docs/examples/hot.act',
        'in all',
        r'hot:find_session/2 +hot:handle/2$',
    ),
    (
        'calls',
        '-d 2s -m hot -f handle -r 0',
        'docs/examples/hot.act',
        'in all',
        r'hot:handle/2 +hot:requests/1$',
    ),
    ('gc', '-d 2s', 'docs/examples/binaries.act', 'binaries outside', r' title_cache$'),
    ('slow', '-d 2s', 'docs/examples/mailbox.act', 'AFTER', r' message +logger_disk '),
    ('files', '', 'test/d/target/everything.act', 'in all', r'/dev/null$'),
    ('ports', '', 'test/d/target/everything.act', 'in all', r'efile$'),
    (
        'ports',
        '-k BUSY',
        'test/d/views/busy_port.act',
        'ports: ports',
        r' [1-9][\d.]* [num]?s  #Port<0\.\d+>  sh -c ',
    ),
    ('ports', '', 'test/d/views/busy_port.act', 'waited for a busy port', r'^ +1  #Port<0\.\d+>  writer$'),
]

WAITS = {
    ('sleeper', 'receive', 'known_waits:naps/1'): 4,
    ('server', 'receive', 'known_waits:serve/1'): 25,
    ('client', 'receive', 'known_waits:asks/1'): 25,
    ('held', 'suspended', 'known_waits:spin/0'): 3,
    ('main', 'receive', 'known_waits:start/2'): 5,
}

# programs of the tutorial; they run until they are ended
MISBEHAVE = ['mailbox', 'hot', 'binaries', 'convoy']


def tests(root, build, vmrun):
    vmtrace = build / 'vmtrace'
    names = re.findall(r'^view (\w+)', (root / 'probes/views/views.tab').read_text(), re.M)
    target = root / 'test/d/target/everything.act'
    return [
        *[
            Test(
                'd',
                f'view {view} of {program}',
                finds(vmtrace, vmrun, view, options, root / program, title, pattern),
            )
            for view, options, program, title, pattern in FOUND
        ],
        Test('d', 'view offcpu counts waits', counts_waits(vmtrace, vmrun, root / 'test/d/views')),
        Test('d', 'views of two machines', of_two(vmtrace, vmrun, root / 'docs/examples')),
        Test(
            'd', 'view of a machine that is killed', killed(vmtrace, vmrun, root / 'docs/examples/convoy.act')
        ),
        *[
            Test('d', f'view {name}: its script by itself', script_alone(vmtrace, vmrun, name, target))
            for name in names
        ],
        *[
            Test(
                'd',
                f'view {name}: -d ends it',
                ends(vmtrace, vmrun, name, [root / f'docs/examples/{p}.act' for p in MISBEHAVE]),
            )
            for name in names
        ],
        *[Test('d', f'view {name}: its help names its options', helps(vmtrace, name)) for name in names],
    ]


def run(words, limit=LIMIT):
    status, out, err = run_program([str(word) for word in words], '', limit)
    if status != 0:
        raise Failure(
            f'status {status}, standard error:\n{err}output:\n{out[:2000]}\n'
            f'command: {shlex.join(map(str, words))}'
        )
    return out, err


@contextlib.contextmanager
def running(vmrun, program):
    """Runs a machine with one of the programs that go on until they are ended."""
    need_signals_at_once(vmrun)
    with subprocess.Popen(
        [str(vmrun), str(program)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as machine:
        try:
            if not machine.stdout.readline().startswith('running'):
                raise Failure(f'{program} does not run')
            yield machine
        finally:
            machine.kill()


def traced(vmtrace, vmrun, view, options, program):
    """Returns what the view prints of a running program, or of a short one from its first instruction. slow
    only knows messages that are sent while it traces, and a growing mailbox has too many earlier ones when it
    comes late."""
    if program.parent.name != 'examples' or view == 'slow':
        return run([vmtrace, view, *options.split(), '-c', f'{vmrun} {program}'])[0]
    with running(vmrun, program) as machine:
        return run([vmtrace, view, *options.split(), '-p', machine.pid])[0]


def of_two(vmtrace, vmrun, examples):
    """Checks processes of two machines, with the number of the machine before them; one machine is reached by
    a relay."""

    def test():
        with running(vmrun, examples / 'convoy.act') as near, running(vmrun, examples / 'mailbox.act') as far:
            targets = ['-p', near.pid, '--via', f'{vmtrace} --relay {far.pid}']
            for view, title in ('top', 'in all'), ('messages', 'lay there'):
                rows = run([vmtrace, view, '-d', '2s', '-i', '0', *targets])[0].split(title)[-1]
                for process in f'{near.pid} prices', f'{far.pid} logger_disk', f'{near.pid} <0.':
                    if f' {process}' not in rows:
                        raise Failure(f'{view}: no {process} in\n{rows}')

    return test


def finds(vmtrace, vmrun, view, options, program, title, pattern):
    def test():
        out = traced(vmtrace, vmrun, view, options, program)
        rows = itertools.dropwhile(lambda line: title not in line, out.splitlines())
        # The title of a table stands above its headings. The lines of slow are ordered by time only.
        after = list(rows)[1:] if view == 'slow' else list(rows)[2:3]
        if not any(re.search(pattern, row) for row in after):
            raise Failure(f'no row, or not the first one, is of {pattern}:\n{out}')

    return test


def counts_waits(vmtrace, vmrun, programs):
    """Checks that each wait of processes that wait a known number of times is counted, by reason, and none of
    one that never waits."""

    def waits(options, program):
        out = run([vmtrace, 'offcpu', '-n', '0', '-c', f'{vmrun} {options} {programs / program}'])[0]
        rows = [re.split(' {2,}', line.strip()) for line in out.partition('SHARE')[2].splitlines()[1:]]
        return {
            (process, why, function): (int(count), longest)
            for _, _, count, _, longest, process, why, function, _ in rows
        }, out

    def test():
        found, out = waits('+S 1', 'known_waits.act')
        for row, count in WAITS.items():
            if found.get(row, (0, ''))[0] != count:
                raise Failure(f'{row} has not waited {count} times:\n{out}')
        busy = {why for process, why, _ in found if process == 'busy'}
        if busy != {'run queue'} or found['busy', 'run queue', 'known_waits:burn/1'][0] < 10:
            raise Failure(f'busy is preempted, and waits for nothing else:\n{out}')
        if found['sleeper', 'receive', 'known_waits:naps/1'][1].split()[1] not in ('ms', 's'):
            raise Failure(f'naps are of 50 ms:\n{out}')
        found, out = waits('', 'busy_port.act')
        if [
            count
            for (process, why, _), (count, _) in found.items()
            if (process, why) == ('writer', 'busy port')
        ] != [1]:
            raise Failure(f'writer waits once for its port:\n{out}')

    return test


def killed(vmtrace, vmrun, program):
    """Checks that the view of a machine that is killed shows what is known by then."""

    def test():
        with running(vmrun, program) as machine:
            with subprocess.Popen(
                [str(vmtrace), 'top', '-p', str(machine.pid)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as view:
                first = first_line(view.stdout)  # of a first table
                machine.kill()
                rest, err = view.communicate(timeout=LIMIT)
                out = first + rest
        if ' in all\n' not in out or not re.search(r' prices$', out.partition(' in all\n')[2], re.M):
            raise Failure(out)
        if f'pid {machine.pid} has exited' not in err:
            raise Failure(f'why it ends is not said: {err}')

    return test


def script_alone(vmtrace, vmrun, name, target):
    def test():
        script, _ = run([vmtrace, name, '--show-script'])
        done = subprocess.run(
            [vmtrace, '-s', '/dev/stdin', '-c', f'{vmrun} {target}'],
            input=script,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        if done.returncode or 'vmtrace:' in done.stderr:
            raise Failure(f'status {done.returncode}\n{done.stderr}{done.stdout[:2000]}\n{script}')

    return test


def ends(vmtrace, vmrun, name, programs):
    """Checks that -d ends the view, though the program goes on."""

    def test():
        for program in programs:
            with tempfile.TemporaryDirectory() as folder, running(vmrun, program) as machine:
                run([vmtrace, name, '-d', '300ms', '-o', f'{folder}/out', '-p', machine.pid])
                if machine.poll() is not None:
                    raise Failure(f'{program.name} has ended')

    return test


def helps(vmtrace, name):
    def test():
        out, _ = run([vmtrace, name, '--help'])
        for option in ('-p PID', '-c CMD', '-d TIME', '-o FILE', '--show-script'):
            if option not in out:
                raise Failure(f'{option} is not in\n{out}')
        every, _ = run([vmtrace, '--help'])
        if f'vmtrace {name} ' not in every:
            raise Failure(f'vmtrace --help does not list {name}')

    return test
