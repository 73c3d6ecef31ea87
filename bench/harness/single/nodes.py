# SPDX-License-Identifier: Apache-2.0
"""A message there and back between two nodes, processes spawned, messages of three sizes: two nodes of vmrun
against two of the other machine, as many schedulers each as there are processors."""
import contextlib
import socket
import subprocess
import time

from . import keep, pair
from .. import BENCH, intervals, processes, tables
from harness import golden

# What a run of nodes/client.act measures, and the part of the other's time that is wanted; throughput 1.2
# times that of the other.
MEASURED = {'ping_pong': 0.8, 'spawn': 1.0, '16_bytes': 1 / 1.2, '1_kb': 1 / 1.2, '1_mb': 1 / 1.2}


@contextlib.contextmanager
def epmd_of_its_own():
    """The environment of nodes that are found by an epmd which nobody else uses."""
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        address = s.getsockname()
    environment = dict(golden.ENVIRONMENT, ERL_EPMD_PORT=str(address[1]), ERL_EPMD_ADDRESS=address[0])
    with subprocess.Popen(['epmd'], env=environment) as epmd:
        try:
            for wait_s in [0.01] * 500:
                with contextlib.suppress(ConnectionRefusedError), socket.create_connection(address):
                    break
                time.sleep(wait_s)
            yield environment
        finally:
            epmd.terminate()


@contextlib.contextmanager
def ended_after(command, says, environment):
    """A program that has said something, and that ends when its standard input does."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        if (line := process.stdout.readline().strip()) != says:
            raise RuntimeError(f'{" ".join(command)}: said {line!r}, not {says!r}')
        yield


def between_nodes(machine, environment):
    """{measurement: [microseconds, result]} between two nodes of a machine."""

    def command(name):
        return machine.command(
            BENCH / 'nodes' / f'{name}.act', ['-sname', f'{name}@localhost', '-setcookie', 'bench']
        )

    with ended_after(command('server'), 'ready', environment):
        ended = processes.run(command('client'), 120, environment)
    if ended.status != 0:
        raise RuntimeError(f'nodes/client.act: status {ended.status}\n{ended.err[-800:]}')
    return {
        name: [int(micros), result]
        for name, micros, result in (line.split(' ', 2) for line in ended.out.splitlines())
    }


def measure(session):
    machines, runs = pair(session), {}
    with epmd_of_its_own() as environment:
        for number in range(session.options.runs):
            for name, machine in machines:
                told = session.once(
                    ['nodes', name, number], lambda: between_nodes(machine, environment), 'nodes', name
                )
                runs.setdefault(name, []).append(told)
    rows, figures = [], {}
    for what, wanted in MEASURED.items():
        if len(results := {run[what][1] for of_one in runs.values() for run in of_one}) != 1:
            raise RuntimeError(f'{what}: results differ: {results}')
        times = {name: [run[what][0] for run in of_one] for name, of_one in runs.items()}
        figures[what] = {'times_us': times, 'wanted': wanted}
        rows.append([what, *map(tables.ms, times.values()), part(times, figures[what]), f'{wanted:.2f}'])
    session.say('')
    for line in tables.columns(rows, ['nodes', *(f'{name} ms' for name in runs), 'ratio', 'wanted']):
        session.say(line)
    keep(session, 'nodes', figures)


def part(times, figure):
    if len(times) < 2:
        return '-'
    ours, theirs = times.values()
    ratio = intervals.ratio(ours, theirs)
    figure.update(median=ratio.median, low=ratio.low, high=ratio.high, noisy=ratio.noisy)
    return tables.interval(figure)
