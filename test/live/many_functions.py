# SPDX-License-Identifier: Apache-2.0
"""Named functions up to the greatest number that is watched at once, and beyond."""
import contextlib
import pathlib
import signal
import subprocess
import tempfile

from harness.results import Skip, Test

from . import endpoint, session
from .attach import expect

MOST = 65536  # kMostFunctions of probes/attach/functions.cpp
MODULES = 8
EACH = MOST // MODULES  # with module_info/0 and /1
BEGIN = 'BEGIN { printf("tracing\\n"); } '


def tests(root, vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [Test('live', 'inside: as many functions as can be, and more', suite.run, in_turn=True)]


class Suite(endpoint.Suite):
    def compiled(self, folder, number):
        source = folder / f'plenty_{number}.erl'
        names = ['first', *(f'f{n}' for n in range(EACH - 4)), 'last']
        source.write_text(
            f'-module(plenty_{number}).\n-compile(export_all).\n'
            + ''.join(f'{name}() -> {name}.\n' for name in names)
        )
        subprocess.run(
            [self.vmrun.parent / 'runtime/compile/vmrunc', '-w', '-o', source.with_suffix('.beam'), source],
            check=True,
        )

    @contextlib.contextmanager
    def watching(self, target, pattern):
        tracer = self.traced(
            target,
            '-q',
            '-Z',
            '-n',
            BEGIN + pattern + ' { @[probemod, probefunc] = count(); } END { printa("%s %s %@d\\n", @); }',
        )
        yield tracer
        if tracer.poll() is None:
            tracer.kill()
            tracer.communicate()

    def run(self):
        if not (self.vmrun.parent / 'runtime/compile/vmrunc').exists():
            raise Skip('vmrunc is not built')
        with tempfile.TemporaryDirectory(prefix='vmrun-live-') as name:
            for number in range(1, MODULES + 2):
                self.compiled(pathlib.Path(name), number)
            with session.Target(self.vmrun, endpoint.HERE / 'many_functions.act', arguments=[name]) as target:
                self.watch(target)
                self.expect_nothing_left(target)
                target.finish()

    @staticmethod
    def load(target, number):
        target.line(str(number))
        target.wait_for('done')

    def watch(self, target):
        for _ in range(2):  # each then has two versions, whose functions have the same names
            for number in range(1, MODULES + 1):
                self.load(target, number)

        with self.watching(target, 'erlang*:plenty_*::entry') as tracer:
            self.load(target, MODULES + 1)  # one more, of which nothing is watched
            tracer.send_signal(signal.SIGINT)
            output, errors = self.ended(tracer, 0)
            expect(
                f'vmtrace: {EACH} functions not watched' in errors and 'plenty' not in output,
                'it is not told what is not watched',
                output,
                errors,
            )

        _, errors = self.ended(self.traced(target, '-qn', 'erlang*:plenty_*::entry { }', begin=False), 1)
        expect(f'names more than {MOST} functions' in errors, 'more than can be', errors)

        with self.watching(target, 'erlang*:lists:reverse:entry'):
            _, errors = self.ended(
                self.traced(target, '-qn', f'erlang*:plenty_[1-{MODULES}]::entry {{ }}', begin=False), 1
            )
            expect(f'with those watched already more than {MOST}' in errors, 'more than can be', errors)
            self.ended(
                self.traced(target, '-qn', 'BEGIN { exit(0); } erlang*:string::entry { }', begin=False), 0
            )

        # one that had no number before
        with self.watching(target, 'erlang*:plenty_9:first:entry, erlang*:plenty_9:last:entry') as tracer:
            self.load(target, MODULES + 1)
            tracer.send_signal(signal.SIGINT)
            output, errors = self.ended(tracer, 0)
            expect(
                sorted(output.split()) == sorted('plenty_9 first 1 plenty_9 last 1'.split()) and not errors,
                'it is not watched',
                output,
                errors,
            )
