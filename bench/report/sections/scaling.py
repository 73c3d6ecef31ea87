# SPDX-License-Identifier: Apache-2.0
"""What more schedulers gain."""
import collections
import statistics

from .. import words
from ..dot_plot import Dot, Reference, Row, dot_plot
from ..line_plot import Line, Panel, line_plot
from ..marks import legend
from ..scales import Linear, Logarithmic
from ..tables import data
from .section import Section, part


def section(results):
    workloads = collections.defaultdict(dict)
    for s in results.scaling:
        workloads[s['workload']][s['schedulers']] = s
    if not workloads:
        return None
    counts = sorted({s['schedulers'] for s in results.scaling})
    return Section(
        'scaling',
        'More schedulers',
        'How many times as fast each parallel workload gets with more schedulers. The dashed line is the '
        'ideal: twice as many, twice as '
        'fast. Efficiency is the part of the ideal that is reached.',
        [most(workloads, counts), panels(workloads, counts) if len(counts) > 2 else None, table(results)],
        './dev bench scaling',
    )


def ordered(workloads, count):
    return sorted(
        (n for n in workloads if count in workloads[n]), key=lambda n: -workloads[n][count]['speedup']
    )


def most(workloads, counts):
    rows = [
        Row(
            name,
            [
                Dot(s['speedup'], tip(s), series=counts.index(n) % 6)
                for n, s in sorted(workloads[name].items())
                if n > counts[0]
            ],
            f"{words.times(workloads[name][counts[-1]]['speedup'])} "
            f"({words.percent(workloads[name][counts[-1]]['efficiency'])})",
        )
        for name in ordered(workloads, counts[-1])
    ]
    values = [s['speedup'] for w in workloads.values() for s in w.values()]
    names = [f'{n} schedulers' if n > counts[0] else None for n in counts][:6]
    scale = Linear.around([min([1, *values]), max([counts[-1], *values])])
    return part(
        f'Up to {counts[-1]} schedulers',
        legend(names),
        dot_plot(
            'Speedup by workload',
            rows,
            scale,
            words.round_times,
            [Reference(1, '', 'one'), Reference(counts[-1], f'ideal of {counts[-1]}', 'target')],
            f'times as fast as with {counts[0]}; in parentheses the efficiency of {counts[-1]}',
        ),
    )


def tip(s):
    return (
        f"{s['workload']}, {s['schedulers']} schedulers: {words.times(s['speedup'])}, efficiency "
        f"{words.percent(s['efficiency'])}"
    )


def panels(workloads, counts):
    top = max([counts[-1], *(s['speedup'] for w in workloads.values() for s in w.values())])
    x, y = Logarithmic(counts[0], counts[-1]), Logarithmic(
        min([1, *(s['speedup'] for w in workloads.values() for s in w.values())]), top
    )
    ideal = Line([(n, n / counts[0], '') for n in counts], 0, 'ideal')
    drawn = [
        Panel(
            name,
            [ideal, Line([(n, s['speedup'], tip(s)) for n, s in sorted(workloads[name].items())])],
            words.percent(workloads[name][max(workloads[name])]['efficiency']),
        )
        for name in ordered(workloads, counts[-1])
    ]
    return part(
        'Workload by workload',
        line_plot(
            'Speedup by number of schedulers',
            drawn,
            x,
            y,
            words.exact,
            words.round_times,
            120,
            'times as fast, by schedulers; beside the name the efficiency with the most',
            counts,
        ),
    )


def table(results):
    return data(
        'speedup by schedulers',
        ['workload', 'schedulers#', 'median time#', 'speedup#', 'efficiency#'],
        [
            [
                s['workload'],
                words.count(s['schedulers']),
                words.microseconds(statistics.median(s['times_us'])) if s.get('times_us') else '',
                words.times(s['speedup']),
                words.percent(s['efficiency']),
            ]
            for s in results.scaling
        ],
    )
