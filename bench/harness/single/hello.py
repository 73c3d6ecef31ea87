# SPDX-License-Identifier: Apache-2.0
"""Start to finish of a program that prints one line."""
import statistics
import subprocess
import time

from . import keep, pair, shown
from .. import BENCH, running
from harness import golden

LEAST_RUNS = 11


def measure(session):
    machines, taken = pair(session), {}
    for number in range(max(session.options.runs, LEAST_RUNS)):
        if session.out_of_time() and number > 2:
            break
        for name, machine in running.rotated(machines, number):
            ms = session.once(
                ['hello', name, number], lambda: start_to_finish(session, machine), 'hello', name
            )
            taken.setdefault(name, []).append(ms)
    medians = {name: statistics.median(values) for name, values in taken.items()}
    session.say(f'\nhello, start to finish: {shown(medians, "{:.1f} ms")}; wanted 5 ms')
    keep(session, 'hello_ms', medians)


def start_to_finish(session, machine):
    command = session.pinned(machine.command(BENCH / 'hello.act'))
    start = time.perf_counter()
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True, env=golden.ENVIRONMENT)
    return (time.perf_counter() - start) * 1000
