# SPDX-License-Identifier: Apache-2.0
"""One scheduler against several, on every workload that gains from them."""
import os
import statistics

from . import running

WANTED_EFFICIENCY = 0.95


def steps(cores):
    """1 to 8 one by one, then in doubles, and all of them."""
    return sorted({n for n in [*range(1, 9), 16, 32, 64, 128, 256] if n <= cores} | {cores})


def row_of(workload, schedulers, times, times_of_one):
    speedup = statistics.median(times_of_one) / statistics.median(times)
    return {
        'workload': workload.name,
        'schedulers': schedulers,
        'times_us': times,
        'speedup': speedup,
        'efficiency': speedup / schedulers,
    }


def run(session, workload, schedulers):
    arguments = workload.arguments(session.size)
    return running.measured(session, session.vmrun.command(workload.path, ['+S', str(schedulers)], arguments))


def cores(session):
    return len(os.sched_getaffinity(0)) if not session.options.pin else len(pinned_cores(session.options.pin))


def pinned_cores(text):
    """Reads a list such as 0,2-4."""
    found = set()
    for part in text.split(','):
        first, _, last = part.partition('-')
        found |= set(range(int(first), int(last or first) + 1))
    return found


def measure(session, workloads):
    counts = steps(cores(session))
    if len(counts) == 1:
        session.say('\nscaling: there is one core only')
        session.results['scaling_unable'] = 'there is one core only'
        return
    workloads = [w for w in workloads if w.parallel]
    for workload in workloads:
        session.progress.plan('scaling', workload.name, len(counts) * (1 + session.options.runs))
    session.say(
        f'\n{"schedulers":<32}'
        + ''.join(f'{n:>8}' for n in counts)
        + f'   times as fast as one; wanted an efficiency of {WANTED_EFFICIENCY}'
    )
    for workload in workloads:
        measure_one(session, workload, counts)


def measure_one(session, workload, counts):
    times = {n: [] for n in counts}
    for number in range(session.options.runs + 1):
        for n in running.rotated(counts, number):
            if session.out_of_time():
                session.left_out.append(f'{workload.name} with {n} schedulers')
                continue
            told = session.once(
                ['scaling', workload.name, n, number],
                lambda: run(session, workload, n),
                'scaling',
                workload.name,
            )
            if 'failed' in told:
                session.say(f'{workload.name:<32} failed with {n} schedulers: {told["failed"][:200]}')
                session.progress.give_up('scaling', workload.name)
                return
            if number > 0:
                times[n].append(told['us'])
    if all(times.values()):
        rows = [row_of(workload, n, times[n], times[1]) for n in counts]
        session.add('scaling', rows)
        session.say(f'{workload.name:<32}' + ''.join(f'{row["speedup"]:>8.2f}' for row in rows))
