# SPDX-License-Identifier: Apache-2.0
"""vmrunc: the modules that it writes for a release of OTP load there, in the machine of that release too."""
import os
import pathlib
import shutil
import subprocess
import tempfile

from harness.golden import ENVIRONMENT
from harness.results import Failure, Skip, Test

from .suite import PATIENCE_S

# A module whose patterns end in whole units of all sizes, and what main/0 prints.
UNITS = '''
-export([main/0]).
main() -> io:format("~p~n", [[[F(B) || B <- [<<>>, <<1>>, <<1:3>>, <<1, 2, 3:4>>, <<0:48>>]]
                              || F <- [fun sum/1, fun last/1, fun nibbles/1, fun bits/1, fun words/1]]]).
sum(<<A, T/binary>>) -> A + sum(T);
sum(<<>>) -> 0;
sum(_) -> 0.5.
last(<<B/binary>>) -> {binary, B};
last(<<B/bitstring>>) -> {bits, B};
last(_) -> none.
nibbles(<<T/binary-unit:4>>) -> bit_size(T);
nibbles(_) -> no.
bits(<<_:3, T/bits>>) -> T;
bits(T) -> [T].
words(<<_:16, _/binary-unit:16>>) -> yes;
words(_) -> no.
'''
# A module of few instructions, all of which OTP has had for long, and with a fun that is never made.
FEW = '''
-export([main/0]).
main() -> F = fun(X) -> [X, $\\n] end, io:put_chars(F("few")).
'''
PRINTED = '''[[0,1,0.5,0.5,0],
 [{binary,<<>>},
  {binary,<<1>>},
  {bits,<<1:3>>},
  {bits,<<1,2,3:4>>},
  {binary,<<0,0,0,0,0,0>>}],
 [0,8,no,20,48],
 [[<<>>],<<1:5>>,<<>>,<<8,17,1:1>>,<<0,0,0,0,0,0:5>>],
 [no,no,no,no,yes]]
'''


def run(command, folder):
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_S, cwd=folder, env=ENVIRONMENT
    )
    if done.returncode:
        raise Failure(f'{command}: status {done.returncode}\n{done.stdout}{done.stderr}')
    return done.stdout


def loads_in(build, machine, flags):
    """machine: the command before what names the module's folder."""
    if not shutil.which(machine[0]):
        raise Skip(f'no {machine[0]} here')
    with tempfile.TemporaryDirectory(prefix='vmrun-compiler-') as folder:
        for name, text in {'units': UNITS, 'few': FEW}.items():
            pathlib.Path(folder, f'{name}.erl').write_text(f'-module({name}).{text}', encoding='utf-8')
            run([os.path.abspath(build / 'runtime/compile/vmrunc'), *flags, f'{name}.erl'], folder)
        disassembled = '{beam_file, _, _, _, _, _} = beam_disasm:file("units.beam"), ' if not flags else ''
        printed = run(
            [*machine, '-pa', folder, '-eval', f'units:main(), few:main(), {disassembled}halt().'], folder
        )
        if printed != PRINTED + 'few\n':
            raise Failure(f'printed {printed}')


def tests(build, vmrun):
    ours, stock = [os.path.abspath(vmrun), '-noinput'], ['erl', '-noshell']
    return [
        Test('command', f'vmrunc: {name}', lambda words=words: loads_in(build, *words))
        for name, words in {
            'a module for the installed release, in a stock erl': (stock, []),
            'a module for the installed release': (ours, []),
            'a module for OTP 25': (ours, ['-r', '25']),
            'a module for OTP 29': (ours, ['-r29']),
        }.items()
    ]
