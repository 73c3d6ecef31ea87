# SPDX-License-Identifier: Apache-2.0
"""The command line: expressions in place of a script, files of words, parameters of applications, flags that
there are none of."""
import contextlib
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile

from harness.golden import ENVIRONMENT
from harness.results import Failure, Skip, Test

from .suite import PATIENCE_S, Ended

SCRIPT = 'main(A) -> io:format("~p~n", [A]).\n'


def given(vmrun, *words, files=None, stdin='', environment=None):
    """What vmrun makes of these words, in a folder with these files."""
    with tempfile.TemporaryDirectory(prefix='vmrun-line-') as folder:
        for name, text in {'script.act': SCRIPT, **(files or {})}.items():
            (pathlib.Path(folder) / name).write_text(text)
        done = subprocess.run(
            [os.path.abspath(vmrun), *words],
            capture_output=True,
            text=True,
            errors='replace',
            timeout=PATIENCE_S,
            input=stdin,
            cwd=folder,
            env=dict(ENVIRONMENT, **(environment or {})),
        )
        return Ended(done.returncode, done.stdout, done.stderr)


def expressions(vmrun):
    given(vmrun, '-e', 'X = 2, io:format("~p~n", [X * 21])').expect(0, out='42\n', err=['^$'])
    given(vmrun, '-e', 'io:format("a"), ok.', '-e', 'io:format("b~n").').expect(0, out='ab\n')
    given(
        vmrun, '+S', '1', '-e', 'io:format("~p~n", [init:get_plain_arguments()])', 'one', '-two', '--'
    ).expect(0, out='["one","-two","--"]\n')
    given(vmrun, '-e', 'io:format("~p~n", [init:get_plain_arguments()])', '-extra', '-e', 'x').expect(
        0, out='["-e","x"]\n'
    )
    given(vmrun, '-e', 'io:format("~p~n", [io:get_line("")])', stdin='a line\n').expect(
        0, out='"a line\\n"\n'
    )
    given(
        vmrun, '-e', 'F = fun Fac(0) -> 1; Fac(N) -> N * Fac(N - 1) end, io:format("~p~n", [F(25)])'
    ).expect(0, out='15511210043330985984000000\n')
    given(vmrun, '-e', 'spawn(fun() -> receive after infinity -> ok end end)').expect(0, out='')
    given(vmrun, '-e', 'halt(7)').expect(7, out='')
    given(vmrun, '-e', 'error(oops)').expect(1, out='', err=['^vmrun: exception error: oops'])
    given(vmrun, '-e', 'exit(normal)', '-e', 'io:format("not reached")').expect(0, out='')
    for text, told in (
        (
            'f(',
            '-e:1:3: error: unexpected end of the expressions: expected an expression\n   1 | f(\n'
            '     |   ^\n',
        ),
        ('', '-e:1:1: error: unexpected end of the expressions: expected an expression\n'),
        ('A + 1', "-e:1:1: error: variable 'A' is unbound\n   1 | A + 1\n     | ^\n"),
        (
            'X = 1,\nlenght(X)',
            '-e:2:1: error: function lenght/1 undefined, did you mean length/1?\n   2 | lenght(X)\n'
            '     | ^^^^^^\n',
        ),
        (
            'io:put_chars("a',
            '-e:1:14: error: unterminated string\n   1 | io:put_chars("a\n     |              ^^\n',
        ),
        (
            '1 & 2',
            "-e:1:3: error: illegal character '&': and is 'andalso', of bits 'band'\n   1 | 1 & 2\n"
            "     |   ^\n",
        ),
        (
            'ok. ok.',
            "-e:1:5: error: expected the end: expressions are separated by ','\n   1 | ok. ok.\n"
            "     |     ^^\n",
        ),
    ):
        given(vmrun, '-e', text).expect(1, out='', err=[f'^{re.escape(told)}$'])
    # Nothing is evaluated where one of several is wrong; all that are wrong are told.
    wrong = given(vmrun, '-e', 'io:format("a")', '-e', 'b(', '-e', 'c)')
    wrong.expect(1, out='', err=['^-e:1:3: error', r"\n-e:1:2: error: syntax error before '\)'"])
    given(vmrun, '-noinput', '-eval', 'f(').expect(
        1, out='', err=['^-eval:1:3: error: unexpected end of the expressions']
    )
    given(
        vmrun, '-noinput', '-eval', 'io:format("a")', '-eval', 'io:format("b")', '-s', 'init', 'stop'
    ).expect(0, out='ab')
    given(vmrun, '-e').expect(2, err=['^vmrun: flag -e needs a value: -e EXPRESSIONS'])
    given(vmrun, '-e', 'ok', '-s', 'm').expect(2, err=['^vmrun: flag -e goes without -s'])
    given(vmrun, '-S', '-e', 'ok').expect(2, err=['^vmrun: flag -e is for running only'])


def on_terminal(vmrun, text, **environment):
    """What the compiler tells of a program on a terminal: with the terminal's sequences."""
    with tempfile.TemporaryDirectory(prefix='vmrun-line-') as folder:
        (pathlib.Path(folder) / 'p.act').write_text(text)
        controller, terminal = pty.openpty()
        variables = {
            k: v for k, v in {**ENVIRONMENT, 'TERM': 'xterm', **environment}.items() if v is not None
        }
        with subprocess.Popen(
            [os.path.abspath(vmrun), 'p.act'],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=terminal,
            cwd=folder,
            env=variables,
        ) as program:
            os.close(terminal)
            told = b''
            with contextlib.suppress(OSError):  # how a terminal ends
                while data := os.read(controller, 65536):
                    told += data
            program.wait(PATIENCE_S)
        os.close(controller)
        return told.decode().replace('\r\n', '\n')


def colours(vmrun):
    """Messages of the compiler have colours on a terminal that has some, unless they are not wanted."""
    text = 'main() ->\n    X = 1,\n    nope().\n'
    plain = (
        "p.act:2:5: warning: variable 'X' is unused\n   2 |     X = 1,\n     |     ^\n"
        "p.act:3:5: error: function nope/0 undefined\n   3 |     nope().\n     |     ^^^^\n"
    )
    place, warning, error, margin, caret, off = (
        '\x1b[1m',
        '\x1b[1;35m',
        '\x1b[1;31m',
        '\x1b[1;34m',
        '\x1b[1;32m',
        '\x1b[0m',
    )
    coloured = (
        f"{place}p.act:2:5:{off} {warning}warning:{off} {place}variable 'X' is unused{off}\n"
        f"{margin}   2 | {off}    X = 1,\n{margin}     | {off}    {caret}^{off}\n"
        f'{place}p.act:3:5:{off} {error}error:{off} {place}function nope/0 undefined{off}\n'
        f'{margin}   3 | {off}    nope().\n{margin}     | {off}    {caret}^^^^{off}\n'
    )
    for told, wanted in (
        (on_terminal(vmrun, text), coloured),
        (on_terminal(vmrun, text, NO_COLOR=''), coloured),
        (on_terminal(vmrun, text, NO_COLOR='1'), plain),
        (on_terminal(vmrun, text, TERM='dumb'), plain),
        (on_terminal(vmrun, text, TERM=None), plain),
        (given(vmrun, 'p.act', files={'p.act': text}, environment={'TERM': 'xterm'}).err, plain),
    ):
        if told != wanted:
            raise Failure(f'told {told!r}, not {wanted!r}')


def zones(vmrun):
    """Local times that are said to be of summer time are so where there is such a time: as in OTP 29."""
    asked = (
        'io:format("~w~n", [[element(1, element(2, erlang:localtime_to_universaltime({{2023, M, 15}, {12, '
        '0, 0}}, S))) || '
        'M <- [1, 7], S <- [true, false, undefined]]])'
    )
    for zone, hours in {
        'UTC': '[12,12,12,12,12,12]',
        'XYZ-3': '[9,9,9,9,9,9]',
        'XYZ-1XYS,M3.5.0,M10.5.0/3': '[10,11,11,10,11,10]',
    }.items():
        given(vmrun, '-e', asked, environment={'TZ': zone}).expect(0, out=f'{hours}\n')


def args_files(vmrun):
    files = {
        'one': '+S 1 # a comment\n-args_file two\n',
        'two': "-D 'X=7' script.act 'two words' three\\ four \"-args_file\"\n",
        'itself': '-args_file itself\n',
        'eval': '-eval "io:format(\\"~p~n\\", [init:get_plain_arguments()]), halt()." -extra a b\n',
    }
    given(vmrun, '-args_file', 'one', 'last', files=files).expect(
        0, out='["two words","three four","-args_file","last"]\n'
    )
    given(vmrun, 'script.act', '-args_file', 'one', files=files).expect(0, out='["-args_file","one"]\n')
    given(vmrun, '-noinput', '-args_file', 'eval', files=files).expect(0, out='["a","b"]\n')
    given(vmrun, '-args_file', 'itself', files=files).expect(
        2, err=['^vmrun: -args_file itself: files name each other without an end']
    )
    given(vmrun, '-args_file', 'absent').expect(2, err=["^vmrun: -args_file: cannot read 'absent'"])
    given(vmrun, '-args_file').expect(2, err=['^vmrun: flag -args_file needs a file'])


def configurations(vmrun):
    if not shutil.which('erl'):
        raise Skip('no erl here')
    files = {
        'sys.config': '[{kernel, [{own, [1, "two"]}]}, {stdlib, [{other, x}]}, "./more"].\n',
        'more.config': '[{kernel, [{third, 3}]}].\n',
        'asks.erl': '-module(asks).\n-export([main/0]).\n'
        'main() -> io:format("~p~n", [[application:get_env(kernel, K) || K <- [own, third, absent]]]).\n',
        'broken.config': '[{kernel.\n',
    }
    asked = '[{ok,[1,"two"]},{ok,3},undefined]\n'
    given(vmrun, '-config', 'sys', 'asks.erl', files=files).expect(0, out=asked)
    given(vmrun, '-config', 'sys.config', '-e', 'asks:main()', files=files).expect(0, out=asked)
    given(
        vmrun, '-noinput', '-config', 'sys', '-s', 'asks', 'main', '-s', 'init', 'stop', files=files
    ).expect(0, out=asked)
    given(vmrun, '-config', 'absent', 'asks.erl', files=files).expect(
        2, out='', err=["^vmrun: -config: cannot read 'absent.config'"]
    )
    given(vmrun, '-config', 'broken', 'asks.erl', files=files).expect(1, out='', err=['broken.config'])


def unknown_flags(vmrun):
    for flag, hint in (
        ('-evla', "did you mean '-eval'"),
        ('--pa', "did you mean '-pa'"),
        ('+SDpcu', "did you mean '\\+SDcpu'"),
        ('-snam', "did you mean '-sname'"),
        ('-confg', "did you mean '-config'"),
        ('--halp', "did you mean '--help'"),
        ('-boot', "OTP's own system knows it"),
        ('-heart', "OTP's own system knows it"),
        ('--verbose', 'what is for the program stands behind its name'),
    ):
        given(vmrun, flag, 'script.act').expect(
            2,
            out='',
            err=[f"^vmrun: unknown flag '{flag.replace('+', chr(92) + '+')}'; {hint}", "Try 'vmrun --help'"],
        )


def tests(vmrun):
    return [
        Test('command', f'command line: {name}', lambda case=case: case(vmrun))
        for name, case in [
            ('expressions', expressions),
            ('colours', colours),
            ('files of words', args_files),
            ('configurations', configurations),
            ('unknown flags', unknown_flags),
            ('time zones', zones),
        ]
    ]
