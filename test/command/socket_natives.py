# SPDX-License-Identifier: Apache-2.0
"""Native functions that prim_socket and prim_net have since OTP 27, called by modules of these names."""
import os
import pathlib
import socket
import subprocess

from harness.golden import ENVIRONMENT
from harness.results import Failure, Skip, Test

from .suite import PATIENCE_S

HERE = pathlib.Path(__file__).resolve().parent / 'natives'
SOCKETS = '''socket 1 true
ip 0 true
ipv6 41 true
tcp 6 true
udp 17 true
sctp 132 true
timeout timeout
true
<<"to">> [trunc]
ok
[{invalid,addr},{invalid,iov},{invalid,iov}]
{error,emsgsize}
{ok,[{1,0}]}
[{ok,true},{ok,true},{ok,true},{ok,1}]
badarg
[error,error]
<<"one, two">>
timeout
{timeout,<<"abc">>}
3000
{invalid,iov}
select
{error,closed}
'''


def output(vmrun, *arguments):
    done = subprocess.run(
        [os.path.abspath(vmrun), '-pa', str(HERE), str(HERE / 'socket_natives.act'), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=ENVIRONMENT,
    )
    if done.returncode:
        raise Failure(f'status {done.returncode}, {done.stdout}\n{done.stderr}')
    return done.stdout


def sockets(vmrun):
    seen = output(vmrun, 'sockets')
    if seen != SOCKETS:
        raise Failure(f'{seen}\n--- expected\n{SOCKETS}')


def services(vmrun):
    try:
        name, port = 'domain', socket.getservbyname('domain', 'tcp')
    except OSError:
        raise Skip('the system has no list of services') from None
    wanted = f'{{ok,{port}}}\n{{ok,"{name}"}}\n[{{error,einval}},{{error,einval}},{{error,einval}}]\n'
    seen = output(vmrun, 'services', name, str(port))
    if seen != wanted:
        raise Failure(f'{seen}\n--- expected\n{wanted}')


def tests(vmrun):
    return [
        Test('command', "prim_socket's natives", lambda: sockets(vmrun)),
        Test('command', "prim_net's services", lambda: services(vmrun)),
    ]
