# SPDX-License-Identifier: Apache-2.0
"""Guards on instructions: each program of operations/ does one thing again and again under callgrind, and
what once takes is compared with counts.tab. A message that takes two percent more fails, and the function
that grew is named; so does one that asks one probe more. Time plays no part, so neither does what else the
machine has to do."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading

from harness import callgrind
from harness.native import compile_library
from harness.results import Failure, Skip, Test

from . import home, probe_tests, table

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / 'counts.tab'
MOST_GROWTH = 0.02
WITH_CODE = '+hot'  # what an operation's name ends in that is counted with machine code
HOT = ('binary_words', 'call_fun', 'call_local', 'list_elements', 'map_update', 'messages', 'operators')
MOST_SHOWN = 8  # functions that grew
MARK = 'bif_os_getpid_0'  # the function in vmrun that is called where counting.erl makes a mark
# The C library takes other instructions for copying on other processors: those that all have.
TUNABLES = 'glibc.cpu.hwcaps=' + ','.join(
    '-' + feature
    for feature in (
        'AVX512F',
        'AVX512VL',
        'AVX512BW',
        'AVX2',
        'AVX',
        'ERMS',
        'FSRM',
        'BMI1',
        'BMI2',
        'LZCNT',
        'MOVBE',
        'RTM',
        'SSSE3',
        'SSE4_1',
        'SSE4_2',
    )
)


class Counter:
    """Counts with one vmrun. What all operations need is made when the first one needs it."""

    def __init__(self, root, build, vmrun, folder):
        self.root, self.build, self.vmrun, self.folder = (
            root,
            build,
            pathlib.Path(vmrun).resolve(),
            pathlib.Path(folder) / 'guard',
        )
        self.lock, self.ready, self.reason, self.tests = threading.Lock(), False, None, frozenset()

    def prepare(self):
        """Skips where counts cannot be compared."""
        with self.lock:
            if not self.ready:
                self.reason = home.difference(self.vmrun)
                if not self.reason:
                    self.folder.mkdir()
                    self.tests = probe_tests.addresses(self.vmrun)
                self.ready = True
        if self.reason:
            raise Skip(self.reason)

    def library(self, source, flags, folder):
        compile_library(self.root / 'vm/include', source, folder / (source.stem + '.so'), *flags)

    def count(self, operation, flags=()):
        """What once takes, and the file with all that callgrind found. flags: for the compiler of native
        code."""
        self.prepare()
        folder = pathlib.Path(tempfile.mkdtemp(prefix=operation, dir=self.folder))
        source, hot = source_of(operation), operation.endswith(WITH_CODE)
        for name in re.findall(r'^%% native: (\S+)', source.read_text(), re.M):
            self.library(self.root / name, flags, folder)
        out = folder / 'callgrind.out'
        command = callgrind.command(
            out,
            [
                self.vmrun,
                '+S',
                '1',
                '+A',
                '0',
                '+hot',
                '1' if hot else '0',
                '+return-after',
                '0',
                '-pa',
                HERE,
                source,
            ],
            f'--dump-before=*{MARK}*',
        )
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            cwd=folder,
            env={
                'PATH': os.environ['PATH'],
                'LC_ALL': 'C.UTF-8',
                'NATIVE_DIR': str(folder),
                'GLIBC_TUNABLES': TUNABLES,
            },
        )
        if done.returncode != 0:
            raise Failure(f'status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-2000:]}')
        parts = callgrind.parts(out.read_text())
        if len(parts) != 4:
            raise Failure(f'{len(parts) - 1} marks, not 3: is {MARK} still what os:getpid/0 calls?')
        once, twice = (callgrind.read(part, self.tests) for part in parts[1:3])
        counts = table.Counts.of(twice.per_operation(once, int(done.stdout)))
        if hot != (counts.functions[callgrind.MACHINE_CODE].own > 1):
            raise Failure(f'{operation}: {"no " if hot else ""}machine code was executed')
        return counts, out


def operations():
    """All that are there, and once more those that are counted with machine code too."""
    return sorted(
        [*(path.stem for path in (HERE / 'operations').glob('*.act')), *(name + WITH_CODE for name in HOT)]
    )


def source_of(operation):
    return HERE / 'operations' / f'{operation.removesuffix(WITH_CODE)}.act'


def about(operation):
    """The first comment of the program."""
    lines = source_of(operation).read_text().splitlines()
    return ' '.join(
        line[3:]
        for line in lines[
            : next(i for i, line in enumerate(lines) if not line.startswith('%% ') or 'native:' in line)
        ]
    )


def growth(before, now):
    return now / before - 1


def complaint(operation, before, now):
    """What is said of counts that have grown; None: they have not."""
    said = []
    if growth(before.total, now.total) > MOST_GROWTH:
        said.append(
            f'instructions for each: {before.total:.1f} before, {now.total:.1f} now: '
            f'{growth(before.total, now.total):+.1%}, at most '
            f'{MOST_GROWTH:+.0%}'
        )
    if now.tests > before.tests + table.LEAST_TESTS:
        said.append(f'tests of probes for each: {before.tests:.1f} before, {now.tests:.1f} now')
    if not said:
        return None
    return '\n'.join([about(operation), *said, *rows(before, now)])


def rows(before, now):
    """The functions that grew most, in instructions or tests of probes. Of those too small for the table
    nobody knows."""
    small = table.LEAST_PART * before.total
    before, now = before.functions, now.functions
    grown = [
        name
        for name in now
        if now[name].own - before[name].own >= (0.05 if name in before else small)
        or now[name].tests - before[name].tests >= table.LEAST_TESTS
    ]
    grown.sort(key=lambda name: (before[name].own - now[name].own, name))
    lines = [f'{"before":>10} {"now":>10} {"more":>9}   calls before, now   tests of probes   function']
    for name in grown[:MOST_SHOWN]:
        b, n = before[name], now[name]
        lines.append(
            f'{b.own:>10.1f} {n.own:>10.1f} {n.own - b.own:>+9.1f} {b.calls:>10.2f} {n.calls:>8.2f} '
            f'{b.tests:>9.1f} {n.tests:>7.1f}   {name}'
        )
    return lines + ([f'... and {len(grown) - MOST_SHOWN} more'] if len(grown) > MOST_SHOWN else [])


def check(counter, operation):
    counter.prepare()
    before = table.read(TABLE).get(operation)
    if not before:
        raise Failure('not in counts.tab: ./dev test --suite guard --record')
    now, out = counter.count(operation)
    said = complaint(operation, before, now)
    if said:
        kept = counter.build.resolve() / f'guard-{operation}.out'
        shutil.copy(out, kept)
        raise Failure(
            f'{said}\nlook further: callgrind_annotate --tree=caller {kept}\n'
            f'if it is meant: ./dev test --suite guard --record {operation}'
        )


def longer_function_is_named(counter):
    """A native function that is made longer than it was."""
    before, _ = counter.count('native_function')
    now, _ = counter.count('native_function', ['-DLONGER'])
    said = complaint('native_function', before, now)
    if (
        not said
        or not re.search(r'instructions for each: \d.* now: \+\d', said)
        or not re.search(r'\+\d+\.\d .* same_1$', said.splitlines()[3])
    ):
        raise Failure(f'a longer function was not named first:\n{said}')


def test_of_probe_is_named():
    """One more, far below what counts as growth of instructions; and nothing is said of what is the same or
    less."""
    counts = lambda total, tests: table.Counts(
        total, tests, callgrind.Profile({'f': callgrind.Function(total, total, 1, tests)})
    )
    if complaint('messages', counts(1000, 2), counts(1019, 2)) or complaint(
        'messages', counts(1000, 2), counts(500, 1)
    ):
        raise Failure('complains of less than two percent')
    said = complaint('messages', counts(1000, 2), counts(1003, 3))
    if (
        not said
        or 'tests of probes for each: 2.0 before, 3.0 now' not in said
        or not re.search(r'2\.0 +3\.0 +f$', said)
    ):
        raise Failure(f'one more test of a probe was not named:\n{said}')


def names_in_table():
    if unknown := set(table.read(TABLE)) - set(operations()):
        raise Failure(f'counts.tab has operations that are not there: {sorted(unknown)}')


def tests(root, build, vmrun, folder):
    counter = Counter(root, build, vmrun, folder)

    def apart():
        counter.prepare()
        probe_tests.out_of_line(vmrun)

    return [
        *(
            Test('guard', operation, lambda operation=operation: check(counter, operation))
            for operation in operations()
        ),
        Test('guard', 'a function made longer is named', lambda: longer_function_is_named(counter)),
        Test('guard', 'one more test of a probe is named', test_of_probe_is_named),
        Test('guard', 'what fires a probe is out of line', apart),
        Test('guard', 'the table has no operations but those that are there', names_in_table),
    ]


def record(root, build, vmrun, folder, names, jobs):
    """Writes counts.tab anew, for the operations named or all, and says what has changed. Counts that are the
    same but for what is different in every run stay as they were."""
    import concurrent.futures

    counter = Counter(root, build, vmrun, folder)
    counter.prepare()
    counts = {operation: count for operation, count in table.read(TABLE).items() if operation in operations()}
    chosen = [
        operation for operation in operations() if not names or any(name in operation for name in names)
    ]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for operation, (now, _) in zip(chosen, pool.map(counter.count, chosen)):
            before = counts.get(operation)
            if not before:
                print(
                    f'{operation:<28} {now.total:>10.1f} instructions, {now.tests:.1f} tests of probes: new'
                )
            elif not before.same(now):
                print(
                    f'{operation:<28} {before.total:>10.1f} -> {now.total:>10.1f} instructions '
                    f'{growth(before.total, now.total):+.2%}, '
                    f'{before.tests:.1f} -> {now.tests:.1f} tests of probes'
                )
            if not before or not before.same(now):
                counts[operation] = now
    table.write(TABLE, counts)
    print(f'{TABLE.relative_to(root)}: {len(counts)} operations')
