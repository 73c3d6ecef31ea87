# SPDX-License-Identifier: Apache-2.0
"""The shell of OTP 26 and later on a terminal, and the process `user` on pipes and files: run by vmrun with
that release's library, and by that release's own machine. The same input must leave the same output."""
import os
import pathlib
import re
import signal
import struct
import fcntl
import subprocess
import tempfile
import termios
import time

from command.suite import PATIENCE_S
from command.terminal import DIFFERS, END, LEFT, ROWS, SHARED, UP, Screen, Session, compare
from harness.golden import ENVIRONMENT
from harness.results import Failure, Test

# Races: whether the killed evaluation's shell speaks before the user is back in it, and whether there is one
# more line or prompt before the machine stops, with or without a terminal.
RACES = [
    (r'1> receive after infinity -> ok end\.\n(?=\*\*)', ''),
    (r'(q\(\)\.(?:\nok)?)\n(\d+>)?$', r'\1'),
    (r'(> ok)\n(\d+>(?: \*\*\* Terminating erlang \(.*\))?)?\s*$', r'\1'),
]


class FullScreen(Screen):
    """With what the capabilities of xterm do besides."""

    def control(self, command, count):
        if command == 'J':
            del self.rows[self.row + 1 :]
            del self.rows[self.row][self.column :]
        elif command == 'B':
            self.row += count
        elif command == 'H':
            self.row = self.column = 0
        else:
            super().control(command, count)
        self.reach()


class Shell(Session):
    def __init__(self, command, folder, environment):
        super().__init__(command, folder, environment)
        self.screen = FullScreen()

    def resize(self, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', ROWS, columns, 0, 0))


# What is typed, and how the screen ends then; None: the program has ended; a number: the terminal
# gets so many columns.
CASES = {
    **SHARED,
    'a search in the history': [
        ('lists:seq(1, 3).\r', r'\[1,2,3\]\n2>'),
        ('2+2.\r', '3>'),
        ('\x12seq', r'seq.*'),
        ('\r', r'\[1,2,3\]\n4>'),
        ('q().\r', None),
    ],
    'an expression of several lines': [
        ('lists:map(fun(X) ->\r', r'fun\(X\) ->\n.*'),
        ('X + 1\r', r'X \+ 1\n.*'),
        ('end, [1, 2]).\r', r'\[2,3\]\n2>'),
        (UP, r'end, \[1, 2\]\)\.'),
        ('\r', r'\[2,3\]\n3>'),
        ('q().\r', None),
    ],
    'completion': [
        ('lists:revers\t', r'reverse\((.|\n)*'),
        ('[1,2]).\r', r'\[2,1\]\n2>'),
        ('Variable = 1.\r', '3>'),
        ('Var\t', 'Variable'),
        ('.\r', '1\n4>'),
        ('q().\r', None),
    ],
    'wide characters': [('"日本' + LEFT + 'x' + END + '".\r', '2>'), ('q().\r', None)],
    'how large it is': [('{io:columns(), io:rows()}.\r', '2>'), ('q().\r', None)],
    'it becomes narrower': [
        ('io:columns().\r', r'60\}\n2>'),
        (40, None),
        ('C = fun C({ok, 60}) -> C(io:columns()); C(S) -> S end, C(io:columns()).\r', r'40\}\n3>'),
        ('q().\r', None),
    ],
    'input of a program': [
        ('io:get_line("name? ").\r', 'name\\?'),
        ('me\r', '2>'),
        ('io:read("term? ").\r', 'term\\?'),
        ('{a, [1]}.\r', r'\{ok,\{a,\[1\]\}\}\n3>'),
        ('io:get_chars("two? ", 2).\r', 'two\\?'),
        ('xy\r', r'"xy"(.|\n)*4>.*\n\.\..*'),
        ('q().\r', None),
    ],
    'output while a line is edited': [
        ('spawn(fun() -> receive after 200 -> io:put_chars("output\\n") end end), abcd.\r', '2>'),
        ('x = ', 'output\n2> x ='),
        ('x.\r', '3>'),
        ('q().\r', None),
    ],
    'a job of its own': [
        ('X = 1.\r', '2>'),
        ('\x07', r'help\)\n -->'),
        ('j\r', r'j\n+.*\n -->'),
        ('s\r', r's\n+ -->'),
        ('j\r', r'2\* .*\n -->'),
        ('c\r', r'\n1>'),
        ('2+1.\r', '3\n2>'),
        ('\x07', r'help\)\n -->'),
        ('k 1\r', r'k 1\n+ -->'),
        ('j\r', r'j\n+.*\n -->'),
        ('q\r', None),
    ],
    'an evaluation that is interrupted': [
        ('receive after infinity -> ok end.\r', r'end\.'),
        ('\x07', r'help\)\n -->'),
        ('i\r', r'i\n+(Interrupted .*\n)? -->'),
        ('c\r', r'(killed|interrupted)(.|\n)*2>'),
        ('1.\r', '1\n3>'),
        ('q().\r', None),
    ],
}


# Other terminals and locales: {variable: value} and what is typed there.
LATIN_1 = [('"\xe4".\r', '2>'), ('io:format("~ts~n", [[228, 8364]]).\r', 'ok\n3>'), ('q().\r', None)]
PLAIN = [('1+1.\n', '2\n2>'), ('X = \n', r'X =.*\n(2>| *\.\.)'), ('3.\n', '3\n3>'), ('q().\n', None)]
ELSEWHERE = {
    'a locale without UTF-8': ({'LC_ALL': 'C'}, LATIN_1),
    'a terminal that has no cursor': ({'TERM': 'dumb'}, PLAIN),
    'a terminal that nobody knows': ({'TERM': 'no-such-terminal'}, PLAIN),
    'an old terminal': ({'TERM': 'vt100'}, CASES['keys that move and erase']),
    'another terminal': ({'TERM': 'linux'}, CASES['the history']),
}


def environment(folder, **more):
    return {**ENVIRONMENT, 'HOME': folder, 'TERM': 'xterm', 'LC_ALL': 'C.UTF-8', **more}


def with_variables(command, variables):
    """A command may change what is around a program; so the program gets them last."""
    return [*command[:-1], 'env', *(f'{name}={value}' for name, value in variables.items()), command[-1]]


def on_terminal(command, steps, flags=(), prompt='1>', **more):
    """The status and the screen at the end."""
    command = with_variables(command, {'TERM': 'xterm', **more})
    with tempfile.TemporaryDirectory(prefix='vmrun-terminal-') as folder:
        with Shell([*command, *flags], folder, environment(folder)) as session:
            status = session.until(prompt)
            for keys, shown in steps:
                if isinstance(keys, int):
                    session.resize(keys)
                    continue
                session.press(keys)
                status = session.until(shown)
            text = session.screen.text()
    for pattern, name in DIFFERS + RACES:
        text = re.sub(pattern, name, text)
    return status, text


def off_terminal(command, *flags, shell='"$@"', **redirections):
    """The status and the output of a command whose input is no terminal. `shell` is the command line around
    it."""
    command = ['bash', '-c', shell, 'bash', *command]
    redirections.setdefault('stdin', subprocess.DEVNULL)
    if 'input' in redirections:
        del redirections['stdin']
    with tempfile.TemporaryDirectory(prefix='vmrun-terminal-') as folder:
        done = subprocess.run(
            [*command, *flags],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE_S,
            env=environment(folder),
            **redirections,
        )
    text = done.stdout.decode(errors='replace')
    for pattern, name in DIFFERS + RACES:
        text = re.sub(pattern, name, text)
    return done.returncode, text


NOT_ON_TERMINAL = {
    'a program without a shell': (['-noshell', '-eval', 'io:format("~tp~n", [[8364]]), halt(3).'], None),
    'expressions through a pipe': ([], b'1+1.\nX = 2.\nX + 3.\nio:get_line("").\nline\nq().\n'),
    'the end of the input ends the shell': ([], b'1+1.\n'),
    'an error in the middle': ([], b'hd([]).\n2.\nq().\n'),
    'lines through a pipe': (
        [
            '-noshell',
            '-eval',
            'F = fun F(eof) -> halt(); F(L) -> io:put_chars(["<", L]), F(io:get_line("")) end, '
            'F(io:get_line("")).',
        ],
        'one\ntwo äö\nno newline'.encode(),
    ),
    'bytes that are no UTF-8': (
        [
            '-noshell',
            '-eval',
            'io:setopts([{encoding, latin1}, binary]), io:format("~p~n", [io:get_line("")]), halt().',
        ],
        b'\xe4\xf6\n',
    ),
    'much input': (
        [
            '-noshell',
            '-eval',
            'io:setopts([binary]), F = fun F(eof, N) -> io:format("~p~n", [N]), halt(); '
            'F(B, N) -> F(io:get_chars("", 5000), N + byte_size(B)) end, F(<<>>, 0).',
        ],
        b'0123456789abcdef' * 20000,
    ),
    'much output': (
        [
            '-noshell',
            '-eval',
            'L = [lists:duplicate(99, $x), $\\n], '
            '[io:put_chars(lists:duplicate(200, L)) || _ <- lists:seq(1, 20)], halt().',
        ],
        None,
    ),
    'standard error': (['-noshell', '-eval', 'io:put_chars(standard_error, "said\\n"), halt().'], None),
    'the window of no terminal': (
        [
            '-noshell',
            '-eval',
            'io:format("~p~n", [{io:columns(), io:rows(), lists:sort(io:getopts())}]), halt().',
        ],
        None,
    ),
    'an interactive shell that is started later': (
        ['-noshell', '-eval', 'io:format("~p~n", [shell:start_interactive(noshell)]), halt().'],
        None,
    ),
}

SAYS = ['-noshell', '-eval', 'io:put_chars("said\\n"), io:format("~p~n", [io:get_line("")]), halt(2).']
# Descriptors that are no use, by the command line around the machine.
ODD_DESCRIPTORS = {
    'standard input closed': '"$@" <&-',
    'standard input of a file': 'echo text >file; "$@" <file',
    'standard output closed': '"$@" >&-',
    'standard output of a file': '"$@" >file; cat file',
}

ON_TERMINAL_WITHOUT_SHELL = {
    'lines as the terminal gives them': (
        '-noshell -eval F=fun()->io:get_line("name?")end,io:format("~p~n",[{F(),io:columns()}]),halt().',
        [('me\r', None)],
        r'name\?',
    ),
    'no input': (
        '-noinput -eval io:format("~p~n",[{io:columns(),lists:sort(io:getopts())}]),'
        'receive+after+1000->halt()end.',
        [],
        None,
    ),
}


def same_on_terminal(own, stock, steps, **more):
    compare(on_terminal(own, steps, **more), on_terminal(stock, steps, **more))


def same_off_terminal(own, stock, flags, given):
    redirections = {} if given is None else {'input': given}
    compare(off_terminal(own, *flags, **redirections), off_terminal(stock, *flags, **redirections))


# Output that cannot be written. How much else is reported before the end is a race, there too.
FAILING_OUTPUT = {
    'standard output full': '"$@" >/dev/full',
    'a reader that goes away': '{ "$@"; echo "status $?" >&2; } | true',
}


def same_descriptors(own, stock, shell):
    compare(off_terminal(own, *SAYS, shell=shell), off_terminal(stock, *SAYS, shell=shell))


def same_failure(own, stock, shell):
    def told(command):
        status, text = off_terminal(command, *SAYS, shell=shell)
        return status, '\n'.join(re.findall(r'status \d', text))

    compare(told(own), told(stock))


def goes_on(own):
    """A shell that has been stopped and continued has its modes again, though they were set meanwhile."""
    with tempfile.TemporaryDirectory(prefix='vmrun-terminal-') as folder:
        with Shell(own, folder, environment(folder)) as s:
            found = termios.tcgetattr(s.fd)
            s.until('1>')
            raw = termios.tcgetattr(s.fd)
            os.kill(s.program, signal.SIGSTOP)
            os.waitpid(s.program, os.WUNTRACED)
            termios.tcsetattr(s.fd, termios.TCSANOW, found)
            os.kill(s.program, signal.SIGCONT)
            while termios.tcgetattr(s.fd) != raw:
                time.sleep(0.01)
            s.press('1+1.\r')
            s.until('2\n2>')
            s.press('q().\r')
            s.until(None)
            if termios.tcgetattr(s.fd) != found:
                raise Failure('the modes are not those that were found')


def modes_are_restored(own):
    """However it ends, the terminal has the modes it had."""
    for end in ('q().\r', 'halt(3).\r', 'halt(0, [{flush, false}]).\r', signal.SIGTERM, signal.SIGSEGV):
        with tempfile.TemporaryDirectory(prefix='vmrun-terminal-') as folder:
            # The test has the terminal's other end, so it can ask for the modes at any time.
            keeps = ['bash', '-c', 'exec 3<&0; "$@" <&3 & echo $! >pid; wait $!; echo "status $?"; read line']
            with Shell([*keeps, 'bash', *own], folder, environment(folder, ERL_CRASH_DUMP='/dev/null')) as s:
                before = termios.tcgetattr(s.fd)
                s.until('1>')
                if termios.tcgetattr(s.fd)[3] & termios.ICANON:
                    raise Failure('the shell reads whole lines')
                if isinstance(end, str):
                    s.press(end)
                else:
                    os.kill(int(pathlib.Path(folder, 'pid').read_text()), end)
                s.until(r'status \d+')
                if termios.tcgetattr(s.fd) != before:
                    raise Failure(f'{end!r}: {before} is now {termios.tcgetattr(s.fd)}')


def tests(vmrun, otp_root, stock, suite='releases'):
    """stock: the words of the command that starts the release's own machine."""
    bin_folder = pathlib.Path(vmrun).resolve().parent / 'bin'
    own = ['env', f'VMRUN_OTP={otp_root}', f'{bin_folder}/erl']
    made = [
        (f'terminal: {name}', lambda steps=steps: same_on_terminal(own, stock, steps))
        for name, steps in CASES.items()
    ]
    made += [
        (f'no terminal: {name}', lambda case=case: same_off_terminal(own, stock, *case))
        for name, case in NOT_ON_TERMINAL.items()
    ]
    made += [
        (
            f'terminal without a shell: {name}',
            lambda case=case: same_on_terminal(
                own,
                stock,
                case[1],
                flags=[word.replace('+', ' ') for word in case[0].split(' ')],
                prompt=case[2],
            ),
        )
        for name, case in ON_TERMINAL_WITHOUT_SHELL.items()
    ]
    made += [
        (f'terminal: {name}', lambda case=case: same_on_terminal(own, stock, case[1], **case[0]))
        for name, case in ELSEWHERE.items()
    ]
    made += [
        (f'no terminal: {name}', lambda shell=shell: same_descriptors(own, stock, shell))
        for name, shell in ODD_DESCRIPTORS.items()
    ]
    made += [
        (f'no terminal: {name}', lambda shell=shell: same_failure(own, stock, shell))
        for name, shell in FAILING_OUTPUT.items()
    ]
    made.append(('terminal: its modes are restored', lambda: modes_are_restored(own)))
    made.append(('terminal: it is stopped and goes on', lambda: goes_on(own)))
    return [Test(suite, name, run) for name, run in made]
