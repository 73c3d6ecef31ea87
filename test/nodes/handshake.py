# SPDX-License-Identifier: Apache-2.0
"""The handshake, word by word: scripted peers, in both roles, against a node of ours and a stock
one, which have to say the same."""
import contextlib
import functools
import os
import socket
import struct
import time

from harness.results import Test
from nodes.cluster import Cluster, expect, patience_s
from nodes.fake_node import ALL_FLAGS, FLAGS, FakeNode, atom, binary, small_tuple

CURRENT = ALL_FLAGS & ~FLAGS['DIST_HDR_ATOM_CACHE']
NAME_ME = 1 << 33
LOWER, UPPER = 2**32 - 1, 32


def tests(vmrun):
    return [
        Test('nodes', f'the handshake: {name}: {kind}', functools.partial(run, vmrun, kind, function))
        for name, function in (
            ('a peer connects', accepted),
            ('it connects to a peer', dialed),
            ('both at once', crossed),
        )
        for kind in ('vmrun', 'erl')
    ]


class Speaker(FakeNode):
    """One side of a handshake, said step by step. `hears` turns what the node says into words."""

    def __init__(self, port, cookie, name, flags=CURRENT, connection=None):
        if connection is None:
            super().__init__(port, cookie, name, flags, timeout=patience_s())
        else:
            self.name, self.cookie, self.flags, self.creation, self.socket = (
                name,
                cookie,
                flags,
                7,
                connection,
            )
            connection.settimeout(patience_s())
        self.challenge = self.own = None  # of the other side; of this one, when it has sent it

    def send_name_5(self):
        self.send_message(b'n' + struct.pack('>HI', 5, self.flags & LOWER) + self.name.encode())

    def send_complement(self):
        self.send_message(b'c' + struct.pack('>II', self.flags >> UPPER, self.creation))

    def send_reply(self, cookie=None):
        self.own = int.from_bytes(os.urandom(4), 'big')
        self.cookie = cookie or self.cookie
        self.send_message(b'r' + struct.pack('>I', self.own) + self.digest(self.challenge))

    def send_status(self, status):
        self.send_message(b's' + status.encode())

    def send_challenge(self, name=None):
        self.own = int.from_bytes(os.urandom(4), 'big')
        name = (name or self.name).encode()
        self.send_message(b'N' + struct.pack('>QIIH', self.flags, self.own, self.creation, len(name)) + name)

    def send_ack(self, right=True):
        self.send_message(b'a' + (self.digest(self.challenge) if right else bytes(16)))

    def hears(self, *expected):
        for words in expected:
            said = self.words()
            expect(said == words, f'{self.name} heard {said!r}, not {words!r}')

    def ends(self):
        """That the connection, which was up, is closed."""
        try:
            while True:
                self.receive()
        except ConnectionError:
            pass

    def words(self):
        try:
            message = self.receive_message()
        except TimeoutError:
            return 'nothing'
        except OSError:
            return 'the end'
        kind, rest = message[:1], message[1:]
        return {
            b's': self.status,
            b'N': self.name_or_challenge,
            b'r': self.reply,
            b'a': lambda r: 'right ack' if r == self.digest(self.own) else 'wrong ack',
        }.get(kind, repr)(rest)

    @staticmethod
    def status(rest):
        if not rest.startswith(b'named:'):
            return rest.decode()
        size = struct.unpack('>H', rest[6:8])[0]
        return (
            f'named, {"with" if len(rest) == 8 + size + 4 else "without"} a creation, at '
            f'{rest[8:8 + size].decode().split("@")[1]}'
        )

    def name_or_challenge(self, rest):
        if self.own is None and struct.unpack('>H', rest[12:14])[0] == len(rest) - 14:
            self.flags_there = struct.unpack('>Q', rest[:8])[0]
            return f'name {rest[14:].decode()}'
        self.flags_there, self.challenge, _, size = struct.unpack('>QIIH', rest[:18])
        return f'challenge {rest[18:18 + size].decode()}'

    def reply(self, rest):
        self.challenge = struct.unpack('>I', rest[:4])[0]
        return 'right reply' if rest[4:] == self.digest(self.own) else 'wrong reply'


class Scene:
    """The node, and who comes to it. By one connection it is told what to do: `ask`. setup_s: how long it
    waits for others."""

    def __init__(self, cluster, kind, setup_s=60):
        self.cluster, self.kind, self.open = cluster, kind, []
        self.node = cluster.evaluate(
            kind,
            'node',
            """
            register(told, self()), io:format("ready~n"),
            (fun Serve() ->
                     receive
                         {From, connect, Name} ->
                             spawn(fun() -> From ! net_kernel:connect_node(binary_to_atom(Name)) end);
                         {From, alone} ->
                             _ = [erlang:disconnect_node(Node) || Node <- nodes(connected),
                                 Node =/= node(From)],
                             Count = length(processes()) + length(erlang:ports()),
                             From ! list_to_atom(integer_to_list(Count));
                         {From, allow, Name} -> From ! net_kernel:allow([binary_to_atom(Name)]);
                         {From, state, Name} ->
                             From ! case net_kernel:node_info(binary_to_atom(Name), state) of
                                        {ok, State} -> State;
                                        {error, _} -> none
                                    end
                     end,
                     Serve()
             end)()""",
            flags=['-kernel', 'net_setuptime', str(setup_s)],
        )
        self.node.wait_for('ready')
        self.port = self.epmd(b'znode')[1]
        self.teller = self.peer('teller').shake_hands()

    def peer(self, name, flags=CURRENT):
        return self.kept(Speaker(self.port, self.cluster.cookie, f'{name}@localhost', flags))

    def kept(self, speaker):
        self.open.append(speaker.socket)
        return speaker

    def epmd(self, request):
        """Its answer's second byte and the number behind, and the connection, on which a name depends."""
        connection = socket.create_connection(('127.0.0.1', self.cluster.port), patience_s())
        self.open.append(connection)
        connection.sendall(struct.pack('>H', len(request)) + request)
        answer = connection.recv(1000)
        return answer[1], int.from_bytes(answer[2:4], 'big'), connection

    @contextlib.contextmanager
    def listening(self, name):
        """As a node that others can find; gives a function that waits for one to come."""
        with socket.create_server(('127.0.0.1', 0)) as server:
            server.settimeout(patience_s())
            request = (
                struct.pack('>HBBHHH', server.getsockname()[1], 77, 0, 6, 5, len(name))
                + name.encode()
                + bytes(2)
            )
            refused, _, registered = self.epmd(b'x' + request)
            expect(not refused, f'epmd refuses the name {name}')
            yield lambda kind=Speaker: self.kept(
                kind(0, self.cluster.cookie, f'{name}@localhost', connection=server.accept()[0])
            )
            registered.close()

    def tell(self, what, name):
        teller = self.teller
        teller.send_to_name(
            'told', small_tuple(teller.pid(), atom(what), binary(f'{name}@localhost'.encode()))
        )

    def answer(self):
        packet = self.teller.receive()
        return packet[packet.rindex(b'w') + 2 :].decode()

    def ask(self, what, name):
        self.tell(what, name)
        return self.answer()

    def expect(self, what, name, wanted):
        got = self.ask(what, name)
        expect(got == wanted, f'{what} {name}: {got}, not {wanted}')

    def becomes(self, state, name):
        """That net_kernel soon knows: it hears of a connection, and of its end, after the other side."""
        deadline = time.monotonic() + patience_s()
        while (got := self.ask('state', name)) != state:
            expect(time.monotonic() < deadline, f'{name} is {got}, not {state}')

    def end(self):
        for connection in self.open:
            connection.close()


def run(vmrun, kind, function):
    with Cluster(vmrun) as cluster, contextlib.ExitStack() as stack:
        scene = Scene(cluster, kind)
        stack.callback(scene.end)
        function(scene)


OK, CHALLENGE = 'ok', 'challenge node@localhost'


def goes_on(peer, *expected):
    peer.hears(*expected)
    peer.send_reply()
    peer.hears('right ack')


def accepted(scene):
    def comes(name, flags=CURRENT):
        peer = scene.peer(name, flags)
        peer.send_name()
        return peer

    goes_on(comes('current'), OK, CHALLENGE)
    scene.becomes('up', 'current')
    # One flag stands for what OTP 25 demands; the others are demanded since 26.
    since_26 = FLAGS['V4_NC'] | FLAGS['UNLINK_ID']
    goes_on(comes('digest', FLAGS['MANDATORY_25_DIGEST'] | since_26), OK, CHALLENGE)
    comes('lacking', CURRENT & ~FLAGS['UTF8_ATOMS'] & ~FLAGS['MANDATORY_25_DIGEST']).hears(
        'not_allowed', 'the end'
    )
    nameless = scene.peer('', CURRENT | NAME_ME)
    nameless.name = 'localhost'
    nameless.send_name()
    nameless.hears('named, with a creation, at localhost', CHALLENGE)
    wrong = comes('wrong')
    wrong.hears(OK, CHALLENGE)
    wrong.send_reply('another')
    wrong.hears('the end')
    scene.becomes('none', 'wrong')
    twice(scene, comes)
    scene.expect('allow', 'friend', 'ok')
    comes('foe').hears('not_allowed', 'the end')
    goes_on(comes('friend'), OK, CHALLENGE)
    scene.expect('connect', 'foe', 'false')


def twice(scene, comes):
    """A node that is known already: as connected, and as connecting."""
    first = comes('again')
    goes_on(first, OK, CHALLENGE)
    scene.becomes('up', 'again')
    liar = comes('again')
    liar.hears('alive')
    liar.send_status('false')
    liar.hears('the end')
    scene.becomes('up', 'again')
    thief = comes('again')
    thief.hears('alive')
    thief.send_status('true')
    thief.hears(CHALLENGE)
    thief.send_reply('another')
    thief.hears('the end')
    scene.becomes('up', 'again')
    anew = comes('again')
    anew.hears('alive')
    anew.send_status('true')
    goes_on(anew, CHALLENGE)
    first.ends()
    scene.becomes('up', 'again')

    for name, greater in (('a_lesser', False), ('z_greater', True)):
        slow = comes(name)
        slow.hears(OK, CHALLENGE)
        fast = comes(name)
        if greater:
            goes_on(fast, 'ok_simultaneous', CHALLENGE)
            slow.hears('the end')
        else:
            fast.hears('nok', 'the end')
            slow.send_reply()
            slow.hears('right ack')
        scene.becomes('up', name)


def dialed(scene):
    def comes_to(name):
        with scene.listening(name) as wait:
            scene.tell('connect', name)
            peer = wait()
            peer.hears('name node@localhost')
            return peer

    def ends(peer):
        peer.hears('the end')
        expect(scene.answer() == 'false', f'connected to {peer.name}')

    def accepts(peer, status='ok'):
        peer.send_status(status)
        peer.send_challenge()
        peer.hears('right reply')

    def up(peer):
        peer.send_ack()
        expect(scene.answer() == 'true', f'not connected to {peer.name}')

    for status in ('ok', 'ok_simultaneous'):
        peer = comes_to(status)
        accepts(peer, status)
        up(peer)
    alive = comes_to('alive')
    alive.send_status('alive')
    alive.hears('true')
    alive.send_challenge()
    alive.hears('right reply')
    up(alive)
    for status in ('not_allowed', 'nonsense', 'named:\0\1x'):
        peer = comes_to(status.partition(':')[0])
        peer.send_status(status)
        ends(peer)
    for name, said in (
        ('empty', lambda p: p.send_message(b'')),
        ('bare', lambda p: p.send_message(b's')),
        ('long', lambda p: p.send_message(b'sok' + bytes(300))),
        ('early', lambda p: p.send_challenge()),
    ):
        # A name of its own: epmd forgets one only when it sees that the connection has ended.
        peer = comes_to(name)
        said(peer)
        ends(peer)
    peer = comes_to('other')
    peer.send_status('ok')
    peer.send_challenge('another@localhost')
    ends(peer)
    peer = comes_to('lacking')
    peer.flags = CURRENT & ~FLAGS['UTF8_ATOMS'] & ~FLAGS['MANDATORY_25_DIGEST']
    peer.send_status('ok')
    peer.send_challenge()
    ends(peer)
    peer = comes_to('wrong')
    accepts(peer)
    peer.send_ack(False)
    ends(peer)
    peer = comes_to('gone')
    accepts(peer)
    peer.socket.shutdown(socket.SHUT_RDWR)
    expect(scene.answer() == 'false', 'connected to who has gone')


def crossed(scene):
    """The peer's connection comes while the node's own is at its name: that of the greater name goes on."""
    for name, greater in (('a_lesser', False), ('z_greater', True)):
        with scene.listening(name) as wait:
            scene.tell('connect', name)
            its = wait()
            its.hears('name node@localhost')
            ours = scene.peer(name)
            ours.send_name()
            if greater:
                goes_on(ours, 'ok_simultaneous', CHALLENGE)
                its.hears('the end')
            else:
                ours.hears('nok', 'the end')
                its.send_status('ok')
                its.send_challenge()
                its.hears('right reply')
                its.send_ack()
            expect(scene.answer() == 'true', f'not connected to {name}')
            scene.becomes('up', name)

    # It refuses the node's connection with nok, as its own is under way: the node waits for that.
    with scene.listening('zz') as wait:
        scene.tell('connect', 'zz')
        its = wait()
        its.hears('name node@localhost')
        its.send_status('nok')
        ours = scene.peer('zz')
        ours.send_name()
        goes_on(ours, 'ok_simultaneous', CHALLENGE)
        its.hears('the end')
        expect(scene.answer() == 'true', 'not connected after nok')
