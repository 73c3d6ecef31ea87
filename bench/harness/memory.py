# SPDX-License-Identifier: Apache-2.0
"""Resident memory of an idle process, of a message in a mailbox, of a connection: as the kernel says, with
many of them there."""
import os
import pathlib
import resource
import subprocess
import time

from . import BENCH
from .single import pair
from harness import golden

# How many there are.
MEASURED = {
    'idle process': ('processes', 100_000),
    'message of 6 words': ('messages', 500_000),
    'connection': ('connections', 2_000),
}
WANTED = {'idle process': 1024}


def resident_bytes(pid):
    pages = int(pathlib.Path(f'/proc/{pid}/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGE_SIZE')


def settled_bytes(pid):
    """Once it is the same twice: what is given back late is given back."""
    before = None
    for _ in range(50):
        now = resident_bytes(pid)
        if now == before:
            break
        before = now
        time.sleep(0.1)
    return now


def of_one(machine, what, count):
    """Bytes of one of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    command = machine.command(BENCH / 'memory' / 'resident.act', (), [what, str(count)])
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=golden.ENVIRONMENT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard)),
    ) as process:
        for line in process.stdout:
            if line.strip() == 'rss?':
                process.stdin.write(f'{settled_bytes(process.pid)}\n')
                process.stdin.flush()
            elif line.strip():
                size = int(line.split()[0])
    if process.returncode != 0:
        raise RuntimeError(f'memory/resident.act {what}: status {process.returncode}')
    return size


def measure(session, only=None):
    chosen = {what: how for what, how in MEASURED.items() if not only or what == only}
    machines = pair(session)
    for what in chosen:
        session.progress.plan('memory', what, len(machines))
    session.say('\nmemory, resident bytes of one')
    for what, (word, count) in chosen.items():
        count = count // 5 if session.options.quick else count
        told = {
            name: session.once(
                ['memory', what, count, name], lambda: of_one(machine, word, count), 'memory', what
            )
            for name, machine in machines
        }
        wanted = f'; wanted {WANTED[what]}' if what in WANTED else ''
        session.say(
            f'  {what:<20} '
            + ', '.join(f'{name} {size}' for name, size in told.items())
            + f'  (of {count}){wanted}'
        )
        session.add('memory', [{'what': what, 'vmrun_bytes': told['vmrun'], 'erl_bytes': told.get('erl')}])
