# SPDX-License-Identifier: Apache-2.0
"""A program that vmtrace starts in place of a machine. It gives vmtrace the list of probes of FOLDER/probes,
and keeps the program that vmtrace sends in FOLDER/program."""
import os
import pathlib
import socket
import struct
import sys

HELLO, PROBES, PROGRAM = 1, 2, 3


def received(connection, size):
    return connection.recv(size, socket.MSG_WAITALL)


def main(folder):
    with socket.socket(fileno=int(os.environ['VMRUN_TRACE_FD'])) as connection:
        while head := received(connection, 8):
            kind, size = struct.unpack('<II', head)
            body = received(connection, size) if size else b''
            if kind == HELLO:
                probes = (folder / 'probes').read_bytes()
                connection.sendall(struct.pack('<II', PROBES, len(probes)) + probes)
            elif kind == PROGRAM:
                (folder / 'program').write_bytes(body)
                return


main(pathlib.Path(sys.argv[1]))
