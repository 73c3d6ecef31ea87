# SPDX-License-Identifier: Apache-2.0
"""Good conversations with mistakes in them, made from seeds: handshakes in both roles.
What is asked so stays able to serve, and has no more processes, ports and memory afterwards. A failure says
the seed."""
import contextlib
import functools
import random
import socket
import struct
import time

from harness.results import Failure, Test
from nodes.cluster import Cluster, expect, patience_s
from nodes.fake_node import atom, small_tuple
from nodes.handshake import Scene, Speaker

HANDSHAKES = 60
GROWN_MB = 64


def tests(vmrun):
    def test(name, function):
        return Test(
            'nodes',
            f'mistakes of others: {name}',
            functools.partial(function, vmrun, HANDSHAKES, int(time.time())),
        )

    return [test('a node that connects', connecting), test('a node that is connected to', connected_to)]


def slow_tests(vmrun):
    return [
        Test(
            'slow',
            f'many mistakes of others: {function.__name__}',
            functools.partial(function, vmrun, HANDSHAKES * 40, int(time.time())),
        )
        for function in (connecting, connected_to)
    ]


def changed(numbers, message):
    """A few small changes."""
    message = bytearray(message)
    for _ in range(numbers.randint(1, 3)):
        at = numbers.randrange(len(message) + 1)
        how = numbers.randrange(6)
        if how == 0:
            del message[at:]
        elif how == 1:
            message[at:at] = numbers.randbytes(numbers.choice((1, 2, 300)))
        elif how == 2:
            del message[at : at + numbers.randint(1, 4)]
        elif how == 3:
            message += message[:at]
        elif at < len(message):
            message[at] = numbers.choice((0, 255, message[at] ^ 1 << numbers.randrange(8)))
    return bytes(message)


class Mistaken(Speaker):
    """One of its messages is another one, or its length is, or it comes in pieces, or is the last; and it
    waits for no answer for long."""

    def begins(self, numbers):
        self.numbers, self.until, self.challenge, self.own = numbers, numbers.randrange(4), 0, 0
        self.socket.settimeout(0.1)
        return self

    def speaks(self, *steps):
        """Goes on until the other side has enough."""
        with contextlib.suppress(OSError):
            for step in steps:
                if step() in ('nothing', 'the end'):
                    break
        if self.numbers.randrange(4):  # or the node has to
            self.socket.close()

    def send_message(self, message):
        self.until -= 1
        if self.until >= 0:
            return super().send_message(message)
        self.until = 4
        message = changed(self.numbers, message)
        size = len(message) if self.numbers.randrange(4) else self.numbers.randrange(65536)
        data = struct.pack('>H', size % 65536) + message
        at = self.numbers.randrange(len(data))
        for part in (data[:at], data[at:]):
            self.socket.sendall(part)
        if self.numbers.randrange(2):
            self.socket.shutdown(socket.SHUT_WR)
        return None


class Counted(Scene):
    """A node that gives a handshake up after a second, and says what it consists of."""

    def __init__(self, cluster):
        super().__init__(cluster, 'vmrun', setup_s=1)
        self.before = self.parts()
        self.size = self.resident_mb()

    def parts(self):
        """Without the connections that have come up in spite of all."""
        self.teller.send_to_name('told', small_tuple(self.teller.pid(), atom('alone')))
        return int(self.answer())

    def resident_mb(self):
        with open(f'/proc/{self.node.process.pid}/status', encoding='ascii') as status:
            return next(int(line.split()[1]) // 1024 for line in status if line.startswith('VmRSS'))

    def is_as_before(self):
        good = self.peer('good').shake_hands()
        self.becomes('up', 'good')
        good.close()
        self.becomes('none', 'good')
        deadline = time.monotonic() + patience_s()
        while (parts := self.parts()) > self.before:
            expect(time.monotonic() < deadline, f'processes and ports before: {self.before}, now: {parts}')
        expect(self.resident_mb() < self.size + GROWN_MB, f'{self.size} MB before, {self.resident_mb()} now')


@contextlib.contextmanager
def counted(vmrun, seed):
    try:
        with Cluster(vmrun) as cluster, contextlib.ExitStack() as stack:
            scene = Counted(cluster)
            stack.callback(scene.end)
            yield scene
            scene.is_as_before()
    except (Failure, OSError) as problem:
        raise Failure(f'seed {seed}: {problem}') from problem


def connecting(vmrun, count, seed):
    with counted(vmrun, seed) as scene:
        for i in range(count):
            numbers = random.Random(f'{seed} {i}')
            scene.parts()
            peer = scene.kept(
                Mistaken(scene.port, scene.cluster.cookie, f'mistaken{i % 10}@localhost')
            ).begins(numbers)
            old = numbers.randrange(3) == 0
            peer.speaks(
                peer.send_name_5 if old else peer.send_name,
                peer.words,
                peer.words,
                *([peer.send_complement] if old else []),
                peer.send_reply,
                peer.words,
            )


def connected_to(vmrun, count, seed):
    """Each dial of the node is answered in the end, whoever it came to."""
    with counted(vmrun, seed) as scene:
        for i in range(count // 3):
            numbers = random.Random(f'{seed} {i}')
            name = f'mistaken{i % 10}'
            scene.parts()
            scene.becomes('none', name)
            with scene.listening(name) as wait:
                scene.tell('connect', name)
                peer = wait(Mistaken).begins(numbers)
                status = numbers.choice(('ok', 'ok', 'ok', 'alive', 'ok_simultaneous', 'nok'))
                peer.speaks(
                    peer.words,
                    functools.partial(peer.send_status, status),
                    *([peer.words] if status == 'alive' else []),
                    peer.send_challenge,
                    peer.words,
                    peer.send_ack,
                )
                scene.answer()
