"""The ready-made views of vmtrace, each on a program that misbehaves in its way: what is wrong must stand in the first row. And
each view's script by itself, as --show-script prints it."""
import re
import shlex
import subprocess

from .golden import ENVIRONMENT, run_program
from .results import Failure, Test

LIMIT = 60

# view, options, program below docs/examples, the first row's pattern
FOUND = [
    ('top', '-d 2s -i 0 -k QUEUE', 'mailbox.act', r'logger_disk$'),
]


def tests(root, build, vmrun):
    vmtrace = build / 'vmtrace'
    names = re.findall(r'^view (\w+)', (root / 'probes/views/views.tab').read_text(), re.M)
    target = root / 'test/d/target/everything.act'
    return [*[Test('d', f'view {view} of {program}', finds(vmtrace, vmrun, view, options, root / 'docs/examples' / program, pattern))
              for view, options, program, pattern in FOUND],
            *[Test('d', f'view {name}: its script by itself', script_alone(vmtrace, vmrun, name, target)) for name in names],
            *[Test('d', f'view {name}: its help names its options', helps(vmtrace, name)) for name in names]]


def run(words, limit=LIMIT):
    status, out, err = run_program([str(word) for word in words], '', limit)
    if status != 0:
        raise Failure(f'status {status}, standard error:\n{err}output:\n{out[:2000]}\ncommand: {shlex.join(map(str, words))}')
    return out, err


def finds(vmtrace, vmrun, view, options, program, pattern):
    def test():
        out, _ = run([vmtrace, view, *options.split(), '-c', f'{vmrun} {program}'])
        rows = out.splitlines()[2:]  # title, headings
        if not rows or not re.search(pattern, rows[0]):
            raise Failure(f'the first row is not of {pattern}:\n{out}')
    return test


def script_alone(vmtrace, vmrun, name, target):
    def test():
        script, _ = run([vmtrace, name, '--show-script'])
        done = subprocess.run([vmtrace, '-s', '/dev/stdin', '-c', f'{vmrun} {target}'], input=script, env=ENVIRONMENT, capture_output=True,
                              text=True, timeout=LIMIT)
        if done.returncode or 'vmtrace:' in done.stderr:
            raise Failure(f'status {done.returncode}\n{done.stderr}{done.stdout[:2000]}\n{script}')
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
