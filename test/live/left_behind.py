# SPDX-License-Identifier: Apache-2.0
"""What sessions leave in a machine, by number. After eight times as many of them it has no more memory in
use, nearly to the byte (counting_allocator.cpp), no more memory mapped, no thread and no descriptor. There
are damaged sessions, ordinary ones, and tracers that are killed."""
import contextlib
import pathlib
import random
import re
import signal
import socket
import struct
import tempfile
import time
from collections import Counter

from harness.results import Failure, Skip, Test
from harness.sanitizers import sanitizer

from . import endpoint, session
from .attach import expect
from .inside import thread_name

SESSIONS = 30  # and twice, four times, eight times as many
# The machine starts this thread once, when the first function is to be compiled. On a busy computer that may
# be after the first figure.
COMPILER = 'compiler'
# Memory that may be added between the first figure and the last. Numbers of used functions are kept in a
# list, 4 bytes each. A thread that fires gets its array of counts, 12 KB, which the next thread takes over.
MOST_MORE = 128 << 10
# the C library keeps stacks of threads that have ended; each session's ring is 4 MB
MOST_MORE_MAPPED = 64 << 20
# A machine that works never has the same amount twice.
MOST_MORE_AT_WORK = 1 << 20
EVERYTHING = (
    'BEGIN { printf("tracing\\n"); } message-send { @[copyinstr(arg0)] = count(); self->n++; a[arg1] = '
    'self->n; } '
    'message-receive { printf("%d", arg1); } process-exit { @s[ustack()] = count(); } '
    'erlang*:lists:: { @f[mfa] = count(); } profile-97 { @p[mfa] = count(); } '
)
# Counts that the program knows too: a request and its answer are longer than all other messages.
STAYS = (
    'BEGIN { printf("tracing\\n"); } process-spawn { @spawned = count(); } erlang*:kills_load:serve:entry { '
    '@served = count(); } '
    'message-send /arg2 > 50/ { @sent = count(); } '
    'END { printa("spawned %@d\\n", @spawned); printa("served %@d\\n", @served); printa("sent %@d\\n", '
    '@sent); }'
)


def tests(root, vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [
        Test('live', 'inside: left by ' + name[8:].replace('_', ' '), getattr(suite, name), in_turn=True)
        for name in vars(Suite)
        if name.startswith('test_by_')
    ]


def no_more(now, before):
    """A thread that was about to end may have been counted before."""
    return not any(Counter(n) - Counter(b) for n, b in zip(now, before))


class Suite(endpoint.Suite):
    def __init__(self, vmrun):
        super().__init__(vmrun)
        self.allocator = vmrun.parent / 'test' / 'libcounting_allocator.so'

    @contextlib.contextmanager
    def counted(self, program):
        """Runs a machine, and what says how much memory it has in use. With a sanitizer, which finds other
        things, that is always 0."""
        if not self.vmtrace.exists() or not self.allocator.exists():
            raise Skip('vmtrace and its tests are not built')
        with tempfile.NamedTemporaryFile() as words:
            words.truncate(16)
            environment = {'VMRUN_ALLOCATED': words.name, 'MALLOC_ARENA_MAX': '1'}
            counts = not sanitizer(self.vmrun)
            if counts:
                environment['LD_PRELOAD'] = str(self.allocator)
            with session.Target(self.vmrun, endpoint.HERE / program, environment=environment) as target:
                in_use = lambda: struct.unpack('Q', pathlib.Path(words.name).read_bytes()[:8])[0]
                expect(in_use() or not counts, 'the allocator does not count')
                yield target, in_use

    def has(self, target):
        """Returns the names of its threads, the compiler among them even if it has not started yet, and its
        descriptors, once the endpoint has closed after the last connection."""
        endpoint.until(lambda: not session.endpoint_of(target.process.pid), 'the endpoint is closed')
        names = [thread_name(task) for task in pathlib.Path(f'/proc/{target.process.pid}/task').iterdir()]
        late = [COMPILER] * (COMPILER not in names)
        return sorted([name for name in names if name] + late), self.descriptors(target)

    def left_by(self, program, a_session, most_more=MOST_MORE):
        """Measures what sessions leave. a_session(target, k): the k-th one."""
        with self.counted(program) as (target, in_use):
            figures, before = [], None
            for k in range(1, 8 * SESSIONS + 1):
                a_session(target, k)
                if k in (SESSIONS, 2 * SESSIONS, 4 * SESSIONS, 8 * SESSIONS):
                    self.expect_nothing_left(target)
                    before = before or self.has(target)
                    endpoint.until(
                        lambda: no_more(self.has(target), before),
                        f'there are no more threads and descriptors than: {before}',
                    )
                    figures.append((in_use(), in_use() and self.memory(target, 'VmSize')))
            used, mapped = zip(*figures)
            # What is made once may come late, so the last half of the sessions may speak for all.
            more = min(used[-1] - used[0], 2 * (used[-1] - used[2]))
            expect(more <= most_more, 'memory stays in use', *used)
            expect(mapped[-1] - mapped[0] <= MOST_MORE_MAPPED, 'memory stays mapped', *mapped)
            target.line('go')  # it then does what it would have done
            target.wait_for('done')
            if program == 'counts.act':
                target.finish()

    def sent(self, target):
        """Returns a whole session of endpoint.SCRIPT: all messages, as vmtrace sends them."""
        if not hasattr(target, 'whole'):
            target.whole = self.whole_session(self.sent_for(target))
        return target.whole

    @staticmethod
    def damaged(messages, numbers):
        """Returns one session in which something is wrong."""
        messages = list(messages)
        how = numbers.randrange(6)
        if how == 0:
            numbers.shuffle(messages)
        elif how == 1:
            messages += numbers.choices(messages, k=20)
        elif how == 2:
            messages.insert(
                numbers.randrange(len(messages)),
                endpoint.message(numbers.randrange(2**32), numbers.randbytes(50)),
            )
        data = bytearray(b''.join(messages))
        if how == 3:
            del data[numbers.randrange(len(data)) :]
        elif how > 3:
            for _ in range(numbers.choice([1, 1, 2, 5, 40])):
                data[numbers.randrange(len(data))] = numbers.choice([0, 1, 255, numbers.randrange(256)])
        return bytes(data)

    @staticmethod
    def says(target, data, k):
        with endpoint.Peer(target.process.pid) as peer:
            peer.send(data)
            peer.socket.shutdown(socket.SHUT_WR)
            if k % 3:  # the others end without having read anything
                peer.rest()

    # -- a machine that waits

    def test_by_damaged_sessions(self):
        seed = random.randrange(2**32)
        numbers = random.Random(seed)
        try:
            self.left_by(
                'counts.act', lambda target, k: self.says(target, self.damaged(self.sent(target), numbers), k)
            )
        except Failure as failure:
            raise Failure(f'{failure}\n  seed {seed}') from None

    def test_by_whole_sessions(self):
        self.left_by('counts.act', lambda target, k: self.says(target, b''.join(self.sent(target)), k))

    # -- one that works

    def test_by_tracers_that_end(self):
        text = EVERYTHING + 'tick-5ms { exit(0); } '
        self.left_by(
            'inside_load.act',
            lambda target, k: self.ended(self.traced(target, '-qn', text), 0),
            MOST_MORE_AT_WORK,
        )

    def test_by_tracers_that_are_killed(self):
        def killed(target, k):
            tracer = self.traced(target, '-qn', EVERYTHING, begin=k % 3 > 0)
            tracer.kill()
            tracer.communicate()

        self.left_by('inside_load.act', killed, MOST_MORE_AT_WORK)

    # -- calls that are watched

    def test_by_watched_calls(self):
        with self.counted('watched_calls.act') as (target, in_use):
            target.wait_for('done')
            known = target.finish()
            for kind, figures in known.items():
                used = [int(n) for n in re.findall(r'-?\d+', figures.split(' ', 1)[1])]
                expect(len(used) == 4, 'four figures', kind, figures)
                expect(not in_use() or used[-1] - used[0] <= MOST_MORE, 'memory stays in use', kind, *used)

    # -- many that are killed, beside one that is not

    def test_by_a_hundred_kills_under_load(self):
        self.kills(100)

    def kills(self, times):
        seed = random.randrange(2**32)
        try:
            self.killed_many_times(times, random.Random(seed))
        except Failure as failure:
            raise Failure(f'{failure}\n  seed {seed}') from None

    def killed_at_some_moment(self, target, numbers):
        """Kills vmtrace while it connects, works, or ends."""
        moment = numbers.choice(['comes', 'begins', 'works', 'goes'])
        tracer = self.traced(target, '-qn', EVERYTHING, begin=moment != 'comes')
        if moment == 'goes':
            tracer.send_signal(signal.SIGINT)
        if moment != 'begins':
            time.sleep(numbers.choice([0.0003, 0.003, 0.03]) * numbers.random())
        tracer.kill()
        tracer.communicate()

    @staticmethod
    def firings(target):
        """Returns how many firings there have been, of all sessions together."""
        with endpoint.Peer(target.process.pid) as peer:
            peer.send(endpoint.message(endpoint.FIRINGS))
            return struct.unpack('Q', peer.answer(endpoint.FIRINGS))[0]

    def killed_many_times(self, times, numbers):
        with self.counted('kills_load.act') as (target, in_use):
            stays = self.traced(target, '-qn', STAYS)
            target.line('go')
            figures, before = [], None
            for k in range(1, times + 1):
                self.killed_at_some_moment(target, numbers)
                if k in (times // 10, times):  # what is made only once exists after the first ones
                    self.firings(target)
                    before = before or self.has(target)
                    figures.append(in_use())
            endpoint.until(
                lambda: no_more(self.has(target), before),
                f'there are no more threads and descriptors than: {before}',
            )
            target.line('stop')
            target.wait_for('done')
            stays.send_signal(signal.SIGINT)
            output, errors = self.ended(stays, 0)
            known = {name: int(n) for name, n in (line.split() for line in target.output.seen if ' ' in line)}
            counted = {name: int(n) for name, n in (line.split() for line in output.splitlines() if line)}
            expect(
                counted
                == {
                    'spawned': known['questions'] + 8,
                    'served': known['questions'] + 4,
                    'sent': known['questions'] + known['answers'],
                }
                and not errors,
                'a tracer that stays counts wrong',
                counted,
                known,
                errors,
            )
            self.expect_nothing_left(target)
            expect(figures[1] - figures[0] < MOST_MORE_AT_WORK, 'memory stays in use', *figures)
            target.line('go')  # nothing fires any more, no function is patched
            fired, at = self.firings(target), self.worked(target)
            endpoint.until(lambda: self.worked(target) > at + 20, 'the machine works')
            expect(self.firings(target) == fired, 'there are firings that nobody asked for')
            target.line('stop')
            target.wait_for('done')
            target.finish()


def slow_tests(vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [Test('slow', '1000 kills of vmtrace under load', lambda: suite.kills(1000), in_turn=True)]
