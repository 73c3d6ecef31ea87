# SPDX-License-Identifier: Apache-2.0
"""What vmtrace writes when there is no room, when its output is not read, and when the machine is gone: a
message, a status, and no half output."""
import contextlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile

from harness.results import Failure, Skip, Test

from . import endpoint, session
from .attach import expect

PRINTING = 'BEGIN { printf("tracing\\n"); } message-send { printf("%d\\n", timestamp); }'
DOCUMENTS = (['flame'], ['flame', '-a'], ['timeline'], ['record'], ['record', '-f', 'timeline'])
FUNCTIONS = 2000
PADDING = 'x' * 100  # what is printed does not fit into a pipe
CALLS = (
    'BEGIN { printf("tracing\\n"); } erlang*:late:name_*:entry { printf("call %s %s '
    + PADDING
    + '\\n", probefunc, mfa); @[mfa] = count(); } '
    'END { printa("count %s %@d\\n", @); }'
)
ROOM = 8192  # bytes: less than any of them needs
BURST = 100_000  # calls: more than a small ring holds
DROPPING = f'''main() -> io:format("ready~n"), io:get_line(""),
    burst(), io:format("dropped~n"), io:get_line(""),
    Main = self(), [spawn(fun() -> burst(), Main ! done end) || _ <- lists:seq(1, 16)],
    [receive done -> ok end || _ <- lists:seq(1, 16)], io:format("done~n"), io:get_line("").
burst() -> burst({BURST}).
burst(0) -> ok;
burst(N) -> step(N), burst(N - 1).
step(N) -> N.
'''


def tests(root, vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [
        Test('live', 'inside: written: ' + name[5:].replace('_', ' '), getattr(suite, name), in_turn=True)
        for name in vars(Suite)
        if name.startswith('test_')
    ]


def may_write(most):
    """Limits the size of files, as a quota does."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return limit


@contextlib.contextmanager
def small_disk(room):
    """Makes a separate file system that is nearly full."""
    with tempfile.TemporaryDirectory(prefix='vmrun-live-') as folder:
        mounted = subprocess.run(
            ['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], capture_output=True, text=True
        )
        if mounted.returncode:
            raise Skip('no file system of its own: ' + mounted.stderr.strip())
        try:
            with contextlib.suppress(OSError), open(f'{folder}/full', 'wb', buffering=0) as full:
                full.write(bytes((1 << 20) - room))
            yield pathlib.Path(folder)
        finally:
            subprocess.run(['umount', folder], check=True)


class Suite(endpoint.Suite):
    def view(self, target, words, *arguments, **options):
        """Runs a view that shows its results after a second; a record has no end by itself."""
        options.setdefault('stdout', subprocess.PIPE)
        ends = [] if words[0] == 'record' else ['-d', '1s']
        view = subprocess.Popen(
            [self.vmtrace, *words, '-p', str(target.process.pid), *ends, *arguments],
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        if not ends:
            endpoint.until(lambda: any(self.words_of_probes(target.process.pid)), 'the record begins')
            before = self.worked(target)
            endpoint.until(lambda: self.worked(target) > before + 20, 'there are events')
            view.send_signal(signal.SIGINT)
        return view

    def test_a_full_disk_ends_vmtrace_alone(self):
        with self.machine('inside_load.act', works=False) as target:
            for arguments in (
                ['-o', '/dev/full', '-n', PRINTING],
                ['-w', '-n', 'BEGIN { freopen("/dev/full"); } ' + PRINTING],
            ):
                _, errors = self.ended(self.traced(target, '-q', *arguments, begin=False), 1)
                expect('No space left on device' in errors, 'vmtrace does not say why it ends', errors)
                self.expect_nothing_left(target)

    def test_a_file_that_may_grow_no_more(self):
        with self.machine('inside_load.act', works=False) as target, tempfile.TemporaryDirectory(
            prefix='vmrun-live-'
        ) as folder:
            output = pathlib.Path(folder, 'output')
            _, errors = self.ended(
                self.traced(
                    target,
                    '-q',
                    '-o',
                    str(output),
                    '-n',
                    'message-send { printf("%d\\n", timestamp); }',
                    begin=False,
                    preexec_fn=may_write(100_000),
                ),
                1,
            )
            expect(
                'File too large' in errors and output.stat().st_size == 100_000,
                'vmtrace does not say why it ends',
                errors,
            )

    def test_a_pipe_that_nobody_reads_any_more(self):
        with self.machine('inside_load.act', works=False) as target:
            tracer = self.traced(target, '-q', '-n', PRINTING)
            tracer.stdout.close()
            expect(
                tracer.wait(session.LIMIT) in (1, -signal.SIGPIPE),
                f'vmtrace: status {tracer.returncode}',
                tracer.stderr.read(),
            )

    # -- who reads late

    @contextlib.contextmanager
    def late(self, script):
        """Returns three things: a machine that has called functions whose names have not been asked for yet,
        vmtrace, whose output is not read, and the names."""
        with tempfile.TemporaryDirectory(prefix='vmrun-live-') as folder:
            source = pathlib.Path(folder, 'late.act')
            names = [f'name_{n}' for n in range(FUNCTIONS)]
            source.write_text(
                'main() -> io:format("ready~n"), io:get_line(""), call(), io:format("done~n"), '
                'io:get_line("").\n'
                f'call() -> {", ".join(f"{name}()" for name in names)}.\n'
                + ''.join(f'{name}() -> ok.\n' for name in names)
            )
            with session.Target(self.vmrun, source) as target:
                tracer = self.traced(target, '-qn', script)
                target.line('go')
                target.wait_for('done')
                yield target, tracer, names

    def expect_names(self, output, names):
        lines = output.split('\n')
        printed = [line.split() for line in lines if line.startswith('call ')]
        counted = [line.split() for line in lines if line.startswith('count ')]
        expect(
            printed == [['call', name, f'late:{name}/0', PADDING] for name in names],
            'names that were asked for late are wrong',
            printed[-1:],
        )
        expect(
            sorted(counted) == sorted(['count', f'late:{name}/0', '1'] for name in names),
            'what was counted is wrong',
            counted[-1:],
        )

    def test_a_machine_that_ends_before_its_records_are_read(self):
        with self.late(CALLS) as (target, tracer, names):
            target.finish()
            output, _ = self.ended(tracer, 0)
            self.expect_names(output, names)

    def test_an_interrupt_before_the_records_are_read(self):
        with self.late(CALLS) as (target, tracer, names):
            tracer.send_signal(signal.SIGINT)
            self.expect_nothing_left(target)
            target.finish()
            output, _ = self.ended(tracer, 0)
            self.expect_names(output, names)

    def test_a_second_interrupt_gives_up_what_nobody_reads(self):
        with self.late(CALLS) as (target, tracer, _):
            tracer.send_signal(signal.SIGINT)
            self.expect_nothing_left(target)
            tracer.send_signal(signal.SIGINT)
            expect(tracer.wait(session.LIMIT) == 1, f'vmtrace: status {tracer.returncode}')
            expect('failed to write' in tracer.communicate()[1], 'vmtrace does not say that there was more')
            target.finish()

    def blocked(self, tracer):
        """Waits until vmtrace waits to write: it then polls once a second, in place of a hundred times."""

        def turns():
            status = pathlib.Path(f'/proc/{tracer.pid}/status').read_text()
            return int(re.search(r'nonvoluntary|\nvoluntary_ctxt_switches:\t(\d+)', status)[1])

        def waits():
            before = turns()
            subprocess.run(['sleep', '0.3'], check=True)
            return turns() - before < 5

        endpoint.until(waits, 'vmtrace waits to write')

    def test_rings_that_appear_while_nobody_reads_of_drops(self):
        with tempfile.TemporaryDirectory(prefix='vmrun-live-') as folder:
            source = pathlib.Path(folder, 'dropping.act')
            source.write_text(DROPPING)
            reading, writing = os.pipe()
            os.set_blocking(writing, False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    os.write(writing, b'x' * 512)
            os.set_blocking(writing, True)
            with session.Target(self.vmrun, source, ('+S', '8')) as target, open(
                reading, errors='replace'
            ) as errors:
                script = (
                    'BEGIN { printf("tracing\\n"); } erlang*:dropping:step/1:entry { printf("%d\\n", '
                    '1); @ = count(); } END { printa("count %@d\\n", @); }'
                )
                tracer = subprocess.Popen(
                    [
                        self.vmtrace,
                        '-q',
                        '-b',
                        '8k',
                        '-o',
                        str(pathlib.Path(folder, 'output')),
                        '-n',
                        script,
                        '-p',
                        str(target.process.pid),
                    ],
                    stderr=writing,
                )
                os.close(writing)
                endpoint.until(
                    lambda: pathlib.Path(folder, 'output').exists()
                    and 'tracing' in pathlib.Path(folder, 'output').read_text(),
                    'vmtrace begins',
                )
                target.line('go')
                target.wait_for('dropped')
                self.blocked(tracer)
                target.line('more')
                target.wait_for('done')
                target.finish()
                said = session.Lines(errors)
                expect(
                    tracer.wait(session.LIMIT) == 0,
                    f'vmtrace: status {tracer.returncode}',
                    *[line.lstrip('x') for line in said.rest()[-3:]],
                )
                counted = re.search(r'^count (\d+)$', pathlib.Path(folder, 'output').read_text(), re.M)
                expect(counted and int(counted[1]) == 17 * BURST, 'what was counted is wrong', counted)

    # -- documents

    def test_a_document_is_whole_or_not_there(self):
        with self.machine('inside_load.act', works=False) as target, tempfile.TemporaryDirectory(
            prefix='vmrun-live-'
        ) as folder:
            for n, words in enumerate(DOCUMENTS):
                for before in (None, 'what was there'):
                    place = pathlib.Path(folder, f'document{n}')
                    if before:
                        place.write_text(before)
                    _, errors = self.ended(
                        self.view(target, words, '-o', str(place), preexec_fn=may_write(ROOM)), 1
                    )
                    expect(
                        'File too large' in errors and 'it is not written' in errors,
                        f'{words} does not say so',
                        errors,
                    )
                    expect(
                        [f.name for f in pathlib.Path(folder).iterdir()] == ([place.name] if before else []),
                        f'{words} leaves half of it',
                    )
                    expect(not before or place.read_text() == before, f'{words} has spoilt what was there')
                _, errors = self.ended(self.view(target, words, '-o', str(place)), 0)
                expect(
                    'not written' not in errors and place.stat().st_size > ROOM,
                    f'{words}: no document where there is room',
                    errors,
                )
                place.unlink()

    def test_documents_on_a_full_disk(self):
        with self.machine('inside_load.act', works=False) as target, small_disk(ROOM) as folder:
            for words in DOCUMENTS:
                _, errors = self.ended(self.view(target, words, '-o', str(folder / 'document')), 1)
                expect(
                    'No space left on device' in errors and 'it is not written' in errors,
                    f'{words} does not say so',
                    errors,
                )
                expect([f.name for f in folder.iterdir()] == ['full'], f'{words} leaves half of it')
            for words in DOCUMENTS:
                with open('/dev/full', 'w') as full:
                    view = self.view(target, words, stdout=full)
                    _, errors = view.communicate(timeout=session.LIMIT)
                    expect(
                        view.returncode == 1
                        and 'No space left on device' in errors
                        and 'it is not written' in errors,
                        f'{words} does not say so',
                        errors,
                    )

    def test_a_link_to_a_document_stays_one(self):
        with self.machine('inside_load.act', works=False) as target, tempfile.TemporaryDirectory(
            prefix='vmrun-live-'
        ) as folder:
            link, behind = pathlib.Path(folder, 'link'), pathlib.Path(folder, 'behind')
            behind.write_text('what was there')
            behind.chmod(0o600)
            link.symlink_to(behind)
            self.ended(self.view(target, ['flame'], '-o', str(link)), 0)
            expect(
                link.is_symlink()
                and '<html' in behind.read_text()
                and behind.stat().st_mode & 0o777 == 0o600,
                'the document is not behind the link',
            )

    def test_standard_files_that_are_closed(self):
        """What vmtrace prints goes nowhere; it does not go to the machine that it is connected to."""
        with tempfile.TemporaryDirectory(prefix='vmrun-live-') as folder:
            output = pathlib.Path(folder, 'output')
            for closed in ('<&-', '>&-', '2>&-', '<&- 2>&-', '<&- >&- 2>&-'):
                ended = subprocess.run(
                    [
                        'bash',
                        '-c',
                        f'exec "$@" {closed}',
                        'sh',
                        self.vmtrace,
                        '-o',
                        output,
                        '-n',
                        'message-send { n++; } END { printf("%d sent", n > 0); }',
                        '-c',
                        f"{self.vmrun} -e 'self() ! told'",
                    ],
                    timeout=session.LIMIT,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                expect(
                    ended.returncode == 0 and '1 sent' in output.read_text(),
                    f'{closed}: status {ended.returncode}',
                )
                output.unlink()

    # -- a machine that is gone

    def gone(self, number):
        """Returns what vmtrace has counted by the last second, and all that it recorded, though END does not
        run and the machine does not answer."""
        with session.Target(self.vmrun, endpoint.HERE / 'inside_load.act') as target:
            tracer = self.traced(
                target,
                '-x',
                'bufsize=16m',
                '-qn',
                'BEGIN { printf("tracing\\n"); } message-send { @["sent", arg2 > 0] = count(); '
                '@last["sent", arg2 > 0] = count(); n++; } '
                'message-receive /n % 100 == 0/ { printf("%d received\\n", timestamp); } '
                'tick-1500ms { printa("%s %d %@d\\n", @); printf("printed\\n"); } END { printf("END\\n"); }',
            )
            lines = session.Lines(tracer.stdout)
            lines.until('printed', 'vmtrace')
            # On a busy machine the signal would come before the next message.
            before = self.worked(target)
            endpoint.until(
                lambda: self.worked(target) > before + 5, 'messages are sent after the last second'
            )
            target.process.send_signal(number)
            if tracer.wait(session.LIMIT) != 0:
                raise Failure(f'vmtrace: status {tracer.returncode}')
            output = '\n'.join(lines.rest())
            counts = [int(n) for n in re.findall(r'^ *sent +1 +(\d+)$', output, re.M)]
            expect(len(counts) == 2 and counts[1] >= counts[0] > 0, 'what was counted is lost', output[-500:])
            expect(
                'END' not in output and output.rindex('received') > output.index('printed'),
                'END has run, or what was recorded is lost',
                output[-500:],
            )

    def test_a_machine_that_is_killed(self):
        self.gone(signal.SIGKILL)

    def test_a_machine_that_crashes(self):
        self.gone(signal.SIGSEGV)
