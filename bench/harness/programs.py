# SPDX-License-Identifier: Apache-2.0
"""Workloads against a stock erl, against probes compiled out, or against another commit."""
from . import intervals, running, tables

# Parts of erl's time that are wanted, and those reached at the least.
WANTED = {
    'sequential': (1.5, 2.0),
    'actors': (0.35, 1.0),
    'savina': (0.35, 1.0),
    'files': (1.0, 1.0),
    'ports': (1.0, 1.0),
    'sockets': (0.8, 1.0),
    'native': (1.0, 1.0),
    'faults': (1.5, 2.0),
}


def measure(session, workloads, configurations):
    """configurations: those that can run here, bases before what is compared with them."""
    for workload in workloads:
        running.plan(session, workload, configurations)
    kinds = {}
    for workload in workloads:
        kinds.setdefault(workload.kind, []).append(workload)
    for kind, members in kinds.items():
        session.say(f'\n{kind:<30}' + heads(session))
        inverse = []
        for workload in members:
            runs = running.of_workload(session, workload, configurations)
            rows = running.record(session, runs)
            session.say(line(session, workload, runs, rows))
            for of in runs.values():
                if not of.alive:
                    session.say(f'  {of.configuration.name} failed: {tables.shortened(of.failed, 300)}')
            if 'erl' in rows and not rows['erl']['noisy']:
                inverse.append(1 / rows['erl']['median'])
            if session.options.baseline:
                judge(session, workload, runs)
        if inverse:
            wanted = f'; wanted {WANTED[kind][0]}, at the least {WANTED[kind][1]}' if kind in WANTED else ''
            session.say(
                f'{"geometric mean":<30}{"":>12}{"":>12}   {intervals.geometric_mean(inverse):.2f} of '
                f'{len(inverse)} of {len(members)}{wanted}'
            )
    if session.options.baseline:
        summary(session)


def heads(session):
    if session.options.baseline:
        return f'{"this ms":>12}{"that ms":>12}   this / that          verdict'
    return f'{"vmrun ms":>12}{"erl ms":>12}   vmrun / erl'


def line(session, workload, runs, rows):
    def times(name):
        return tables.ms(runs[name].times) if name in runs else '-'

    if session.options.baseline:
        compared = comparison(runs)
        shown = f'{interval_of(compared):<20} {intervals.verdict(compared)}' if compared else 'failed'
        return f'{workload.name:<30}{times("off"):>12}{times("baseline"):>12}   {shown}'
    shown = tables.interval(rows['erl'], inverse=True) if 'erl' in rows else ''
    if 'off' in rows and not rows['off']['noisy']:
        shown = f'{shown:<20} against compiled out {tables.interval(rows["off"])}'
    return f'{workload.name:<30}{times("off"):>12}{times("erl"):>12}   {shown}'


def comparison(runs):
    """This commit's time as times of the other's, or None."""
    of, base = runs.get('off'), runs.get('baseline')
    return (
        intervals.ratio(of.times, base.times)
        if of and base and of.times and base.times and of.alive and base.alive
        else None
    )


def interval_of(ratio):
    return tables.interval(
        {'median': ratio.median, 'low': ratio.low, 'high': ratio.high, 'noisy': ratio.noisy}
    )


def judge(session, workload, runs):
    compared = comparison(runs)
    if compared:
        session.add(
            'verdicts',
            [
                {
                    'workload': workload.name,
                    'verdict': intervals.verdict(compared),
                    'median': compared.median,
                    'low': compared.low,
                    'high': compared.high,
                }
            ],
        )


def summary(session):
    verdicts = [row['verdict'] for row in session.results.get('verdicts', [])]
    counted = ', '.join(
        f'{verdicts.count(v)} {v}' for v in ('faster', 'slower', 'same', 'noisy') if v in verdicts
    )
    session.say(f'\nagainst {session.options.baseline}: {counted or "nothing could be compared"}')
