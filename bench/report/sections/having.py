# SPDX-License-Identifier: Apache-2.0
"""What it costs to have probes: compiled in and nobody looking, against compiled out."""
from .. import targets, words
from ..dot_plot import Dot, Reference, Row, dot_plot
from ..headline import instruction_ratios
from ..results import Interval, geometric_mean
from ..scales import Linear
from ..tables import data
from .section import Section, dropped, part

REFERENCES = [
    Reference(1, '', 'one'),
    Reference(targets.OFF_EACH, 'each at most ' + words.change(targets.OFF_EACH, 0), 'target'),
]


def section(results):
    content = [instructions(results), times(results)]
    if not any(content):
        return None
    return Section(
        'having',
        'Having probes nobody looks at',
        'The same source and flags with probes compiled in and nobody looking, against probes compiled out. '
        'A dot right of the line at '
        '0 % is a cost. Instructions do not move with the load of the machine; times do, and also show what '
        'instructions cannot.',
        [c for c in content if c],
        './dev bench instructions; ./dev bench -c none -c off',
    )


def shown(ratio):
    return words.change(ratio, 1)


def plot(label, intervals, axis):
    mean = geometric_mean(list(intervals.values()))
    rows = [row('geometric mean', mean, 'mean', 2)]
    rows += [row(name, i) for name, i in sorted(intervals.items(), key=lambda item: -item[1].value)]
    values = [v for i in [mean, *intervals.values()] for v in i.known()] + [1, targets.OFF_EACH]
    return dot_plot(label, rows, Linear.around(values), shown, REFERENCES, axis)


def row(name, i, style='', series=0):
    bounds = words.interval(words.change, i.low, i.high)
    return Row(
        name,
        [
            Dot(
                i.value,
                f'{name}: {words.change(i.value)}' + (f' ({bounds})' if bounds else ''),
                i.low,
                i.high,
                series,
            )
        ],
        words.change(i.value),
        style,
    )


def instructions(results):
    ratios = instruction_ratios(results)
    if not ratios:
        return None
    counted = {
        i['workload']: i for i in results.instructions if (i['configuration'], i['base']) == ('off', 'none')
    }
    table = data(
        'instructions, probes in against out',
        ['workload', 'in#', 'out#', 'ratio#', 'difference#'],
        [
            [
                name,
                words.count(counted[name]['instructions']),
                words.count(counted[name]['base_instructions']),
                f'{ratio:.5f}',
                words.change(ratio),
            ]
            for name, ratio in ratios.items()
        ],
    )
    intervals = {name: Interval(ratio) for name, ratio in ratios.items()}
    return part(
        'Instructions executed',
        plot(
            'Instructions with probes compiled in against compiled out',
            intervals,
            'more instructions than with probes compiled out',
        ),
        table,
    )


def times(results):
    compared = results.compared('off', 'none')
    if not compared:
        return None
    intervals = {name: i for name, i in compared if i}
    table = data(
        'times, probes in against out',
        ['workload', 'ratio#', '95 % interval#'],
        [
            [
                name,
                f'{i.value:.4f}' if i else 'too noisy',
                words.interval(lambda v: f'{v:.4f}', i.low, i.high) if i else '',
            ]
            for name, i in compared
        ],
    )
    drawn = (
        plot(
            'Time with probes compiled in against compiled out',
            intervals,
            'more time than with probes compiled out; lines are 95 % intervals',
        )
        if intervals
        else ''
    )
    return part(
        'Time', drawn, dropped([name for name, i in compared if not i], 'Too noisy for a figure'), table
    )
