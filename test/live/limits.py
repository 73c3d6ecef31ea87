# SPDX-License-Identifier: Apache-2.0
"""Scripts that want more than there is. What is dropped is reported by dtrace's names. The machine's memory
stays within bounds while they run, and is freed."""
import pathlib
import re
import tempfile

from harness.results import Test
from harness.sanitizers import sanitizer

from . import left_behind
from .attach import expect

MEBIBYTE = 1 << 20
MOST_CLAUSES = 4096  # kClauses of probes/engine/program_verifier.hpp
FIRINGS = 1_000_000
# Options, a clause of message-send, what is reported, how much memory the machine may take meanwhile.
CASES = {
    'a million keys of an aggregation': (
        'aggsize=16m',
        '@[timestamp, n] = count();',
        [r'\d+ aggregation drops? on CPU \d'],
        400,
    ),
    'elements of an array': ('dynvarsize=1m', 'a[timestamp, n] = n;', [r'\d+ dynamic variable drops?$'], 16),
    'variables of processes': ('dynvarsize=16k', 'self->a[n] = n;', [r'\d+ dynamic variable drops?$'], 16),
    'speculations': (
        'nspec=2',
        'self->s = speculation(); speculate(self->s); printf("%d", n);',
        [r'\d+ failed speculations? \(no speculative buffer available\)$'],
        16,
    ),
    'room of speculations': (
        'specsize=1k',
        'speculate(spec); printf("%d", n);',
        [r'\d+ speculative drops?$'],
        16,
    ),
    'records': ('bufsize=16k', 'printf("%d", n);', [r'\d+ drops? on CPU \d'], 16),
}


def tests(root, vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [
        *[
            Test('live', f'inside: too many: {name}', lambda n=name: suite.too_many(n), in_turn=True)
            for name in CASES
        ],
        Test('live', 'inside: too many: clauses', suite.clauses, in_turn=True),
    ]


class Suite(left_behind.Suite):
    def runs(self, target, in_use, most, arguments):
        """Runs until it has fired that often, twice. Returns standard error."""
        peak, left = self.memory(target, 'VmHWM'), []
        for _ in range(2):
            _, errors = self.ended(self.traced(target, *arguments, begin=False), 0)
            self.expect_nothing_left(target)
            left.append(in_use())
        grown = self.memory(target, 'VmHWM') - peak
        # A sanitizer keeps what is freed.
        expect(sanitizer(self.vmrun) or grown < most * MEBIBYTE, f'the machine has taken {grown} bytes')
        expect(left[1] - left[0] < left_behind.MOST_MORE_AT_WORK, 'memory stays in use', *left)
        return errors

    def too_many(self, name):
        option, clause, told, most = CASES[name]
        script = (
            f'BEGIN {{ n = 0; spec = speculation(); }} message-send {{ n++; {clause} }} tick-10ms /n '
            f'> {FIRINGS if "million" in name else 20000}/ {{ exit(0); }} END {{ trunc(@); }}'
        )
        if '@' not in clause:
            script = script.replace('trunc(@);', '')
        with self.counted('inside_load.act') as (target, in_use):
            errors = self.runs(target, in_use, most, ['-q', '-x', option, '-n', script])
            for pattern in told:
                expect(re.search('^vmtrace: ' + pattern, errors, re.M), f'not told: {pattern}', errors)
            target.line('end')
            target.wait_for('done')

    def clauses(self):
        with self.counted('inside_load.act') as (target, in_use), tempfile.NamedTemporaryFile(
            'w', suffix='.d'
        ) as script:
            script.write(
                'BEGIN { n = 0; }\ntick-10ms /n > 2000/ { exit(0); }\n'
                + 'message-send { n++; }\n' * (MOST_CLAUSES - 2)
            )
            script.flush()
            expect(
                not self.runs(target, in_use, 64, ['-q', '-s', script.name]),
                'something is told of as many clauses as can be',
            )
            script.write('message-send { n++; }\n')
            script.flush()
            _, errors = self.ended(self.traced(target, '-q', '-s', script.name, begin=False), 1)
            expect('clauses' in errors, 'one too many is not refused by name', errors)
            target.line('end')
            target.wait_for('done')
