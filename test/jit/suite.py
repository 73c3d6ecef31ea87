# SPDX-License-Identifier: Apache-2.0
"""Random programs (programs.py), compiled by erlc, with their functions compiled to machine code in each way:
they print what a stock erl prints, and name the same functions and lines in stack traces."""
import os
import pathlib
import re
import shutil
import tempfile

from harness.golden import MODES, NoEnd, mode_flags, run_program
from harness.results import Failure, Skip, Test
from harness.sanitizers import need_machine_code

from . import programs

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE_S = 120
QUICK, ALL, BATCH = 400, 10000, 100
# Where erlc writes no line, because it is the one before or because an exception is certain, a stock erl of
# native code names other lines than we do; before OTP 27 it negates 0.0 to 0.0 where the type is known. In
# so many programs at most.
STOCK_DIFFERS = 0.04
# With OTP's own system, which has all that differs between releases as a stock erl of this release has it.
INTERPRETED = ['+jit', 'none', '+hot', '0']
COMPILED = [['+jit', 'all'], ['+jit', 'hot', '+hot', '1']]
# As scripts, in modes of golden scripts: every so manieth batch, for they are slow.
STRESS = {'gc-stress': 10, 'slice': 4, 'random': 4}


def tests(vmrun):
    return [batch('jit', first, vmrun) for first in range(0, QUICK, BATCH)]


def slow_tests(vmrun, seed):
    """Each day has others."""
    return [batch('slow', first, vmrun) for first in range(seed * ALL, (seed + 1) * ALL, BATCH)]


def batch(suite, first, vmrun):
    return Test(
        suite,
        f'functions of random programs {first} to {first + BATCH - 1}',
        lambda: agree(vmrun, range(first, first + BATCH)),
    )


class Programs:
    """Programs in a folder, by name."""

    def __init__(self, folder, sources):
        self.folder, self.sources = pathlib.Path(folder), sources
        for name, text in sources.items():
            (self.folder / f'{name}.erl').write_text(text, encoding='utf-8')
        files = [str(HERE / 'cases.erl'), *(str(self.folder / f'{name}.erl') for name in sources)]
        _, out, err = run_program(
            ['escript', str(HERE / 'compile.escript'), str(folder), *files], '', PATIENCE_S
        )
        if err:
            raise Failure(err)
        self.refused = {line.split()[0]: line for line in out.splitlines()}
        self.names = [name for name in sources if name not in self.refused]

    def differences(self, wanted, printed, flags):
        """Texts, and the programs."""
        return [
            (f'{name} {" ".join(flags)}\n    {first_difference(wanted[name], printed[name])}', name)
            for name in self.names
            if printed[name] != wanted[name]
        ]

    def run(self, command, patience_s=PATIENCE_S):
        """What each prints. A program that ends the machine has how in place of it; the others run on."""
        printed, left = {}, list(self.names)
        while left:
            try:
                status, out, err = run_program(
                    [*command, '-pa', str(self.folder), '-run', 'cases', 'main', *left],
                    '',
                    patience_s,
                    cwd=self.folder,
                )
                why = f'ended with status {status}: {err[-600:]}'
            except NoEnd as late:
                out, why = late.out, 'no end'
            complete = dict(re.findall(r'^== (\w+)\n(.*?)^==$', out, re.M | re.S))
            printed |= complete
            left = [name for name in left if name not in complete]
            if left:
                printed[left.pop(0)] = why
        return printed


def system(program, flags=()):
    return [program, '-noshell', '+S', '1', *flags]


def script(vmrun, flags):
    return [os.path.abspath(vmrun), *flags, '-noinput']


def agree(vmrun, seeds):
    if not shutil.which('escript'):
        raise Skip('no erl here')
    need_machine_code(vmrun)
    our_erl = str(pathlib.Path(vmrun).resolve().parent / 'bin' / 'erl')
    with tempfile.TemporaryDirectory(prefix='vmrun-jit-') as folder:
        made = Programs(folder, dict(programs.program(number) for number in seeds))
        wanted = made.run(system('erl'))
        # A stock erl refuses some, and ends with a few.
        made.names = [name for name in made.names if not is_end(wanted[name])]
        if len(made.names) < 0.9 * len(seeds):
            raise Failure(f'{[*made.refused.values(), *filter(is_end, wanted.values())]}'[:3000])
        interpreted = made.run(system(our_erl, INTERPRETED))
        wrong = made.differences(wanted, interpreted, INTERPRETED)
        if len(wrong) <= STOCK_DIFFERS * len(made.names):
            wrong = [text for text, at in wrong if not differs_as_known(wanted[at], interpreted[at])]
        else:
            wrong = [text for text, _ in wrong]
        for flags in COMPILED:
            printed = made.run(system(our_erl, flags))
            wrong += [text for text, _ in made.differences(interpreted, printed, flags)]
        modes = [mode for mode, often in STRESS.items() if seeds[0] // BATCH % often == 0]
        if modes:
            interpreted = made.run(script(vmrun, INTERPRETED))
        for mode in modes:
            flags = [*mode_flags(mode, seeds[0]), '+jit', 'all']
            printed = made.run(script(vmrun, flags), PATIENCE_S * MODES[mode][1])
            wrong += [text for text, _ in made.differences(interpreted, printed, flags)]
    if wrong:
        raise Failure(
            '\n'.join(wrong[:10])
            + f'\n{len(wrong)} in all; the text of one: python3 test/jit/programs.py SEED; '
            'a smaller one: python3 test/jit/reduce.py VMRUN SEED FLAG...'
        )


def differs_as_known(one, other):
    """Whether texts are the same but for lines of functions in stack traces, {f0,2,LINE}, and signs of
    zeros."""

    def without(text):
        return re.sub(r',\d+}', '}', re.sub(r'-0\.0(?!\d)', '0.0', text))

    return without(one) == without(other)


def is_end(text):
    return text == 'no end' or text.startswith('ended with status')


def first_difference(one, other):
    before = ''
    for a, b in zip(one.splitlines() + ['(end)'], other.splitlines() + ['(end)']):
        if a != b:
            return f'{before[:200]}\n    {a[:1000]}\n    {b[:1000]}'
        before = a
    return 'nothing'
