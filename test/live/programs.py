# SPDX-License-Identifier: Apache-2.0
"""Programs inside the machine that trace it (erltrace): what is left of their handles, what they count beside
vmtrace, and machines that end meanwhile."""
import collections
import pathlib
import random
import re
import resource

from harness.golden import run_program
from harness.results import Test
from harness.sanitizers import need_its_own_memory

from . import session
from .attach import expect
from .inside import said_of

HERE = pathlib.Path(__file__).resolve().parent
HANDLES = 350  # fifty of each of the states of handles.act
# that a handle may seem to leave: what the allocator keeps in other sizes and for other threads
MOST_BYTES = 1024
HALTS = 40
STACK = 1 << 30  # of a thread, address space only


def tests(root, vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [
        Test('live', 'inside: erltrace: ' + name[5:].replace('_', ' '), getattr(suite, name), in_turn=True)
        for name in vars(Suite)
        if name.startswith('test_')
    ]


class Suite:
    def __init__(self, vmrun):
        self.vmrun = vmrun

    # -- what is left

    @staticmethod
    def memory(target):
        return (
            int(
                re.search(
                    r'VmRSS:\s+(\d+) kB', pathlib.Path(f'/proc/{target.process.pid}/status').read_text()
                )[1]
            )
            << 10
        )

    @staticmethod
    def mappings(target):
        """Returns the number of mappings: each ring, table of aggregations or stack of a thread is one."""
        return len(pathlib.Path(f'/proc/{target.process.pid}/maps').read_text().splitlines())

    def test_handles_leave_no_memory(self):
        """Uses few threads, because each keeps some of what it once had."""
        need_its_own_memory(self.vmrun)
        with session.Target(
            self.vmrun, HERE / 'handles.act', flags=('+S', '1', '+SDcpu', '1', '+SDio', '1')
        ) as target:
            seen = []
            for more in (1, 1, 2, 4):
                target.line(str(more * HANDLES))
                target.wait_for('done')
                seen.append((self.memory(target), self.mappings(target)))
            (before, mapped_before), (after, mapped_after) = seen[-2:]
            expect(
                after - before < 4 * HANDLES * MOST_BYTES,
                f'{4 * HANDLES} handles leave {after - before} bytes',
                *seen,
            )
            expect(mapped_after - mapped_before < HANDLES // 10, 'mappings are left', *seen)
            target.finish()

    def test_handles_that_trace_nothing_need_no_thread(self):
        """There is no room for the stack of another thread, and a missing thread would be reported."""
        with session.Target(
            self.vmrun,
            HERE / 'idle_handles.act',
            flags=('+S', '1', '+SDcpu', '1', '+SDio', '1'),
            under=('prlimit', f'--stack={STACK}:'),
        ) as target:
            target.line('begin')
            target.wait_for('reads lines')
            taken = (
                int(pathlib.Path(f'/proc/{target.process.pid}/statm').read_text().split()[0])
                * resource.getpagesize()
            )
            resource.prlimit(target.process.pid, resource.RLIMIT_AS, (taken + STACK // 2,) * 2)
            target.line('go')
            target.wait_for('done')
            target.finish()
            expect(not target.errors.seen, 'a thread was asked for', *target.errors.seen)

    # -- machines that end

    def test_a_machine_that_ends_in_the_middle(self):
        for _ in range(HALTS):
            seed = random.randrange(2**32)
            status, _, errors = run_program(
                [str(self.vmrun), '+S', '4:4', str(HERE / 'halting_handles.act'), str(seed)],
                '',
                session.LIMIT,
            )
            expect(
                status == 0 and not errors,
                f'status {status}',
                errors,
                f'vmrun +S 4:4 test/live/halting_handles.act {seed}',
            )

    # -- inside and outside

    @staticmethod
    def expect_known(output):
        """Worker N sends and calls N * 50 times, and spawns every tenth time."""
        sums = collections.Counter()
        for line in output.splitlines():
            if line:
                what, *_, count = line.split()
                sums[what] += int(count)
        expect(
            sums == {'sends': 2750, 'spawns': 275, 'calls': 2750},
            'vmtrace does not count what was done',
            output,
        )

    def test_counts_are_those_of_vmtrace(self):
        """The program starts its handle once vmtrace is attached, stops it before vmtrace ends, and reports
        which process did what in between."""
        script = (HERE / 'inside_and_outside.d').read_text()
        for schedulers in ('1', '4'):
            with session.Target(
                self.vmrun, HERE / 'inside_and_outside.act', flags=('+S', schedulers), arguments=[script]
            ) as target:
                output = said_of(
                    target,
                    self.vmrun,
                    '-n',
                    script + 'BEGIN { printf("tracing\\n"); } '
                    'END { printa("sends %s %d %@d\\n", @sends); printa("spawns %s %@d\\n", @spawns); '
                    'printa("calls %s %@d\\n", @calls); }',
                )
            self.expect_known(output)
            inside = [line for line in target.output.seen if re.match('(sends|spawns|calls) ', line)]
            expect(
                sorted(inside) == sorted(line for line in output.splitlines() if line),
                'they differ',
                'inside:',
                *sorted(inside),
                'outside:',
                *sorted(output.splitlines()),
            )
