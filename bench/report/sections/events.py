# SPDX-License-Identifier: Apache-2.0
"""What a single event costs: a site by consumer, against what the kernel takes by itself; and what the
machine's own primitives take."""
from .. import targets, words
from ..dot_plot import Dot, Row, dot_plot
from ..markup import together
from ..marks import legend
from ..scales import Linear, Logarithmic
from ..tables import data
from .section import Section, part

GROUPS = {
    'floor': 'an empty probe of the kernel',
    'site': 'a site of a probe',
    'text': 'texts of arguments',
    'message': 'messages',
    'spawn': 'spawning',
    'schedule': 'scheduling',
    'collect': 'collections',
    'table': 'tables',
    'port': 'ports',
}
OF_PROBES = ('floor', 'site', 'text')


def section(results):
    content = [
        events([m for m in results.micro if m['group'] in OF_PROBES]),
        primitives([m for m in results.micro if m['group'] not in OF_PROBES]),
    ]
    if not any(content):
        return None
    return Section(
        'events',
        'A single event',
        'What one firing takes, by who looks. Tracers in the kernel can be no faster than an empty probe of '
        'the kernel, the '
        'floor. What comes on top of it is our part; for the firing itself, without texts, it is to stay '
        'below '
        f'{words.round_nanoseconds(targets.OUR_PART_NS)}.',
        [c for c in content if c],
        './dev bench micro',
    )


def named(m):
    consumer = m.get('consumer')
    return f"{m['name']}, {consumer}" if consumer and consumer not in m['name'] else m['name']


def row(m):
    bounds = words.interval(words.nanoseconds, m.get('low'), m.get('high'))
    text, floor = words.nanoseconds(m['ns']), floor_of(m)
    name = named(m)
    tip = f'{name}: {text}' + (f' ({bounds})' if bounds else '')
    if not floor:
        return Row(name, [Dot(m['ns'], tip, m.get('low'), m.get('high'))], text)
    if m['group'] == 'floor':
        return Row(name, [Dot(m['ns'], tip, series=1, bar=True, floor=floor)], text)
    ours = words.nanoseconds(over(m))
    dot = Dot(
        m['ns'],
        f'{tip}, {ours} over the floor of {words.nanoseconds(floor)}',
        series=1,
        bar=True,
        floor=floor,
    )
    return Row(name, [dot], f'{text}, ours {ours}')


def floor_of(m):
    return m['ns'] if m['group'] == 'floor' else m.get('floor_ns')


def over(m):
    return round(m['ns'] - m['floor_ns'], 1)


def grouped(micro):
    rows = []
    for group in dict.fromkeys(m['group'] for m in micro):
        rows.append(Row(GROUPS.get(group, group), [], style='head'))
        rows += [row(m) for m in micro if m['group'] == group]
    return rows


def values(micro):
    return [v for m in micro for v in (m['ns'], m.get('low'), m.get('high'), m.get('floor_ns')) if v]


def table(caption, micro):
    return data(
        caption,
        ['what', 'consumer', 'ns#', '95 % interval#', 'kernel\'s floor, ns#', 'over the floor, ns#'],
        [
            [
                m['name'],
                m.get('consumer') or '',
                words.number(m['ns']),
                words.interval(words.number, m.get('low'), m.get('high')),
                words.number(m.get('floor_ns')),
                words.number(round(m['ns'] - m['floor_ns'], 2)) if m.get('floor_ns') else '',
            ]
            for m in micro
        ],
    )


def events(micro):
    if not micro:
        return None
    inside, outside = [m for m in micro if not floor_of(m)], [m for m in micro if floor_of(m)]
    plots = []
    if inside:
        plots.append(
            part(
                'A firing inside the machine',
                dot_plot(
                    'Time of an event inside the machine',
                    grouped(inside),
                    Logarithmic.around(values(inside)),
                    words.round_nanoseconds,
                    axis='time of an event, logarithmic',
                ),
            )
        )
    if outside:
        most = max(values(outside))
        key = legend([None, 'our part'], [('floor', "the kernel's floor: an empty probe")])
        plots.append(
            part(
                'A firing through the kernel',
                key,
                dot_plot(
                    'Time of an event that a tracer in the kernel sees',
                    grouped(outside),
                    Linear(0, most),
                    words.round_nanoseconds,
                    axis='time of an event',
                ),
            )
        )
    return together([plots, table('time of an event', micro)])


def primitives(micro):
    if not micro:
        return None
    return part(
        "The machine's own primitives",
        dot_plot(
            'Time of primitives',
            grouped(micro),
            Logarithmic.around(values(micro)),
            words.round_nanoseconds,
            axis='time of an operation, logarithmic',
        ),
        table('time of an operation', micro),
    )
