# SPDX-License-Identifier: Apache-2.0
"""The shell on a terminal, run by build/bin/erl and by a stock erl: the same keys must leave the same text on
the screen."""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import fcntl
import tempfile
import termios
import time

from harness.golden import ENVIRONMENT, stock_release
from harness.results import Failure, Skip, Test

from .suite import PATIENCE_S

COLUMNS, ROWS = 60, 200  # rows enough that nothing scrolls away


class Screen:
    """What a terminal shows: as much of one as line editors need."""

    def __init__(self):
        self.rows, self.row, self.column, self.rest = [[]], 0, 0, ''

    def text(self):
        return '\n'.join(''.join(row).rstrip() for row in self.rows).rstrip('\n')

    def feed(self, text):
        text, self.rest = self.rest + text, ''
        while text:
            if text[0] == '\x1b':
                sequence = re.match(r'\x1b(?:\[([0-9;?]*)([@-~])|[^\[])', text)
                if not sequence:
                    self.rest = text
                    return
                self.control(sequence[2], int(re.sub(r'\D.*', '', sequence[1] or '') or 1))
                text = text[sequence.end() :]
            else:
                self.show(text[0])
                text = text[1:]

    def control(self, command, count):
        if command == 'A':
            self.row -= count
        elif command == 'C':
            self.column += count
        elif command == 'D':
            self.column -= count
        elif command == 'K':
            del self.rows[self.row][self.column :]

    def show(self, character):
        if character == '\r':
            self.column = 0
        elif character == '\n':
            self.row += 1
        elif character == '\b':
            self.column -= 1
        elif character >= ' ':
            if self.column == COLUMNS:
                self.row, self.column = self.row + 1, 0
            self.reach()
            row = self.rows[self.row]
            row.extend(' ' * (self.column + 1 - len(row)))
            row[self.column] = character
            self.column += 1
        self.reach()

    def reach(self):
        while self.row >= len(self.rows):
            self.rows.append([])


class Session:
    """A program on a terminal of its own."""

    def __init__(self, command, folder, environment):
        self.screen = Screen()
        self.program, self.fd = pty.fork()
        if self.program == 0:
            # Before the program begins, which would otherwise see the size change.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', ROWS, COLUMNS, 0, 0))
            os.chdir(folder)
            os.execvpe(command[0], command, environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)
        try:
            os.kill(self.program, signal.SIGKILL)
        except ProcessLookupError:
            return
        os.waitpid(self.program, 0)

    def until(self, shown):
        """Reads until the screen ends with what `shown` matches; None: until the program has ended, whose
        status is returned."""
        end = time.monotonic() + PATIENCE_S
        while shown is None or not re.search(f'(?:{shown})$', self.screen.text()):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise Failure(f'after {PATIENCE_S} s no {shown!r} on the screen:\n{self.screen.text()}')
            try:
                self.screen.feed(os.read(self.fd, 4096).decode(errors='replace'))
            except OSError:  # the other end is closed
                if shown is not None:
                    raise Failure(
                        f'it has ended without {shown!r} on the screen:\n{self.screen.text()}'
                    ) from None
                break
        return os.waitstatus_to_exitcode(os.waitpid(self.program, 0)[1]) if shown is None else None

    def press(self, keys):
        os.write(self.fd, keys if isinstance(keys, bytes) else keys.encode())


LEFT, RIGHT, UP, DOWN, HOME, END = '\x1b[D', '\x1b[C', '\x1b[A', '\x1b[B', '\x01', '\x05'
LONG = 'length("' + 'abcdefghij' * 12 + '").'

# What is typed, and how the screen ends then; None: the program has ended.
SHARED = {  # also the shell of OTP 26 and later: releases/terminal.py
    'expressions': [('1+1.\r', '2\n2>'), ('X = {a, "text"}.\r', '3>'), ('f(X.\r', '3>'), ('q().\r', None)],
    'keys that move and erase': [
        ('12' + LEFT + '+' + END + '0.\r', '21\n2>'),
        ('abd' + LEFT + LEFT + 'x' + RIGHT + '\x7f' + HOME + '"' + END + '".\r', '3>'),
        ('1 + 2' + '\x17' + '5.\r', '6\n4>'),
        ('gone\x15' + 'ok.\r', 'ok\n5>'),
        ('q().\r', None),
    ],
    'the history': [
        ('1+1.\r', '2>'),
        ('2+2.\r', '3>'),
        (UP, r'3> 2\+2\.'),
        (UP, r'3> 1\+1\.'),
        ('\r', '2\n4>'),
        (UP, r'4> 1\+1\.'),
        (DOWN, '4>'),
        ('5.\r', '5\n5>'),
        ('q().\r', None),
    ],
    'lines longer than the terminal is wide': [
        (LONG + '\r', '120\n2>'),
        (UP, r'j"\)\.'),
        (HOME + RIGHT * 8 + 'XY\r', '122\n3>'),
        (LONG + '\x7f' * 70 + '").\r', '4>'),
        ('q().\r', None),
    ],
    'characters beyond ASCII': [
        ('"äöü' + LEFT + 'x' + END + '".\r', '2>'),
        ('[8364].\r', '3>'),
        ('io:format("~ts~n", [[8364, 26085]]).\r', 'ok\n4>'),
        ('q().\r', None),
    ],
    'the shell that ends': [('exit(oops).\r', r'oops\n2>'), ('q().\r', None)],
    'the key that interrupts': [('1.\r', '2>'), ('\x03', r'\(h\)elp|istribution'), ('a\r', None)],
}
CASES = {
    **SHARED,
    'completion': [('lists:revers\t', r'reverse\('), ('[1,2]).\r', r'\[2,1\]\n2>'), ('q().\r', None)],
    'Latin-1': [
        ('io:setopts([{encoding, latin1}]), X = io:get_line("name? ").\r', 'name\\?'),
        (b'\xe5\xe4\r', '2>'),
        ('hd(X).\r', '229\n3>'),
        ('length(X).\r', '3\n4>'),
        ('io:setopts([{encoding, unicode}]).\r', 'ok\n5>'),
        ('q().\r', None),
    ],
    'how large it is': [
        ('{io:columns(), io:rows()}.\r', '2>'),
        ('erlang:port_control(open_port({fd, 1, 1}, [out]), 16#018b0900 + 100, []).\r', r'\]\n3>'),
        ('q().\r', None),
    ],
    'input of a program': [('io:get_line("name? ").\r', 'name\\?'), ('me\r', '2>'), ('q().\r', None)],
    'output while a line is edited': [
        ('spawn(fun() -> receive after 200 -> io:put_chars("output\\n") end end), abcd.\r', '2>'),
        ('x = \n', 'output\n.*'),
        ('x.\r', '3>'),
        ('q().\r', None),
    ],
    'a job of its own': [
        ('X = 1.\r', '2>'),
        ('\x07', 'command\n -->'),
        ('j\r', r'j\n.*\n -->'),
        ('s\r', 's\n -->'),
        ('j\r', r'2\* .*\n -->'),
        ('c\r', '\n1>'),
        ('2+1.\r', '3\n2>'),
        ('\x07', 'command\n -->'),
        ('k 1\r', 'k 1\n -->'),
        ('j\r', r'j\n.*\n -->'),
        ('q\r', None),
    ],
}
# What differs by its nature: numbers of processes, and who is asked.
DIFFERS = [
    (r'<0\.\d+\.\d+>', '<pid>'),
    (r'#Ref<[\d.]+>', '<ref>'),
    (r'^Erlang/OTP.*(\n.*\[.*)*', '<version>'),
    (r'BREAK(.|\n)*', '<menu>'),
]


def seen(command, path, steps, prompt='1>'):
    with tempfile.TemporaryDirectory(prefix='vmrun-terminal-') as folder:
        environment = dict(ENVIRONMENT, PATH=path, HOME=folder, TERM='xterm', LC_ALL='C.UTF-8')
        with Session(command, folder, environment) as session:
            session.until(prompt)
            for keys, shown in steps:
                session.press(keys)
                status = session.until(shown)
            text = session.screen.text()
    for pattern, name in DIFFERS:
        text = re.sub(pattern, name, text)
    return status, text


def agree(bin_folder, steps):
    if not shutil.which('erl'):
        raise Skip('no erl here')
    path = os.environ['PATH']
    compare(seen(['erl'], f'{bin_folder}:{path}', steps), seen(['erl'], path, steps))


def compare(own, stock):
    (status, ours), (stock_status, theirs) = own, stock
    if ours != theirs or status != stock_status:
        raise Failure(f'status {status}, screen:\n{ours}\n--- a stock erl: {stock_status}\n{theirs}')


def modes_are_restored(bin_folder):
    """However it ends, the terminal has the modes it had."""
    for steps in (
        [('q().\r', None)],
        [('halt(3).\r', None)],
        [('halt(0, [{flush, false}]).\r', None)],
        [('\x03', 'istribution.*(\n.*)*'), ('a\r', None)],
    ):
        with tempfile.TemporaryDirectory(prefix='vmrun-terminal-') as folder:
            inner = pathlib.Path(folder) / 'modes'
            shell = f'trap : INT; stty -g > {inner}1; erl; stty -g > {inner}2'
            environment = dict(
                ENVIRONMENT, PATH=f'{bin_folder}:{os.environ["PATH"]}', HOME=folder, TERM='xterm'
            )
            with Session(['sh', '-c', shell], folder, environment) as session:
                session.until('1>')
                for keys, shown in steps:
                    session.press(keys)
                    session.until(shown)
            before, after = (pathlib.Path(f'{inner}{i}').read_text() for i in (1, 2))
            if before != after:
                raise Failure(f'{steps}: {before} is now {after}')


def tests(build):
    bin_folder = pathlib.Path(build).resolve() / 'bin'
    if stock_release() >= 26:  # where prim_tty edits lines
        from releases import terminal

        otp = pathlib.Path(shutil.which('erl')).resolve().parents[1]
        return terminal.tests(pathlib.Path(build) / 'vmrun', otp, ['erl'], suite='command')
    return [
        Test('command', f'terminal: {name}', lambda steps=steps: agree(bin_folder, steps))
        for name, steps in CASES.items()
    ] + [
        Test(
            'command',
            'terminal: the modes of the terminal are restored',
            lambda: modes_are_restored(bin_folder),
        )
    ]
