"""Good conversations with mistakes in them, made from seeds: handshakes in both roles, and requests to epmd.
What is asked so stays able to serve, and has no more processes, ports and memory afterwards. A failure says
the seed."""
import contextlib
import errno
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

    return [
        test('a node that connects', connecting),
        test('a node that is connected to', connected_to),
        test('requests to epmd', epmd),
    ]


def slow_tests(vmrun):
    return [
        Test(
            'slow',
            f'many mistakes of others: {function.__name__}',
            functools.partial(function, vmrun, HANDSHAKES * 40, int(time.time())),
        )
        for function in (connecting, connected_to, epmd)
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


def epmd(vmrun, count, seed):
    """With few descriptors: who comes when there are none has to wait for others to go. Half of a request is
    waited for, and holds up nobody."""
    with Cluster(vmrun, epmd=False) as cluster, contextlib.ExitStack() as stack:
        node = cluster.start('epmd', ['prlimit', '--nofile=128', cluster.vmrun, '-epmd'])
        cluster.wait_for_epmd()

        def asks(data, keeps=False):
            connection = stack.enter_context(
                socket.create_connection(('127.0.0.1', cluster.port), patience_s())
            )
            connection.sendall(data)
            if keeps:
                return connection
            answer = b''
            with contextlib.suppress(ConnectionError):
                try:
                    connection.shutdown(socket.SHUT_WR)
                except OSError as error:  # it may have closed the connection already
                    if error.errno != errno.ENOTCONN:
                        raise
                while more := connection.recv(65536):
                    answer += more
            connection.close()
            return answer

        names = b'\0\1n'
        for i in range(count):
            numbers = random.Random(f'{seed} {i}')
            name = bytes(numbers.choices(b'abc\n ', k=numbers.randint(0, 5)))
            good = numbers.choice(
                (
                    b'n',
                    b'd',
                    b'z' + name,
                    b's' + name,
                    struct.pack('>cHBBHHH', b'x', 4000, 77, 0, 6, 5, len(name)) + name + bytes(2),
                )
            )
            request = changed(numbers, struct.pack('>H', len(good)) + good)
            expect(request[2:3] == b'k' or len(asks(request)) < 70000, f'seed {seed} {i}: {request!r}')
        held = [asks(b'\0\7zhal', keeps=True) for _ in range(60)]
        registered = asks(
            struct.pack('>HcHBBHHH', 15, b'x', 4000, 77, 0, 6, 5, 2) + b'me' + bytes(2), keeps=True
        )
        expect(registered.recv(6)[:2] == b'v\0', f'seed {seed}: not registered')
        expect(asks(names)[4:] == b'name me at port 4000\n', f'seed {seed}: names: {asks(names)!r}')
        crowd = [asks(b'\0', keeps=True) for _ in range(100)]
        for connection in held + crowd:
            connection.close()
        expect(
            asks(names)[4:] == b'name me at port 4000\n', f'seed {seed}: names after a crowd: {asks(names)!r}'
        )
        registered.close()
        deadline = time.monotonic() + patience_s()
        while asks(names)[4:]:
            expect(time.monotonic() < deadline, f'seed {seed}: a name of nobody: {asks(names)!r}')
        asks(b'\0\1k', keeps=True).close()
        status, text = node.end()
        expect(status == 0, f'seed {seed}: epmd ended with {status}:', text)
