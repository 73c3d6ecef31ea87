# SPDX-License-Identifier: Apache-2.0
"""Random programs (generated/programs.py): each is compiled by our compiler and by erlc, what either makes is
run by either machine, and all four print the same. Which functions a stack trace names depends on the
compiler too: such lines begin with "@"."""
import pathlib
import re
import shutil
import subprocess

from harness.golden import run_program
from harness.results import Failure, Skip, Test

from .generated import programs
from .suite import PATIENCE_S, scratch

HERE = pathlib.Path(__file__).with_name('generated')
PROGRAMS, BATCH = 1000, 50


def tests(root, build, vmrun):
    return [
        Test(
            'systems',
            f'random programs {first} to {first + BATCH - 1}',
            lambda first=first: agree(build, vmrun, range(first, first + BATCH)),
        )
        for first in range(0, PROGRAMS, BATCH)
    ]


def texts(out):
    """Returns what each program printed."""
    parts = re.split(r'^== (\w+)\n', out, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def uses_newer(source):
    """vmrunc has these as instructions, as compilers of OTP 26 do, and machines before do not know them."""
    return re.search(r'(?<!:)\b(min|max)\(', source.read_text(encoding='utf-8'))


def without_traces(text):
    return ''.join(line for line in text.splitlines(True) if not line.startswith('@'))


def first_difference(one, other):
    for a, b in zip(one.splitlines() + ['(end)'], other.splitlines() + ['(end)']):
        if a != b:
            return f'{a[:1500]}\n    {b[:1500]}'
    return 'nothing'


def agree(build, vmrun, seeds):
    if not shutil.which('escript'):
        raise Skip('no erl here')
    ours = build / 'runtime/compile/vmrunc'
    with scratch() as scratched:
        folder = pathlib.Path(scratched)
        by_erlc, by_vmrunc = folder / 'erlc', folder / 'vmrunc'
        by_erlc.mkdir(), by_vmrunc.mkdir()
        sources = []
        for seed in seeds:
            module, text = programs.program(seed)
            sources.append(folder / f'{module}.erl')
            sources[-1].write_text(text, encoding='utf-8')
        refused = set(
            run_program(
                [
                    'escript',
                    str(HERE / 'compile.escript'),
                    str(by_erlc),
                    *map(str, [HERE / 'tool.erl', *sources]),
                ],
                '',
                PATIENCE_S,
            )[1].split()
        )
        shutil.copy(by_erlc / 'tool.beam', by_vmrunc)
        wrong = []
        for source in sources:
            done = subprocess.run(
                [str(ours), '-w', '-o', str(by_vmrunc / f'{source.stem}.beam'), str(source)],
                capture_output=True,
                text=True,
            )
            if (done.returncode != 0) != (source.stem in refused):
                wrong.append(
                    f'{source.stem}: erlc {"refuses" if source.stem in refused else "takes"} it, vmrunc '
                    f'does not: {done.stderr[:500]}'
                )
        names = [source.stem for source in sources if source.stem not in refused]
        # With OTP's own system, which has all that differs between releases as this release has it.
        our_erl = str(pathlib.Path(vmrun).resolve().parent / 'bin' / 'erl')
        command = {'vmrun': [our_erl, '-noshell'], 'erl': ['erl', '-noshell']}
        printed = {}
        for machine in command:
            for beams in (by_erlc, by_vmrunc):
                given = [
                    name
                    for name in names
                    if machine != 'erl' or beams != by_vmrunc or not uses_newer(folder / f'{name}.erl')
                ]
                if not given:
                    continue
                _, out, err = run_program(
                    [*command[machine], '-pa', str(beams), '-run', 'tool', 'main', *given], '', PATIENCE_S
                )
                printed[machine, beams.name] = texts(out)
                if len(texts(out)) != len(given) or err:
                    wrong.append(
                        f'compiled by {beams.name}, {machine} ends after {out[-300:]}\n{err[-1500:]}'
                    )
        for name in names:
            for compiler in ('erlc', 'vmrunc'):
                here, there = (printed.get((machine, compiler), {}).get(name) for machine in command)
                if here != there and here and there:
                    wrong.append(
                        f'{name}, compiled by {compiler}: vmrun and erl\n    {first_difference(here, there)}'
                    )
            here, there = (without_traces(printed['vmrun', c].get(name, '')) for c in ('vmrunc', 'erlc'))
            if here != there:
                wrong.append(
                    f'{name} under vmrun, compiled by vmrunc and by erlc\n    {first_difference(here, there)}'
                )
    if wrong:
        raise Failure(
            '\n'.join(wrong[:12])
            + f'\n{len(wrong)} in all; the text of one: python3 test/systems/generated/programs.py SEED'
        )
