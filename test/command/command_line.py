"""The command line: expressions in place of a script, files of words, parameters of applications, flags that there are none of."""
import os
import pathlib
import shutil
import subprocess
import tempfile

from harness.golden import ENVIRONMENT
from harness.results import Skip, Test

from .suite import PATIENCE_S, Ended

SCRIPT = 'main(A) -> io:format("~p~n", [A]).\n'


def given(vmrun, *words, files=None, stdin='', environment=None):
    """What vmrun makes of these words, in a folder with these files."""
    with tempfile.TemporaryDirectory(prefix='vmrun-line-') as folder:
        for name, text in {'script.act': SCRIPT, **(files or {})}.items():
            (pathlib.Path(folder) / name).write_text(text)
        done = subprocess.run([os.path.abspath(vmrun), *words], capture_output=True, text=True, errors='replace', timeout=PATIENCE_S, input=stdin,
                              cwd=folder, env=dict(ENVIRONMENT, **(environment or {})))
        return Ended(done.returncode, done.stdout, done.stderr)


def expressions(vmrun):
    given(vmrun, '-e', 'X = 2, io:format("~p~n", [X * 21])').expect(0, out='42\n', err=['^$'])
    given(vmrun, '-e', 'io:format("a"), ok.', '-e', 'io:format("b~n").').expect(0, out='ab\n')
    given(vmrun, '+S', '1', '-e', 'io:format("~p~n", [init:get_plain_arguments()])', 'one', '-two', '--').expect(0, out='["one","-two","--"]\n')
    given(vmrun, '-e', 'io:format("~p~n", [init:get_plain_arguments()])', '-extra', '-e', 'x').expect(0, out='["-e","x"]\n')
    given(vmrun, '-e', 'io:format("~p~n", [io:get_line("")])', stdin='a line\n').expect(0, out='"a line\\n"\n')
    given(vmrun, '-e', 'F = fun Fac(0) -> 1; Fac(N) -> N * Fac(N - 1) end, io:format("~p~n", [F(25)])').expect(0, out='15511210043330985984000000\n')
    given(vmrun, '-e', 'spawn(fun() -> receive after infinity -> ok end end)').expect(0, out='')
    given(vmrun, '-e', 'halt(7)').expect(7, out='')
    given(vmrun, '-e', 'error(oops)').expect(1, out='', err=['^vmrun: exception error: oops'])
    given(vmrun, '-e', 'exit(normal)', '-e', 'io:format("not reached")').expect(0, out='')
    given(vmrun, '-e', 'f(').expect(1, out='', err=['^vmrun: exception exit: "syntax error before'])
    given(vmrun, '-e').expect(2, err=['^vmrun: flag -e needs a value: -e EXPRESSIONS'])
    given(vmrun, '-e', 'ok', '-s', 'm').expect(2, err=['^vmrun: flag -e goes without -s'])
    given(vmrun, '-S', '-e', 'ok').expect(2, err=['^vmrun: flag -e is for running only'])


def args_files(vmrun):
    files = {'one': '+S 1 # a comment\n-args_file two\n', 'two': "-D 'X=7' script.act 'two words' three\\ four \"-args_file\"\n", 'itself': '-args_file itself\n',
             'eval': '-eval "io:format(\\"~p~n\\", [init:get_plain_arguments()]), halt()." -extra a b\n'}
    given(vmrun, '-args_file', 'one', 'last', files=files).expect(0, out='["two words","three four","-args_file","last"]\n')
    given(vmrun, 'script.act', '-args_file', 'one', files=files).expect(0, out='["-args_file","one"]\n')
    given(vmrun, '-noinput', '-args_file', 'eval', files=files).expect(0, out='["a","b"]\n')
    given(vmrun, '-args_file', 'itself', files=files).expect(2, err=['^vmrun: -args_file itself: files name each other without an end'])
    given(vmrun, '-args_file', 'absent').expect(2, err=["^vmrun: -args_file: cannot read 'absent'"])
    given(vmrun, '-args_file').expect(2, err=['^vmrun: flag -args_file needs a file'])


def configurations(vmrun):
    if not shutil.which('erl'):
        raise Skip('no erl here')
    files = {'sys.config': '[{kernel, [{own, [1, "two"]}]}, {stdlib, [{other, x}]}, "./more"].\n', 'more.config': '[{kernel, [{third, 3}]}].\n',
             'asks.erl': '-module(asks).\n-export([main/0]).\nmain() -> io:format("~p~n", [[application:get_env(kernel, K) || K <- [own, third, absent]]]).\n', 'broken.config': '[{kernel.\n'}
    asked = '[{ok,[1,"two"]},{ok,3},undefined]\n'
    given(vmrun, '-config', 'sys', 'asks.erl', files=files).expect(0, out=asked)
    given(vmrun, '-config', 'sys.config', '-e', 'asks:main()', files=files).expect(0, out=asked)
    given(vmrun, '-noinput', '-config', 'sys', '-s', 'asks', 'main', '-s', 'init', 'stop', files=files).expect(0, out=asked)
    given(vmrun, '-config', 'absent', 'asks.erl', files=files).expect(2, out='', err=["^vmrun: -config: cannot read 'absent.config'"])
    given(vmrun, '-config', 'broken', 'asks.erl', files=files).expect(1, out='', err=['broken.config'])


def unknown_flags(vmrun):
    for flag, hint in (('-evla', "did you mean '-eval'"), ('--pa', "did you mean '-pa'"), ('+SDpcu', "did you mean '\\+SDcpu'"), ('-snam', "did you mean '-sname'"), ('-confg', "did you mean '-config'"),
                       ('--halp', "did you mean '--help'"), ('-boot', "OTP's own system knows it"), ('-heart', "OTP's own system knows it"), ('--verbose', 'what is for the program stands behind its name')):
        given(vmrun, flag, 'script.act').expect(2, out='', err=[f"^vmrun: unknown flag '{flag.replace('+', chr(92) + '+')}'; {hint}", "Try 'vmrun --help'"])


def tests(vmrun):
    return [Test('command', f'command line: {name}', lambda case=case: case(vmrun)) for name, case in [
        ('expressions', expressions), ('files of words', args_files), ('configurations', configurations), ('unknown flags', unknown_flags)]]
