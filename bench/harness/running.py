# SPDX-License-Identifier: Apache-2.0
"""Runs of workloads under several configurations, one after the other again and again, so that what else the
machine does meets them all alike; what the first run of each takes is kept apart."""
import re
import statistics

from . import intervals, processes

TIMEOUT_S = 60
MORE = 2  # so many times the runs at most, while a ratio is noisy


class Runs:
    """Those of a workload under a configuration."""

    def __init__(self, workload, configuration):
        self.workload, self.configuration = workload, configuration
        self.warmup, self.times, self.firings, self.failed, self.result = [], [], None, None, None

    @property
    def alive(self):
        return self.failed is None

    def take(self, run, warmup):
        self.failed = run.get('failed')
        if self.alive:
            self.result = run['result']
            self.firings = run['firings'] if run['firings'] is not None else self.firings
            (self.warmup if warmup else self.times).append(run['us'])

    def row(self):
        return {
            'workload': self.workload.name,
            'configuration': self.configuration.name,
            'times_us': self.times,
            'warmup_us': self.warmup,
            'firings': self.firings,
            'failed': self.failed,
        }


def run_once(session, workload, configuration):
    """One run: {us, result, firings}, or {failed: why}."""
    machine = session.machine(configuration.machine)
    try:
        size = 'small' if configuration.small else session.size
        command = machine.command(workload.path, configuration.flags, workload.arguments(size))
        if configuration.consumer is None:
            return measured(session, command)
        with configuration.consumer.watching(command, machine.program, session.folder) as watched:
            run = measured(session, watched.command)
            return run if 'failed' in run else {**run, 'firings': watched.firings()}
    except (RuntimeError, OSError, ValueError) as error:
        return {'failed': str(error)[:500]}


def measured(session, command):
    """What a workload prints: {us, result}, or {failed: why}."""
    timeout_s = session.seconds_at_most(TIMEOUT_S)
    ended = processes.run(session.pinned(command), timeout_s)
    line = re.search(r'^(\d+) (.*)$', ended.out, re.M)
    if ended.status is None:
        return {'failed': f'no end after {timeout_s:.0f} s'}
    if ended.status != 0:
        return {'failed': f'status {ended.status}: {(ended.err.strip() or ended.out.strip())[-400:]}'}
    if not line:
        return {'failed': f'printed no time: {(ended.out + ended.err).strip()[-300:]!r}'}
    return {'us': max(int(line[1]), 1), 'result': line[2].strip(), 'firings': None}


def of_workload(session, workload, configurations):
    """{configuration's name: Runs}, with warm-up, in turns."""
    runs = {c.name: Runs(workload, c) for c in configurations}

    def turn(number, names):
        for name in names:
            if session.out_of_time():
                session.left_out.append(f'{workload.name} {name}')
                continue
            of = runs[name]
            run = session.once(
                ['run', workload.name, name, number],
                lambda: run_once(session, workload, of.configuration),
                'run',
                f'{workload.name} {name}',
            )
            of.take(run, warmup=number == 0)
            if not of.alive:
                session.progress.give_up('run', f'{workload.name} {name}')

    turn(0, list(runs))
    refuse_other_results(runs)
    for number in range(1, session.options.runs + 1):
        turn(number, rotated([name for name, of in runs.items() if of.alive], number))
    for number in range(session.options.runs + 1, MORE * session.options.runs + 1):
        # What is noisy gets more runs, and so does what it is compared with.
        noisy = {
            name
            for of in comparisons(runs)
            if of[2].noisy
            for name in (of[0].configuration.name, of[1].configuration.name)
        }
        if not noisy or session.options.quick:
            break
        turn(number, rotated([name for name in runs if name in noisy], number))
    return runs


def rotated(names, number):
    """Each turn begins with another, so that none always comes after the same."""
    first = number % len(names) if names else 0
    return names[first:] + names[:first]


def refuse_other_results(runs):
    """The result of a workload at a size is the same everywhere."""
    first = {}
    for of in runs.values():
        if of.result is not None:
            expected = first.setdefault(of.configuration.small, of)
            if of.result != expected.result:
                of.failed = (
                    f'result {of.result[:80]}, but {expected.result[:80]} with '
                    f'{expected.configuration.name}'
                )


def comparisons(runs):
    """[(runs, runs of the base, ratio)] of all that have a base which ran too."""
    found = []
    for of in runs.values():
        base = runs.get(of.configuration.base)
        if base and of.alive and base.alive and of.times and base.times:
            found.append((of, base, intervals.ratio(of.times, base.times)))
    return found


def ratio_row(of, base, ratio):
    """ns_per_firing: what each firing adds, where they were counted."""
    more_us = statistics.median(of.times) - statistics.median(base.times)
    return {
        'workload': of.workload.name,
        'configuration': of.configuration.name,
        'base': base.configuration.name,
        'median': ratio.median,
        'low': ratio.low,
        'high': ratio.high,
        'noisy': ratio.noisy,
        'ns_per_firing': more_us * 1000 / of.firings if of.firings and not ratio.noisy else None,
    }


def record(session, runs):
    """Puts the figures of a workload into the results; returns the rows of ratios by the configuration's
    name."""
    session.add('runs', [of.row() for of in runs.values()])
    rows = [ratio_row(*comparison) for comparison in comparisons(runs)]
    session.add('ratios', rows)
    return {row['configuration']: row for row in rows}


def plan(session, workload, configurations):
    for c in configurations:
        session.progress.plan('run', f'{workload.name} {c.name}', 1 + session.options.runs)
