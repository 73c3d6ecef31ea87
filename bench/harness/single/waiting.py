# SPDX-License-Identifier: Apache-2.0
"""Processor time of a waiting machine, per second."""
import os
import pathlib
import subprocess
import time

from . import keep, pair, shown
from .. import BENCH
from harness import golden

SECONDS = 5


def measure(session):
    used = {
        name: session.once(['waiting', name], lambda: waiting(machine), 'waiting', name)
        for name, machine in pair(session)
    }
    session.say(f'\nwaiting, processor time per second: {shown(used, "{:.3f}")}; wanted about 0')
    keep(session, 'waiting_cpu_per_second', used)


def cpu_seconds(pid):
    fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def waiting(machine):
    with subprocess.Popen(
        machine.command(BENCH / 'waiting.act'),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=golden.ENVIRONMENT,
    ) as process:
        process.stdout.readline()
        time.sleep(1)
        before = cpu_seconds(process.pid)
        time.sleep(SECONDS)
        used = (cpu_seconds(process.pid) - before) / SECONDS
        process.communicate('\n')
    return used
