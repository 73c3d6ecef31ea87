# SPDX-License-Identifier: Apache-2.0
"""Our part of a firing of some probes: semaphores are raised by hand, so all is done but the tracer's
trap."""
import os
import pathlib
import statistics
import subprocess

from . import keep
from .. import BENCH, families
from harness import golden

LEAST_RUNS = 9
# How often firing.act makes a probe fire for each message.
FIRINGS = {
    'message__send': 1,
    'message__queued': 1,
    'message__receive': 1,
    'copy__struct': 1,
    'local__function__entry': 3,
    'function__return': 1,
}


def load_address(pid, vmrun):
    """What is added to addresses of the file: where its first page is mapped."""
    path = os.path.realpath(vmrun)
    for line in pathlib.Path(f'/proc/{pid}/maps').read_text().splitlines():
        fields = line.split()
        if fields[-1] == path and int(fields[2], 16) == 0:
            return int(fields[0].split('-')[0], 16)
    raise RuntimeError(f'{path} is not mapped')


def cpu_ns(pid):
    """Time on a processor, of all threads: what others do at the same time does not count."""
    return sum(
        int((task / 'schedstat').read_text().split()[0])
        for task in pathlib.Path(f'/proc/{pid}/task').iterdir()
    )


class Messages:
    """The program firing.act, which sends messages when it is told to."""

    def __init__(self, process, vmrun):
        self.process, self.offsets = process, families.semaphore_addresses(vmrun)
        process.stdout.readline()
        self.base = load_address(process.pid, vmrun)

    def ns(self, probe=None):
        """Returns the time of a message; with a probe: while its semaphore is raised."""
        with open(f'/proc/{self.process.pid}/mem', 'wb', buffering=0) as memory:

            def raise_to(value):
                if probe:
                    os.pwrite(memory.fileno(), value.to_bytes(2, 'little'), self.base + self.offsets[probe])

            raise_to(1)
            before = cpu_ns(self.process.pid)
            self.process.stdin.write('go\n')
            self.process.stdin.flush()
            messages = int(self.process.stdout.readline())
            ns = (cpu_ns(self.process.pid) - before) / messages
            raise_to(0)
            return ns


def firings_ns(session):
    runs = max(session.options.runs, LEAST_RUNS)
    with subprocess.Popen(
        session.vmrun.command(BENCH / 'firing.act', ['+S', '1']),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=golden.ENVIRONMENT,
    ) as process:
        messages = Messages(process, session.vmrun.path)
        rows = {
            probe: statistics.median(messages.ns(probe) - messages.ns() for _ in range(runs)) / count
            for probe, count in FIRINGS.items()
        }
        process.communicate('end\n')
    return rows


def measure(session):
    rows = session.once(['firing'], lambda: firings_ns(session), 'firing')
    session.say(
        '\nour part of a firing, without the trap of a tracer: '
        + ', '.join(f'{name} {ns:.0f} ns' for name, ns in rows.items())
        + '; wanted 60 ns'
    )
    keep(session, 'firing_ns', rows)
