# SPDX-License-Identifier: Apache-2.0
"""Hosts with a switch between them, for nodes that lose each other: a network namespace for each, made by the
test. Nothing outside them changes, and they are gone with the processes that hold them, which end with the
test in whatever manner that ends."""
import contextlib
import os
import shutil
import subprocess

from harness.results import Failure, Skip


class Host:
    """One place in the network; `inside` is what comes before a command that runs there."""

    def __init__(self, number, holder, user):
        self.number, self.holder, self.address, self.port = (
            number,
            holder,
            f'10.77.0.{number + 1}',
            f'port{number}',
        )
        self.inside = ['nsenter', '--target', str(holder.pid), '--net', *user]


class Network:
    """with Network(2) as n: cluster.peer('erl', at=n[0])... n.part([0], [1]), n.join(), n.slow(0, '4mbit')"""

    def __init__(self, hosts):
        self.count, self.holders = hosts, []

    def __enter__(self):
        lacking = [tool for tool in ('unshare', 'nsenter', 'ip', 'tc') if not shutil.which(tool)]
        if lacking:
            raise Skip(f'no {lacking[0]} here, to make a network')
        switch = self.hold(['--user', '--map-root-user'] if os.geteuid() else [])
        self.user = ['--user', '--preserve-credentials'] if os.geteuid() else []
        self.switch = ['nsenter', '--target', str(switch.pid), '--net', *self.user]
        self.hosts = [Host(i, self.hold([], self.switch), self.user) for i in range(self.count)]
        for bridge in range(self.count):
            self.ip('link', 'add', f'bridge{bridge}', 'type', 'bridge')
            self.ip('link', 'set', f'bridge{bridge}', 'up')
        for host in self.hosts:
            self.ip(
                'link',
                'add',
                host.port,
                'type',
                'veth',
                'peer',
                'name',
                'eth0',
                'netns',
                str(host.holder.pid),
            )
            self.ip('link', 'set', host.port, 'up')
            for command in ('link set lo up', 'link set eth0 up', f'address add {host.address}/24 dev eth0'):
                self.run([*host.inside, 'ip', *command.split()])
        self.join()
        return self

    def __exit__(self, *_):
        for holder in self.holders:
            holder.stdin.close()
            holder.stdout.close()
            holder.wait()

    def __getitem__(self, number):
        return self.hosts[number]

    def hold(self, kinds, before=()):
        """A process in a new namespace, which ends when its input does."""
        command = [*before, 'unshare', '--net', *kinds, 'sh', '-c', 'echo there; exec cat']
        holder = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.holders.append(holder)
        said = holder.stdout.readline()
        if said != 'there\n':
            self.__exit__()
            raise Skip(f'no network namespaces here: {said.strip()}')
        return holder

    @staticmethod
    def run(command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failure(f'{" ".join(command)}: {done.stdout}{done.stderr}')

    def ip(self, *arguments):
        self.run([*self.switch, 'ip', *arguments])

    def part(self, *groups):
        """Hosts reach those of their own group only. Their own interfaces stay up: nobody is told."""
        for bridge, group in enumerate(groups):
            for number in group:
                self.ip('link', 'set', self[number].port, 'master', f'bridge{bridge}')

    def join(self):
        self.part(range(self.count))

    def slow(self, number, rate):
        """What goes to this host, and what comes from it."""
        for place, device in ((self.switch, self[number].port), (self[number].inside, 'eth0')):
            self.run(
                [
                    *place,
                    'tc',
                    'qdisc',
                    'replace',
                    'dev',
                    device,
                    'root',
                    'tbf',
                    'rate',
                    rate,
                    'burst',
                    '16kb',
                    'latency',
                    '200ms',
                ]
            )

    @contextlib.contextmanager
    def deaf(self, number):
        """What goes to this host is lost on the way; what comes from it is not."""
        self.run([*self.switch, 'tc', 'qdisc', 'replace', 'dev', self[number].port, 'root', 'blackhole'])
        yield
        self.run([*self.switch, 'tc', 'qdisc', 'del', 'dev', self[number].port, 'root'])
