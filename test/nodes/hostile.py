# SPDX-License-Identifier: Apache-2.0
"""A node that keeps to no rule: garbage in place of the handshake, wrong cookies, packets that are none,
floods, and no reading. A node of ours closes such a connection, says why, and goes on serving others."""
import contextlib
import os
import random
import select
import struct
import time

from harness.results import Failure, Test
from nodes.cluster import Cluster, free_port, patience_s
from nodes.fake_node import ALL_FLAGS, FLAGS, FakeNode, Refused, atom, binary, header, integer, small_tuple

NO_CACHE = ALL_FLAGS & ~FLAGS['DIST_HDR_ATOM_CACHE']


def tests(vmrun):
    tests = [
        Test(
            'nodes',
            'a hostile node: it asks and does not read',
            lambda: attack(vmrun, greedy_asker, flags=['+zdbbl', '64']),
        )
    ]
    return tests + [
        Test('nodes', f'a hostile node: {name}', lambda function=function: attack(vmrun, function))
        for name, function in (
            ('its handshake is garbage', handshakes),
            ('it does not know the cookie', cookies),
            ('its packets are none', packets),
            ('its large messages are no terms', large),
            ('its messages to who does not look are no terms', unseen),
            ('its packets do not end', lengths),
            ('it makes atoms', atoms),
            ('it begins messages', sequences),
            ('its control messages are odd', controls),
            ('it does not read', slow_reader),
        )
    ]


class Attacked:
    """A node of ours that listens at a known port."""

    def __init__(self, cluster, flags=()):
        self.port, self.cookie = free_port(), cluster.cookie
        self.node = cluster.evaluate(
            'vmrun',
            'attacked',
            '''
            Flood = fun Flood(To, B) -> To ! B, Flood(To, B) end,
            Serve = fun Serve() ->
                            receive
                                {From, ping} -> From ! pong;
                                {From, victim} -> From ! spawn(fun Victim() -> receive _ -> Victim() end end);
                                {From, sleeper} ->
                                    Sleeper = spawn(fun() -> receive stop -> ok end end),
                                    erlang:suspend_process(Sleeper),
                                    From ! Sleeper;
                                {_, wake, Sleeper} -> erlang:resume_process(Sleeper);
                                {From, count, Pid} -> From ! element(2, process_info(Pid, message_queue_len));
                                {From, look, Pid} -> From ! process_info(Pid, [message_queue_len, messages]);
                                {From, flood} -> [spawn(fun() -> Flood(From, binary:copy(<<I>>, 1000000)) end)
                                    || I <- lists:seq(1, 20)];
                                _ -> ok
                            end,
                            Serve()
                    end,
            register(attacked, self()), io:format("ready~n"), Serve()''',
            flags=[*flags, '+t', '20000', '-start_epmd', 'false', '-erl_epmd_port', str(self.port)],
        )
        self.node.wait_for('ready')

    def connection(self, name, flags=ALL_FLAGS):
        return FakeNode(self.port, self.cookie, name, flags, timeout=patience_s()).shake_hands()

    def again(self, name):
        """The node may not have noticed yet that the last one is gone: it answers that the name is in use,
        or, as OTP does while it still waits for a word on that, closes."""
        deadline = time.monotonic() + patience_s()
        while True:
            may_try_again = time.monotonic() < deadline and self.node.process.poll() is None
            with contextlib.suppress(Refused, ConnectionError) if may_try_again else contextlib.nullcontext():
                return self.connection(name, NO_CACHE)

    def good_connection(self):
        return self.again('good@localhost')

    def victim(self, by, kind='victim'):
        """A process of the node, as a term."""
        by.send_to_name('attacked', small_tuple(by.pid(), atom(kind)))
        packet = by.receive()
        return packet[-(len(by.peer) + 15) :]

    def still_serves(self):
        good = self.good_connection()
        good.send_to_name('attacked', small_tuple(good.pid(), atom('ping')))
        if b'pong' not in good.receive():
            raise Failure('the node answers something else')
        good.close()

    def closes(self, bad, reason):
        """That the connection ends, for this reason."""
        deadline = time.monotonic() + patience_s()  # its ticks go on
        try:
            while time.monotonic() < deadline:
                bad.receive()
            raise TimeoutError
        except TimeoutError:
            raise Failure(f'the connection is still open; wanted: {reason}') from None
        except OSError:
            pass
        bad.close()
        self.node.wait_for(reason)

    def resident_mb(self, which='VmRSS'):
        with open(f'/proc/{self.node.process.pid}/status', encoding='ascii') as status:
            return next(int(line.split()[1]) // 1024 for line in status if line.startswith(which))


def attack(vmrun, function, flags=()):
    with Cluster(vmrun, epmd=False) as cluster:
        attacked = Attacked(cluster, flags)
        try:
            attacked.still_serves()
            function(attacked)
            attacked.still_serves()
        except OSError as error:
            attacked.node.kill()
            raise Failure(
                f'{error!r} after the node said:\n'
                + (attacked.node.text + attacked.node.process.stdout.read().decode(errors='replace'))[-3000:]
            ) from error


def handshakes(attacked):
    names = ['', 'noat', '@', 'a@', 'x' * 300 + '@h', 'a\0b@h', 'ä@ö']
    for i in range(60):
        bad = FakeNode(attacked.port, attacked.cookie, f'g{i}@localhost', timeout=patience_s())
        try:
            if i % 6 == 0:
                bad.socket.sendall(os.urandom(1 + i * 3))
            elif i % 6 == 1:
                bad.socket.sendall(struct.pack('>H', 65535) + os.urandom(100))
            elif i % 6 == 2:
                bad.send_message(b'')
            elif i % 6 == 3:
                bad.send_message(b'N' + os.urandom(i))
            elif i % 6 == 4:
                bad.send_name()
                bad.receive_message()
                bad.receive_message()
                bad.send_message(b'r' + os.urandom(i))
            else:
                bad.name = names[i // 6 % len(names)]
                bad.send_name()
        except OSError:
            pass
        bad.close()


def cookies(attacked):
    for cookie in ('', 'wrong', attacked.cookie + '\0', 'x' * 1000):
        try:
            FakeNode(attacked.port, cookie, 'thief@localhost', timeout=patience_s()).shake_hands()
        except (Refused, OSError):
            continue
        raise Failure(f'{cookie!r} is taken for the cookie')


OTHER = atom('other@localhost')
PID = b'X' + OTHER + struct.pack('>III', 1, 0, 7)


def spawn_request(arity, arguments):
    reference = b'Z\0\1' + OTHER + struct.pack('>II', 7, 1)
    return (
        small_tuple(
            integer(29), reference, PID, PID, small_tuple(atom('erlang'), atom('node'), integer(arity)), b'j'
        )
        + arguments
    )


def packets(attacked):
    whole, control = header(), small_tuple(integer(6), PID, atom(''), atom('attacked'))
    for i, (packet, reason) in enumerate(
        (
            (b'\0', 'ends in the middle of its header'),
            (b'p\x83h\0', 'does not begin with 131'),
            (b'\x83Z', 'an unknown kind of packet'),
            (b'\x83D\1', 'ends in the middle of its header'),
            (whole, 'ends in the middle of a term'),
            (whole + integer(1), 'is no tuple'),
            (whole + small_tuple(integer(99)), 'control message'),
            (whole + small_tuple(), 'control message'),
            (whole + spawn_request(-1, integer(1)), 'control message'),
            (whole + spawn_request(-1, b'l\0\0\0\1a\1a\2'), 'control message'),
            (
                whole + small_tuple(integer(6), atom('nobody'), atom(''), atom('attacked')) + atom('ping'),
                'control message',
            ),
            (whole + b'i\xff\xff\xff\xff', 'ends in the middle|more elements than data'),
            (whole + b'X' * 100000, 'an atom was expected'),
            (whole + control + b'\xff', 'an unknown tag'),
            (b'\x83F' + bytes(16), 'a message that has not begun'),
            (b'\x83E' + bytes(17), 'the number 0'),
            (b'\x83D\xff' + b'\x88' * 128 + b'\1\1\xff' * 255, 'not UTF-8'),
        )
    ):
        bad = attacked.connection(f'p{i}@localhost')
        bad.send(packet)
        attacked.closes(bad, f"'p{i}@localhost' is closed: bad data (")
        said = attacked.node.text.rsplit('bad data (', 1)[1].split('): <<')[0]
        if not any(part in said for part in reason.split('|')):
            raise Failure(f'{packet[:20]!r}: {said}, not {reason}')


def unseen(attacked):
    """Nobody looks at a message of a process that is suspended, so it does no harm until the process goes on,
    or is asked for its messages."""
    for name, look in ('wakes', 'wake'), ('looks', 'look'):
        bad = attacked.connection(f'{name}@localhost', NO_CACHE)
        sleeper = attacked.victim(bad, 'sleeper')
        for payload in b'\xff', atom('good'), b'l\0\0\0\1':
            bad.send(header() + small_tuple(integer(2), atom(''), sleeper) + payload)
        bad.send_to_name('attacked', small_tuple(bad.pid(), atom('count'), sleeper))
        answer = bad.receive()
        if not answer.endswith(integer(3)):
            raise Failure(f'it is not three messages that are there: {answer!r}')
        bad.send_to_name('attacked', small_tuple(bad.pid(), atom(look), sleeper))
        attacked.closes(bad, f"'{name}@localhost' is closed: bad data (")
        good = attacked.good_connection()
        good.send_to_name('attacked', small_tuple(good.pid(), atom('count'), sleeper))
        answer = good.receive()
        if not answer.endswith(integer(1)):
            raise Failure(f'it is not one message that is left: {answer!r}')
        good.close()


def large(attacked):
    """Those that become terms in the time of their receiver, which is none the worse for it."""
    numbers = b'l' + struct.pack('>I', 100000) + integer(1) * 99999
    for i, (payload, reason) in enumerate(
        (
            (numbers + b'\xffj', 'an unknown tag'),
            (numbers + integer(1), 'ends in the middle of a term'),
            (numbers + integer(1) + b'jj', "bytes behind the message's last term"),
        )
    ):
        bad = attacked.connection(f'b{i}@localhost')
        bad.send_to_name('attacked', numbers + integer(1) + b'j')
        bad.send_to_name('attacked', small_tuple(bad.pid(), atom('ping')))
        if b'pong' not in bad.receive():
            raise Failure('the node answers something else')
        bad.send_to_name('attacked', payload)
        attacked.closes(bad, f"'b{i}@localhost' is closed: bad data ({reason})")


# Each operation has the kinds of the elements behind its number (Odd.element), in capitals if a payload comes
# with it.
OPERATIONS = {
    1: 'fl',
    2: 'XL',
    3: 'flx',
    4: 'fl',
    6: 'FXN',
    7: 'fl',
    8: 'flx',
    12: 'XLT',
    13: 'fltx',
    16: 'FXNT',
    18: 'fltx',
    19: 'fwr',
    20: 'fwr',
    21: 'wlrx',
    22: 'FL',
    23: 'FLT',
    24: 'FL',
    25: 'FLT',
    26: 'FL',
    27: 'FLT',
    28: 'WLR',
    29: 'RFFMO',
    30: 'RFFMOT',
    31: 'rlif',
    32: 'rlift',
    33: 'FR',
    34: 'FRT',
    35: 'ifl',
    36: 'ifl',
    37: 'GFDT',
}


class Odd:
    """Control messages with elements that mostly are of the right kind, and seldom fit what there is."""

    def __init__(self, peer, victims, seed):
        self.random, self.victims = random.Random(seed), victims
        self.pids = [peer.pid(n) for n in (0, 1, 2, 0xFFFFFFF)]
        self.references = [peer.reference(1, 2, n) for n in range(3)] + [
            peer.reference(*[1] * n) for n in (1, 5)
        ]

    def list_of(self, elements):
        return b'l' + struct.pack('>I', len(elements)) + b''.join(elements) + b'j' if elements else b'j'

    def term(self, depth=2):
        r = self.random
        kinds = [
            *self.victims,
            *self.pids,
            *self.references,
            atom(''),
            atom('kill'),
            integer(0),
            integer(-1),
            integer(2**31 - 1),
            binary(b'x' * 100),
            b'j',
            b'n\x08\0' + bytes([255] * 8),
        ]
        if depth:
            some = [self.term(depth - 1) for _ in range(r.randrange(4))]
            kinds += [small_tuple(*some), self.list_of(some)] * 4
        return r.choice(kinds)

    def element(self, kind):
        r = self.random
        if r.randrange(100) == 0:
            return self.term()
        if kind == 'm':
            return small_tuple(atom('erlang'), atom(r.choice(['is_atom', 'exit', 'nothing'])), integer(1))
        if kind == 't':
            return small_tuple(
                integer(r.randrange(32)), integer(7), integer(r.randrange(9)), r.choice(self.pids), integer(0)
            )
        if kind == 'o':
            return self.list_of(
                [
                    r.choice(
                        [
                            atom('link'),
                            atom('monitor'),
                            small_tuple(atom('priority'), atom('high')),
                            self.term(),
                        ]
                    )
                    for _ in range(r.randrange(3))
                ]
            )
        return r.choice(
            {
                'f': self.pids,
                'l': [*self.victims, r.choice(self.pids)],
                'r': self.references,
                'i': [integer(n) for n in (0, 1, 3, -1)],
                'n': [atom('attacked'), atom('nobody')],
                'w': [*self.victims, atom('attacked'), atom('nobody')],
                'g': [integer(n) for n in range(32)] + [integer(-1), b'n\x09\0' + bytes([20] * 9)],
                'd': [*self.victims, *self.references, atom('attacked'), atom('nobody')],
            }.get(kind)
            or [self.term()]
        )

    def packet(self):
        number = (
            self.random.choice(list(OPERATIONS)) if self.random.randrange(500) else self.random.randrange(256)
        )
        kinds = OPERATIONS.get(number, 'xxx')
        payload = b'' if kinds.islower() else self.list_of([self.term()]) if 'M' in kinds else self.term(3)
        return (
            header() + small_tuple(integer(number), *[self.element(kind) for kind in kinds.lower()]) + payload
        )


def controls(attacked, seed=1):
    """They are taken for what they say, or end the connection. Nobody suffers but the processes that they are
    for."""
    for i in range(20):
        bad = attacked.again('odd@localhost')
        odd = Odd(bad, [attacked.victim(bad) for _ in range(3)], seed * 1000 + i)
        with contextlib.suppress(OSError):
            for _ in range(300):
                bad.send(odd.packet())
            bad.send_to_name('attacked', small_tuple(bad.pid(), atom('ping')))
            while b'pong' not in bad.receive():
                pass
        bad.close()
        if attacked.node.process.poll() is not None:
            raise Failure(
                f'the node has ended: {attacked.node.process.returncode}; seed {seed}, connection {i}'
            )


def lengths(attacked):
    for i, length in enumerate((0xFFFFFFF0, 0x7FFFFFF0, 1 << 26)):
        bad = attacked.connection(f'l{i}@localhost')
        bad.socket.sendall(struct.pack('>I', length) + header())
        attacked.still_serves()
        bad.close()


def atoms(attacked):
    bad = attacked.connection('atoms@localhost')
    message = small_tuple(integer(6), bad.pid(), atom(''), atom('attacked')) + integer(1)
    try:
        for i in range(200):
            entries = b''.join(bytes([n, 8]) + b'%08x' % (i * 255 + n) for n in range(255))
            bad.send(b'\x83D\xff' + b'\x88' * 128 + entries + message)
    except OSError:
        pass
    attacked.closes(bad, 'the atom table is full')


def sequences(attacked):
    bad = attacked.connection('open@localhost')
    message = b'\0' + small_tuple(integer(6), bad.pid(), atom(''), atom('attacked')) + b'm\0\0'
    try:
        for i in range(70000):
            bad.send(b'\x83E' + struct.pack('>QQ', i, 2**63) + message)
    except OSError:
        pass
    attacked.closes(bad, 'too many messages in fragments at once')


def slow_reader(attacked):
    """What would go to it waits with its senders; the node grows by no more than the queue of one connection
    and what it copies."""
    bad = attacked.connection('slow@localhost')
    before = attacked.resident_mb()
    bad.send_to_name('attacked', small_tuple(bad.pid(), atom('flood')))
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        attacked.still_serves()
        if attacked.resident_mb() > before + 300:
            raise Failure(f'{attacked.resident_mb()} MB, {before} MB before')
    bad.close()


def greedy_asker(attacked):
    """Each request has an answer, which nobody suspends: the node reads no more of them when it owes many,
    and goes on when they are taken. In time all are answered."""
    requests = 1000000
    bad = attacked.connection('greedy@localhost')
    before = attacked.resident_mb()
    request = header() + small_tuple(integer(19), bad.pid(), atom('nobody'), bad.reference(1, 2, 3))
    many = (struct.pack('>I', len(request)) + request) * 1000
    sent, all_sent, answers, rest, reads = 0, requests // 1000 * len(many), 0, b'', False
    bad.socket.setblocking(False)
    while answers < requests:
        may_read, may_write, _ = select.select(
            [bad.socket] if reads else [],
            [bad.socket] if sent < all_sent else [],
            [],
            patience_s() if reads else 1,
        )
        if may_write:
            sent += bad.socket.send(many[sent % len(many) :])
        elif not reads:
            attacked.still_serves()
            reads = True  # all is sent, or the node takes no more, or is slow
        elif not may_read:
            raise Failure(f'{answers} answers to {requests} requests')
        if may_read:
            rest += bad.socket.recv(1 << 20)
            at = 0
            while len(rest) - at >= 4 and len(rest) - at >= 4 + (
                size := struct.unpack_from('>I', rest, at)[0]
            ):
                at += 4 + size
                answers += size > 0
            rest = rest[at:]
    grown = attacked.resident_mb('VmHWM') - before
    if grown > 50:
        raise Failure(f'it has grown by {grown} MB')
    bad.close()
