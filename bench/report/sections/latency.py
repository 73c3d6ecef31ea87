# SPDX-License-Identifier: Apache-2.0
"""How long messages are on their way while the machine is busy, up to the slowest."""
from .. import words
from ..line_plot import Line, Panel, line_plot
from ..marks import legend
from ..scales import Logarithmic, Percentiles
from ..tables import data
from .section import Section


def section(results):
    latency = [entry for entry in results.latency if entry.get('percentiles_ns')]
    if not latency:
        return None
    percentiles = sorted({float(p) for entry in latency for p in entry['percentiles_ns']})
    values = [v for entry in latency for v in entry['percentiles_ns'].values()]
    machines = list(dict.fromkeys(entry['configuration'] for entry in latency))
    panels = [
        Panel(f'load {load}', [line(results, entry, machines) for entry in latency if entry['load'] == load])
        for load in dict.fromkeys(entry['load'] for entry in latency)
    ]
    titles = [
        title(results, next(entry for entry in latency if entry['configuration'] == machine))
        for machine in machines
    ]
    return Section(
        'latency',
        'Latency of messages under load',
        'Of 100 000 messages at 99.99 % ten take longer than the line says. Each further nine has the same '
        'room, because it is the few '
        'slow messages that users notice. Lower is better.',
        [
            legend(titles),
            line_plot(
                'Latency percentiles',
                panels,
                Percentiles(percentiles),
                Logarithmic.around(values),
                shown_percentile,
                words.round_nanoseconds,
                220,
                'latency, logarithmic, by percentile of messages',
            ),
            table(results, latency, percentiles),
        ],
        './dev bench latency',
    )


def shown_percentile(percentile):
    return f'{percentile:g}'


def title(results, entry):
    return entry.get('title') or results.title(entry['configuration'])


def line(results, entry, machines):
    points = sorted((float(p), v) for p, v in entry['percentiles_ns'].items())
    return Line(
        [
            (p, v, f"{title(results, entry)}, load {entry['load']}, {p:g} %: {words.nanoseconds(v)}")
            for p, v in points
        ],
        machines.index(entry['configuration']),
    )


def table(results, latency, percentiles):
    return data(
        'latency percentiles',
        ['machine', 'load', *[f'{p:g} %#' for p in percentiles], 'messages#'],
        [
            [
                title(results, entry),
                entry['load'],
                *[words.nanoseconds(found[p]) if p in found else '' for p in percentiles],
                words.count(entry.get('samples')),
            ]
            for entry in latency
            for found in [{float(p): v for p, v in entry['percentiles_ns'].items()}]
        ],
    )
