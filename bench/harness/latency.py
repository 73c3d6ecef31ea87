# SPDX-License-Identifier: Apache-2.0
"""How long messages take under load: percentiles of an open loop, at shares of what the slower machine can
do, so that each has the same to do. bench/latency/load.act is the program, and says what is timed."""
import statistics

from . import BENCH, configurations, consumers, processes, tables

PERCENTILES = ('50', '90', '99', '99.9', '99.99', '100')
SHARES = (10, 50, 80)
TIMEOUT_S = 120
PROGRAM = BENCH / 'latency' / 'load.act'


def rows(session):
    """Configurations: both machines, and ours while all messages are counted by vmtrace."""
    table = session.configurations
    watched = configurations.Configuration(
        'off-watched',
        'messages counted by vmtrace',
        'vmtrace',
        'vmrun',
        family='message',
        consumer=consumers.Vmtrace(consumers.d_clauses('message')),
    )
    return [c for c in (table['off'], table['erl'], watched) if not c.unable(session)]


def printed(session, configuration, arguments):
    machine = session.machine(configuration.machine)
    command = machine.command(PROGRAM, (), [str(word) for word in arguments])
    if configuration.consumer is None:
        return numbers(processes.run(session.pinned(command), TIMEOUT_S))
    with configuration.consumer.watching(command, machine.program, session.folder) as watched:
        return numbers(processes.run(session.pinned(watched.command), TIMEOUT_S))


def numbers(ended):
    if ended.status != 0:
        raise RuntimeError(
            'latency/load.act: '
            + ('no end' if ended.status is None else f'status {ended.status}: {ended.err[-400:]}')
        )
    return [int(word) for word in ended.out.split()]


def measure(session):
    quick = session.options.quick
    seconds, runs = (2, 1) if quick else (10, 3)
    able, shares = rows(session), (50,) if quick else SHARES
    plain = [c for c in able if not c.consumer]
    session.progress.plan('latency', 'capacity', len(plain))
    session.progress.plan('latency', 'load', len(able) * len(shares) * runs)
    capacity = {
        c.name: session.once(
            ['latency', 'capacity', c.name],
            lambda: printed(session, c, ['capacity', 1000]),
            'latency',
            'capacity',
        )[0]
        for c in plain
    }
    session.say(
        '\nlatency of messages under load, microseconds; capacity: '
        + ', '.join(f'{name} {n}/s' for name, n in capacity.items())
    )
    shown = []
    for share in shares:
        rate = max(100, min(capacity.values()) * share // 100)
        shown += [one(session, c, share, rate, seconds, runs) for c in able]
    for line in tables.columns(shown, ['', 'load', *(f'{p} %' for p in PERCENTILES)]):
        session.say('  ' + line)


def one(session, configuration, share, rate, seconds, runs):
    """Each percentile is the median of the runs'."""
    told = [
        session.once(
            ['latency', configuration.name, rate, number, seconds],
            lambda: printed(session, configuration, ['load', rate, seconds * 1000]),
            'latency',
            'load',
        )
        for number in range(runs)
    ]
    percentiles = {p: statistics.median(run[1 + i] for run in told) for i, p in enumerate(PERCENTILES)}
    load = f'{share} % ({rate}/s)'
    session.add(
        'latency',
        [
            {
                'configuration': configuration.name,
                'title': configuration.title,
                'load': load,
                'percentiles_ns': percentiles,
                'samples': sum(run[0] for run in told),
            }
        ],
    )
    return [configuration.title, load, *(f'{ns / 1000:.1f}' for ns in percentiles.values())]
