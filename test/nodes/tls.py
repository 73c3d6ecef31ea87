# SPDX-License-Identifier: Apache-2.0
"""Connections of OTP's inet_tls_dist, with its ssl and crypto as installed, between nodes of ours and of a
stock erl."""
import functools
import pathlib
import shutil
import signal
import subprocess

from harness.results import Skip, Test
from nodes.cluster import Cluster, expect_end

LIBRARIES = pathlib.Path('/usr/lib/erlang/lib')
APPLICATIONS = ('stdlib', 'ssl', 'public_key', 'crypto', 'asn1')
PAIRS = [('vmrun', 'erl'), ('erl', 'vmrun'), ('vmrun', 'vmrun')]


def tests(vmrun):
    return [
        Test('nodes', f'TLS: {a} connects to {b}', functools.partial(connects, vmrun, a, b)) for a, b in PAIRS
    ]


class Secured(Cluster):
    """Where nodes talk TLS."""

    def __enter__(self):
        if any(not list(LIBRARIES.glob(f'{name}-*/ebin')) for name in APPLICATIONS) or not shutil.which(
            'openssl'
        ):
            raise Skip(f'not all of {", ".join(APPLICATIONS)} in {LIBRARIES}, or no openssl')
        super().__enter__()
        certificate, key, options = (
            self.folder / name for name in ('certificate.pem', 'key.pem', 'ssl.conf')
        )
        subprocess.run(
            [
                'openssl',
                'req',
                '-x509',
                '-newkey',
                'rsa:2048',
                '-nodes',
                '-days',
                '2',
                '-subj',
                '/CN=localhost',
                '-keyout',
                str(key),
                '-out',
                str(certificate),
            ],
            check=True,
            capture_output=True,
        )
        options.write_text(
            f'[{{server, [{{certfile, "{certificate}"}}, {{keyfile, "{key}"}}]}}, {{client, [{{verify, '
            f'verify_none}}]}}].'
        )
        # A handshake on a busy machine may take longer than the seven seconds that nodes allow.
        patient = ['-kernel', 'net_setuptime', '120', '-proto_dist', 'inet_tls']
        self.by_file = [*patient, '-ssl_dist_optfile', str(options)]
        self.by_words = [
            *patient,
            '-ssl_dist_opt',
            'server_certfile',
            str(certificate),
            'server_keyfile',
            str(key),
            '-ssl_dist_opt',
            'client_verify',
            'verify_none',
        ]
        return self


def connects(vmrun, first, second):
    with Secured(vmrun) as cluster:
        peer = cluster.peer(second, flags=cluster.by_file)
        node = cluster.evaluate(
            first,
            'one',
            f"""
            Peer = '{peer.full}',
            process_flag(trap_exit, true),
            pong = net_adm:ping(Peer),
            Large = binary:copy(<<"0123456789">>, 200000),
            {{echo, Peer}} ! {{self(), Large}},
            receive {{_, Large}} -> io:format("echoed~n") end,
            {{ok, Address}} = net_kernel:node_info(Peer, address),
            io:format("~p~n", [element(4, Address)]),
            Linked = spawn_link(Peer, timer, sleep, [infinity]),
            true = erlang:disconnect_node(Peer),
            receive {{'EXIT', Linked, Reason}} -> io:format("~p~n", [Reason]) end,
            io:format("~p~n", [net_adm:ping(Peer)]), halt(0)""",
            flags=cluster.by_words,
        )
        expect_end(node, 0, 'echoed', 'tls', 'noconnection', 'pong')
        plain = cluster.evaluate(
            first, 'plain', f"io:format(\"~p~n\", [net_adm:ping('{peer.full}')]), halt(0)"
        )
        expect_end(plain, 0, 'pang')
        peer.process.send_signal(signal.SIGTERM)
        expect_end(peer, 0, 'SIGTERM received')
