# SPDX-License-Identifier: Apache-2.0
"""This commit against another one, with a verdict for each workload."""
import collections

from .. import words
from ..dot_plot import Dot, Reference, Row, dot_plot
from ..markup import element
from ..scales import Logarithmic
from ..tables import data
from .section import Section

SERIES = {'faster': 0, 'slower': 1}
ORDER = ('slower', 'faster', 'same', 'noisy')


def section(results):
    verdicts = results.verdicts
    if not verdicts:
        return None
    counts = collections.Counter(v['verdict'] for v in verdicts)
    ordered = sorted(
        verdicts,
        key=lambda v: (
            ORDER.index(v['verdict']) if v['verdict'] in ORDER else len(ORDER),
            -(v.get('median') or 0),
        ),
    )
    known = [v[k] for v in verdicts if drawable(v) for k in ('median', 'low', 'high') if v.get(k)]
    plot = (
        dot_plot(
            'This commit against the baseline',
            [row(v) for v in ordered],
            Logarithmic.around([*known, 0.98, 1.02]),
            words.round_times,
            [Reference(1, 'as before', 'one')],
            'time as a multiple of the time before; lines are 95 % intervals',
        )
        if known
        else None
    )
    said = ', '.join(f'{counts[name]} {name}' for name in ORDER if counts[name])
    return Section(
        'verdicts',
        'Against the baseline',
        'Both commits, measured in turns. Right of the line at 1 this commit is slower.',
        [
            element('p', said + '.', class_='counts'),
            plot,
            data(
                'verdicts',
                ['workload', 'verdict', 'ratio#', '95 % interval#'],
                [
                    [
                        v['workload'],
                        v['verdict'],
                        words.times(v['median']) if drawable(v) else 'too noisy',
                        words.interval(words.times, v.get('low'), v.get('high')) if drawable(v) else '',
                    ]
                    for v in ordered
                ],
            ),
        ],
        './dev bench --baseline COMMIT',
    )


def drawable(v):
    return v['verdict'] != 'noisy' and bool(v.get('median'))


def row(v):
    if not drawable(v):
        return Row(v['workload'], [], 'too noisy', 'missing')
    bounds = words.interval(words.times, v.get('low'), v.get('high'))
    dot = Dot(
        v['median'],
        f"{v['workload']}: {v['verdict']}, {words.times(v['median'])}" + (f' ({bounds})' if bounds else ''),
        v.get('low'),
        v.get('high'),
        SERIES.get(v['verdict'], 5),
    )
    return Row(v['workload'], [dot], f"{v['verdict']} {words.times(v['median'])}")
