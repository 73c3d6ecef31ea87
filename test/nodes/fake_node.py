# SPDX-License-Identifier: Apache-2.0
"""Pretends to be a node of the Erlang distribution protocol: it shakes hands as a hidden node and then sends
and receives packets as they are. For capturing what a stock node sends, and for sending what no honest node
would."""
import hashlib
import os
import socket
import struct

FLAGS = {
    name: 1 << bit
    for bit, name in {
        2: 'EXTENDED_REFERENCES',
        3: 'DIST_MONITOR',
        4: 'FUN_TAGS',
        5: 'DIST_MONITOR_NAME',
        7: 'NEW_FUN_TAGS',
        8: 'EXTENDED_PIDS_PORTS',
        9: 'EXPORT_PTR_TAG',
        10: 'BIT_BINARIES',
        11: 'NEW_FLOATS',
        13: 'DIST_HDR_ATOM_CACHE',
        14: 'SMALL_ATOM_TAGS',
        16: 'UTF8_ATOMS',
        17: 'MAP_TAG',
        18: 'BIG_CREATION',
        19: 'SEND_SENDER',
        20: 'BIG_SEQTRACE_LABELS',
        22: 'EXIT_PAYLOAD',
        23: 'FRAGMENTS',
        24: 'HANDSHAKE_23',
        25: 'UNLINK_ID',
        26: 'MANDATORY_25_DIGEST',
        32: 'SPAWN',
        34: 'V4_NC',
        35: 'ALIAS',
        37: 'ALTACT_SIG',
    }.items()
}
ALL_FLAGS = sum(FLAGS.values())


class Refused(Exception):
    """What the other node said in place of going on with the handshake."""


class FakeNode:
    """One connection, made by us. Packets are bytes without their length."""

    def __init__(self, port, cookie, name='fake@127.0.0.1', flags=ALL_FLAGS, creation=7, timeout=20):
        self.name, self.cookie, self.flags, self.creation = name, cookie, flags, creation
        self.socket = socket.create_connection(('127.0.0.1', port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    # The handshake: messages with a length of two bytes.
    def send_message(self, message):
        self.socket.sendall(struct.pack('>H', len(message)) + message)

    def receive_message(self):
        return self.exactly(struct.unpack('>H', self.exactly(2))[0])

    def send_name(self):
        name = self.name.encode()
        self.send_message(b'N' + struct.pack('>QIH', self.flags, self.creation, len(name)) + name)

    def shake_hands(self):
        self.send_name()
        status = self.receive_message()
        if status not in (b'sok', b'sok_simultaneous'):
            raise Refused(status)
        challenge = self.receive_message()
        self.peer_flags, theirs, self.peer_creation, size = struct.unpack('>QIIH', challenge[1:19])
        self.peer = challenge[19 : 19 + size].decode()
        ours = struct.unpack('>I', os.urandom(4))[0]
        self.send_message(b'r' + struct.pack('>I', ours) + self.digest(theirs))
        answer = self.receive_message()
        if answer != b'a' + self.digest(ours):
            raise Refused(answer)
        return self

    def digest(self, challenge):
        return hashlib.md5((self.cookie + str(challenge)).encode()).digest()

    # Packets: a length of four bytes.
    def send(self, packet):
        self.socket.sendall(struct.pack('>I', len(packet)) + packet)

    def receive(self):
        """The next packet that is no tick, which is answered."""
        while True:
            packet = self.exactly(struct.unpack('>I', self.exactly(4))[0])
            if packet:
                return packet
            self.send(b'')

    def exactly(self, size):
        data = bytearray()
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise ConnectionError('closed by the other node')
            data += more
        return bytes(data)

    def close(self):
        self.socket.close()

    # Terms, as far as control messages need them; without a version byte.
    def pid(self, number=1, serial=0):
        return b'X' + atom(self.name) + struct.pack('>III', number, serial, self.creation)

    def reference(self, *numbers):
        return (
            b'Z'
            + struct.pack('>H', len(numbers))
            + atom(self.name)
            + struct.pack('>I', self.creation)
            + b''.join(struct.pack('>I', n) for n in numbers)
        )

    def send_to_name(self, name, payload):
        """{Name, Node} ! Payload, without an atom cache in use."""
        self.send(header() + small_tuple(integer(6), self.pid(), atom(''), atom(name)) + payload)


def header():
    """Returns the bytes of a whole message without atoms."""
    return bytes([131, 68, 0])


def atom(text):
    data = text.encode()
    return bytes([119, len(data)]) + data


def integer(value):
    return bytes([97, value]) if 0 <= value < 256 else b'b' + struct.pack('>i', value)


def small_tuple(*elements):
    return bytes([104, len(elements)]) + b''.join(elements)


def binary(data):
    return b'm' + struct.pack('>I', len(data)) + data
