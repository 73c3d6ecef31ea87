# SPDX-License-Identifier: Apache-2.0
"""Nodes for tests, of ours and of a stock Erlang: each test has an epmd of its own, a cookie and names that
nobody else has, and all on 127.0.0.1. What was started has ended when the test has."""
import contextlib
import os
import pathlib
import random
import re
import selectors
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from harness import golden
from harness.golden import ENVIRONMENT
from harness.native import compile_library
from harness.results import Failure, Skip

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE_S = 60
slowness = 1  # a factor on it, for stress modes; set once by tests()


def patience_s():
    """How long something may take that is sure to happen."""
    return PATIENCE_S * golden.patience * slowness


PORTS = range(10_000, 32_000)  # the kernel hands out those above by itself
RESERVED = []  # a socket for each port that was given; they are closed when the run ends


def free_port():
    """Returns a port of 127.0.0.1. Nothing that binds port 0 gets it, and no other test of this run, nor of
    another run that goes on at the same time: the abstract name of a socket reserves it."""
    while True:
        port = random.choice(PORTS)
        reserved = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(OSError), socket.socket() as s:
            reserved.bind(f'\0vmrun-test-port-{port}')
            s.bind(('127.0.0.1', port))
            RESERVED.append(reserved)
            return port
        reserved.close()


COMPILED, COMPILING = [], threading.Lock()


def compiled_modules():
    """The folder of the modules and the driver that tests share: compiled once, by the first test."""
    with COMPILING:
        if not COMPILED:
            folder = tempfile.TemporaryDirectory(prefix='vmrun-nodes-')
            subprocess.run(
                ['erlc', '-o', folder.name, *map(str, HERE.glob('*.erl'))], check=True, env=ENVIRONMENT
            )
            compile_library(
                HERE.parent.parent / 'vm/include',
                HERE / 'plain_drv.c',
                pathlib.Path(folder.name) / 'plain_drv.so',
            )
            COMPILED.append(folder)
        return COMPILED[0].name


class Node:
    """A process that is a node, or a program about nodes. `full` is its name with host."""

    def __init__(self, cluster, name, command, terminal=None, at=None, **more):
        self.cluster, self.name, self.terminal = cluster, name, None
        self.full = f'{name}@{at.address if at else cluster.host}'
        command = [*(at.inside if at else []), *command]
        files = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT}
        if terminal:
            self.terminal, other_end = os.openpty()
            files = dict.fromkeys(files, other_end)
        self.process = subprocess.Popen(
            command,
            **files,
            cwd=cluster.folder,
            env=dict(cluster.environment, **more),
            start_new_session=True,
        )
        if terminal:
            os.close(other_end)
        self.text = ''

    def output(self):
        return self.terminal if self.terminal is not None else self.process.stdout.fileno()

    def wait_for(self, part, seconds=None):
        """Until the output has the text; what came so far."""
        seconds = seconds or patience_s()
        deadline = time.monotonic() + seconds
        with selectors.DefaultSelector() as ready:
            ready.register(self.output(), selectors.EVENT_READ)
            while part not in self.text:
                if not ready.select(max(0, deadline - time.monotonic())):
                    raise Failure(
                        f'{self.name} did not say {part!r} within {seconds} s, but:\n{self.text[-3000:]}'
                    )
                some = os.read(self.output(), 65536).decode(errors='replace')
                if not some:
                    raise Failure(
                        f'{self.name} ended ({self.process.wait()}) without {part!r}:\n{self.text[-3000:]}'
                    )
                self.text += some
        return self.text

    def end(self, seconds=None):
        """Its status and all its output, when it has ended by itself."""
        seconds = seconds or patience_s()
        try:
            out, _ = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired as expired:
            self.kill()
            rest = ((expired.output or b'') + self.process.stdout.read()).decode(errors='replace')
            raise Failure(
                f'{self.name} has not ended after {seconds} s; it said:\n{(self.text + rest)[-3000:]}'
            ) from None
        self.text += out.decode(errors='replace')
        return self.process.returncode, self.text

    def type(self, line):
        os.write(self.terminal, f'{line}\n'.encode())

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.terminal is not None:
            os.close(self.terminal)
            self.terminal = None


class Cluster:
    """with Cluster(vmrun) as c: c.peer('ours'), c.peer('erl')..."""

    def __init__(self, vmrun, epmd=True, host='localhost'):
        self.vmrun = os.path.abspath(vmrun)
        self.cookie = f'cookie{os.getpid()}_{os.urandom(4).hex()}'
        self.port = free_port()
        self.host = host  # an address: nodes with long names
        self.started = []
        self.has_epmd = epmd

    def __enter__(self):
        if not shutil.which('erlc'):
            raise Skip('no stock erl here')
        self.temporary = tempfile.TemporaryDirectory(prefix='vmrun-nodes-')
        self.folder = pathlib.Path(self.temporary.name)
        self.environment = dict(
            ENVIRONMENT,
            ERL_EPMD_PORT=str(self.port),
            ERL_EPMD_ADDRESS='127.0.0.1',
            HOME=str(self.folder),
            PATIENCE_S=str(int(patience_s()) // 3),
        )
        shutil.copytree(compiled_modules(), self.folder, dirs_exist_ok=True)
        if self.has_epmd:
            self.run_epmd()
        return self

    def __exit__(self, *_):
        for node in reversed(self.started):
            node.kill()
        self.temporary.cleanup()

    def run_epmd(self):
        self.start('epmd', ['epmd'])
        self.wait_for_epmd()

    def wait_for_epmd(self):
        deadline = time.monotonic() + patience_s()
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', self.port)):
                return
        raise Failure('epmd does not answer')

    def start(self, name, command, **more):
        node = Node(self, name, command, **more)
        self.started.append(node)
        return node

    def start_on_terminal(self, name, command):
        return self.start(name, command, terminal=True)

    def flags(self, name, cookie=None, named=True, at=None):
        host = at.address if at else self.host
        return (
            []
            if not named
            else ['-name' if ':' in host or '.' in host else '-sname', f'{name}@{host}']
            + (['-setcookie', cookie or self.cookie] if cookie != '' else [])
        )

    def ours(self, name, program, *arguments, flags=(), cookie=None, named=True, at=None, **more):
        """vmrun with a compiled module of the folder, at a place in a network if one is given."""
        return self.start(
            name,
            [
                self.vmrun,
                *self.flags(name, cookie, named, at),
                '-pa',
                str(self.folder),
                *flags,
                str(self.folder / f'{program}.beam'),
                *arguments,
            ],
            at=at,
            **more,
        )

    def command(self, kind):
        """What starts OTP's own system: a stock erl, or vmrun under the name erl."""
        if kind == 'erl':
            return 'erl'
        link = self.folder / 'bin/erl'
        link.parent.mkdir(exist_ok=True)
        if not link.exists():
            link.symlink_to(self.vmrun)
        return str(link)

    def system(self, name, program, *arguments, **more):
        """OTP's own system, run by vmrun."""
        return self.erl(name, program, *arguments, command=self.command('system'), **more)

    def erl(
        self, name, program, *arguments, flags=(), cookie=None, named=True, at=None, command='erl', **more
    ):
        return self.start(
            name,
            [
                command,
                '-noinput',
                *self.flags(name, cookie, named, at),
                '-pa',
                str(self.folder),
                *flags,
                '-eval',
                f'{program}:start().',
                '-extra',
                *arguments,
            ],
            at=at,
            **more,
        )

    def node(self, kind, name, program, *arguments, **more):
        return {'vmrun': self.ours, 'system': self.system, 'erl': self.erl}[kind](
            name, program, *arguments, **more
        )

    def peer(self, kind, name='peer', **more):
        """A node that serves until it is stopped."""
        node = self.node(kind, name, 'other_node', **more)
        node.wait_for('ready')
        return node

    def evaluate(self, kind, name, text, *, arguments=(), **more):
        """A node that runs an expression list; `halt` at its end is its own."""
        module = f'm_{name}'
        (self.folder / f'{module}.erl').write_text(
            f'-module({module}).\n-export([main/1, start/0]).\nstart() -> main([]).\nmain(_) ->\n{text}.\n'
        )
        subprocess.run(['erlc', f'{module}.erl'], cwd=self.folder, check=True, env=ENVIRONMENT)
        return self.node(kind, name, module, *arguments, **more)


def expect(condition, what, *texts):
    if not condition:
        raise Failure('\n'.join([what, *map(str, texts)]))


def expect_end(node, status, *parts):
    """That a program ended so, and said these things (regular expressions) in this order."""
    got, text = node.end()
    at = 0
    for part in parts:
        found = re.compile(part).search(text, at)
        expect(found, f'{node.name} lacks {part!r} (status {got}):', text)
        at = found.end()
    expect(got == status, f'{node.name} ended with {got}, not {status}:', text)
    return text
