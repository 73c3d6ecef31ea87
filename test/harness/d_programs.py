# SPDX-License-Identifier: Apache-2.0
"""D programs under vmtrace, with what they print.

A program is one .d file below test/d. What it must print stands in comments of its own:

  /* expect: TEXT */        a line of standard output; all of them, in order, are the whole output; blanks at
  ends of
                            lines and empty lines at the end do not count
  /* expect-err: TEXT */    part of a line of standard error; in order
  /* status: N */           exit status (default 0)
  /* flags: ... */          flags of vmtrace, split as a shell would; with -n in them the file itself is not
  run
  /* args: ... */           arguments: $1 and on
  /* target: NAME.act */    run under trace with -c: a script of the same folder; {vmrun} in flags is the
  machine
  /* attach: NAME.act */    the same with -p: the script runs until the program ends
  /* interrupt: TEXT */     SIGINT when TEXT has been printed
  /* stdin: TEXT */         a line of standard input
  /* requires: WHAT */      not run, with that as the reason

A file named err.TAG.NAME.d must be refused with that tag.
"""
import re
import shlex
import signal
import subprocess

from .golden import ENVIRONMENT, run_program
from .results import Failure, Skip, Test
from .sanitizers import need_signals_at_once
from .script import Expectations

DIRECTIVE = re.compile(
    r'/\* ?(expect-err|expect|status|flags|args|target|attach|interrupt|stdin|requires):(?: (.*?))? ?\*/'
)


class Program(Expectations):
    def __init__(self, path, root):
        super().__init__()
        self.path, self.name = path, str(path.relative_to(root).with_suffix(''))
        self.target, self.attach, self.interrupt, self.skip = None, None, None, None
        for number, line in enumerate(path.read_text().split('\n'), 1):
            for word, value in DIRECTIVE.findall(line):
                self.directive(number, word, value.rstrip())
        while self.output and not self.output[-1][1]:
            self.output.pop()
        tag = re.match(r'err\.(D_\w+)\.', path.name)
        if tag:
            self.flags, self.status = ['-xerrtags', *self.flags], 1
            self.errors.append((1, f'[{tag[1]}]'))

    def directive(self, number, word, value):
        super().directive(number, word, value)
        if word == 'target':
            self.target = self.path.parent / value
        elif word == 'attach':
            self.attach = self.path.parent / value
        elif word == 'interrupt':
            self.interrupt = value
        elif word == 'requires':
            self.skip = value

    def command(self, vmtrace, vmrun, pid=None):
        words = [vmtrace, *[flag.replace('{vmrun}', str(vmrun)) for flag in self.flags]]
        if self.target:
            words += ['-c', f'{vmrun} {self.target}']
        if pid:
            words += ['-p', str(pid)]
        if not {'-n', '-l', '--help'} & set(self.flags):
            words += ['-s', str(self.path)]
        return words + self.arguments


def tests(root, build, vmrun):
    folder = root / 'test/d'
    return [
        *[test(Program(path, folder), build / 'vmtrace', vmrun) for path in sorted(folder.rglob('*.d'))],
        *[
            shipped(path, build / 'vmtrace', vmrun, folder / 'target/everything.act')
            for path in sorted((root / 'scripts/d').glob('*.d'))
        ],
    ]


def shipped(path, vmtrace, vmrun, target):
    """A shipped script, unchanged, from a machine's first instruction to its end."""

    def run():
        command = [str(vmtrace), '-c', f'{vmrun} {target}', '-s', str(path)]
        status, out, err = run_program(command, '', 30)
        if status != 0 or err.strip() or not out.strip():
            raise Failure(
                f'status {status}, standard error:\n{err}output:\n{out[:500]}\ncommand: {shlex.join(command)}'
            )

    return Test('d', f'scripts/d/{path.name}', run)


def run_interrupted(command, text):
    """Sends SIGINT once the text has come."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    out = b''
    for line in process.stdout:
        out += line
        if text in line.decode():
            process.send_signal(signal.SIGINT)
            break
    rest, err = process.communicate(timeout=30)
    return process.returncode, (out + rest).decode(), err.decode()


def test(program, vmtrace, vmrun):
    def run():
        if program.skip:
            raise Skip(program.skip)
        if program.attach:
            need_signals_at_once(vmrun)
        attached = (
            subprocess.Popen([vmrun, program.attach], stdout=subprocess.PIPE, env=ENVIRONMENT)
            if program.attach
            else None
        )
        try:
            if attached:
                attached.stdout.readline()  # the program runs
            command = program.command(str(vmtrace), vmrun, attached and attached.pid)
            if program.interrupt:
                status, out, err = run_interrupted(command, program.interrupt)
            else:
                status, out, err = run_program(command, program.stdin, 30)
        finally:
            if attached:
                attached.kill()
                attached.communicate()
        difference = program.differences(status, out.rstrip('\n') + '\n' if out.strip('\n') else '', err)
        if difference:
            raise Failure(f'{difference}\ncommand: {shlex.join(command)}')

    return Test('d', program.name, run)
