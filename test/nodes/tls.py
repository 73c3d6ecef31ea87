"""Connections of OTP's inet_tls_dist, with its ssl and crypto as installed, to a stock node that has the same."""
import functools
import pathlib
import shutil
import subprocess

from harness.results import Skip, Test
from nodes.cluster import Cluster, expect_end

LIBRARIES = pathlib.Path('/usr/lib/erlang/lib')
APPLICATIONS = ('stdlib', 'ssl', 'public_key', 'crypto', 'asn1')


def tests(vmrun):
    return [Test('nodes', 'TLS: vmrun connects to erl', functools.partial(connects, vmrun))]


def connects(vmrun):
    ebins = [ebin for name in APPLICATIONS for ebin in LIBRARIES.glob(f'{name}-*/ebin')]
    if len(ebins) < len(APPLICATIONS) or not shutil.which('openssl'):
        raise Skip(f'not all of {", ".join(APPLICATIONS)} in {LIBRARIES}, or no openssl')
    with Cluster(vmrun) as cluster:
        certificate, key, options = (cluster.folder / name for name in ('certificate.pem', 'key.pem', 'ssl.conf'))
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-keyout', str(key), '-out',
                        str(certificate)], check=True, capture_output=True)
        options.write_text(f'[{{server, [{{certfile, "{certificate}"}}, {{keyfile, "{key}"}}]}}, {{client, [{{verify, verify_none}}]}}].')
        flags = ['-proto_dist', 'inet_tls', '-ssl_dist_optfile', str(options)]
        peer = cluster.peer('erl', flags=flags)
        node = cluster.evaluate('vmrun', 'one', f"""
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
            io:format("~p~n", [net_adm:ping(Peer)]), halt(0)""", flags=[*flags, *(part for ebin in ebins for part in ('-pa', str(ebin)))])
        expect_end(node, 0, 'echoed', 'tls', 'noconnection', 'pong')
