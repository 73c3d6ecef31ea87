# SPDX-License-Identifier: Apache-2.0
"""What watching the messages and switches of ping_pong costs, by vmtrace and, at a smaller size, by
bpftrace."""
from . import keep
from .. import configurations, consumers, running, tables

WATCHED = ('message-send', 'message-queued', 'message-receive', 'process-scheduled', 'process-unscheduled')
PROGRAM = 'actors/ping_pong'


def rows():
    """Configurations of this measurement only: five probes of two families."""

    def vmtrace(name, title, key):
        clause = ', '.join(WATCHED) + f' {{ @[{key}] = count(); }}'
        return configurations.Configuration(
            name, title, 'vmtrace', 'vmrun', base='off-1', schedulers=1, consumer=consumers.Vmtrace(clause)
        )

    return [
        vmtrace('five-counted', 'vmtrace, counted', 'probename'),
        vmtrace('five-texts', 'vmtrace, by arg0', 'copyinstr(arg0)'),
    ]


def measure(session):
    workload = next(w for w in session.workloads if w.name == PROGRAM)
    wanted = [session.configurations['off-1'], *rows()]
    if why := next((why for c in wanted if (why := c.unable(session))), None):
        session.say(f'\nvmtrace: {why}')
        return
    running.plan(session, workload, wanted)
    runs = running.of_workload(session, workload, wanted)
    figures = {
        of.configuration.title: running.ratio_row(of, base, ratio)
        for of, base, ratio in running.comparisons(runs)
    }
    session.say(
        f'\n{PROGRAM}, {len(WATCHED)} probes watched, +S 1; '
        f'wanted counted by vmtrace 1.5 times as long as off'
    )
    for title, row in figures.items():
        session.say(f'  {title:<28} {tables.interval(row)}')
    keep(session, 'vmtrace', figures)
