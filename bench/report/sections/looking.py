# SPDX-License-Identifier: Apache-2.0
"""What it costs to look: families of probes by their consumers, and other ways to look, on real work."""
import collections

from .. import words
from ..dot_plot import Dot, Reference, Row, dot_plot
from ..marks import SERIES, legend
from ..markup import together
from ..results import geometric_mean
from ..scales import Logarithmic
from ..tables import data
from .section import Section, dropped, part

TEXTS = '-texts'
ONE = [Reference(1, 'nobody looks', 'one')]


class Watched:
    """A configuration somebody looks in: how many times as long each workload takes."""

    def __init__(self, results, configuration):
        self.name, self.title, self.family = (
            configuration['name'],
            results.title(configuration['name']),
            configuration.get('family'),
        )
        whole = self.name.removesuffix(f'-{self.family}') if self.family else configuration['group']
        self.tool, self.texts = whole.removesuffix(TEXTS), whole.endswith(TEXTS)
        self.compared = results.compared(self.name, configuration['base'])
        self.known = {name: i for name, i in self.compared if i}
        self.noisy = [f'{self.name} on {name}' for name, i in self.compared if not i]
        self.firings = {
            r['workload']: r.get('firings') for r in results.runs if r['configuration'] == self.name
        }
        self.ns = {
            r['workload']: r['ns_per_firing']
            for r in results.ratios
            if r['configuration'] == self.name and r.get('ns_per_firing') and not r.get('noisy')
        }
        self.mean = geometric_mean(list(self.known.values())) if self.known else None


def section(results):
    plain = {'none', 'off', 'erl', 'baseline', 'erl-with-probes'}
    watched = [
        Watched(results, c) for c in results.configurations if c.get('base') and c['name'] not in plain
    ]
    watched = [w for w in watched if w.compared]
    if not watched:
        return None
    tools = list(dict.fromkeys(w.tool for w in watched if w.known))
    content = [
        families([w for w in watched if w.family and w.known], tools),
        every(watched, tools),
        an_event([w for w in watched if w.family and w.ns], tools),
        others([w for w in watched if not w.family and w.known], tools),
        table(results, watched),
    ]
    return Section(
        'looking',
        'Looking at them',
        'How many times as long the work takes while every event of a family is counted, by who counts it. '
        'Families that '
        'fire at each message or call cost most, because next to nothing happens between two events: these '
        'are the worst '
        'cases, not the usual ones. Each is compared with the same machine unobserved.',
        [c for c in content if c],
        './dev bench watching',
    )


def key(tools, texts, intervals=True):
    extra = [('interval', '95 % interval')] if intervals else []
    extra += [('hollow', 'outlined: counted by the texts of the arguments')] if texts else []
    return legend([words.consumer(t) for t in tools], extra)


def scale_of(intervals):
    return Logarithmic.around([v for i in intervals for v in i.known()] + [1])


def dot(w, tools, lane, interval, what, others=()):
    bounds = words.interval(words.times, interval.low, interval.high)
    return Dot(
        interval.value,
        f'{what}: {words.times(interval.value)}' + (f' ({bounds})' if bounds else ''),
        interval.low,
        interval.high,
        tools.index(w.tool) % SERIES,
        others,
        lane=lane,
        hollow=w.texts,
    )


def families(watched, tools):
    if not watched:
        return None
    rows = collections.defaultdict(list)
    for w in watched:
        rows[w.family].append(w)
    drawn = []
    for family in sorted(rows, key=lambda f: (f != 'all', -max(w.mean.value for w in rows[f]))):
        present = [t for t in tools if any(w.tool == t for w in rows[family])]
        dots = [
            dot(
                w,
                tools,
                present.index(w.tool),
                w.mean,
                w.title,
                tuple(i.value for i in w.known.values()) if len(w.known) > 1 else (),
            )
            for w in rows[family]
        ]
        drawn.append(
            Row(
                'all families at once' if family == 'all' else family,
                dots,
                style='mean' if family == 'all' else 'banded',
            )
        )
    used = [t if any(w.tool == t for w in watched) else None for t in tools]
    return part(
        'By family of probes',
        key(used, any(w.texts for w in watched)),
        dot_plot(
            'Time while a family is watched, by consumer',
            drawn,
            scale_of([w.mean for w in watched] + [i for w in watched for i in w.known.values()]),
            words.round_times,
            ONE,
            'times as long as unobserved; where several workloads were measured, the dot is their geometric '
            'mean '
            'and small ticks are the workloads',
        ),
    )


def every(watched, tools):
    """All families at once, by workload."""
    watched = [w for w in watched if w.family == 'all' and w.known and not w.texts]
    workloads = list(dict.fromkeys(name for w in watched for name in w.known))
    if len(workloads) < 2:
        return None
    rows = []
    for name in workloads:
        here = [w for w in watched if name in w.known]
        rows.append(
            Row(
                name,
                [dot(w, tools, lane, w.known[name], f'{name}, {w.title}') for lane, w in enumerate(here)],
                style='banded',
            )
        )
    used = [t if any(w.tool == t for w in watched) else None for t in tools]
    return part(
        'All families at once, by workload',
        key(used, False),
        dot_plot(
            'Time while everything is watched, by workload',
            rows,
            scale_of([i for w in watched for i in w.known.values()]),
            words.round_times,
            ONE,
            'times as long as unobserved',
        ),
    )


def an_event(watched, tools):
    """The time that was added, shared among the events: what one of them costs on real work."""
    if not watched:
        return None
    rows = []
    for family in dict.fromkeys(w.family for w in watched):
        here = [w for w in watched if w.family == family]
        lanes = [t for t in tools if any(w.tool == t for w in here)]
        rows.append(
            Row(
                'all families at once' if family == 'all' else family,
                [
                    Dot(
                        ns,
                        f'{name}, {w.title}: {words.nanoseconds(ns)} an event',
                        series=tools.index(w.tool) % SERIES,
                        lane=lanes.index(w.tool),
                        hollow=w.texts,
                    )
                    for w in here
                    for name, ns in w.ns.items()
                    if ns > 0
                ],
                style='banded',
            )
        )
    values = [d.value for row in rows for d in row.dots]
    used = [t if any(w.tool == t for w in watched) else None for t in tools]
    return (
        part(
            'What an event costs on real work',
            key(used, any(w.texts for w in watched), False),
            dot_plot(
                'Time an event adds, by family and consumer',
                rows,
                Logarithmic.around(values),
                words.round_nanoseconds,
                axis='time added, shared among the events; a dot for each workload',
            ),
        )
        if values
        else None
    )


def others(watched, tools):
    """Samples of a profile and the like."""
    if not watched:
        return None
    rows = []
    for w in watched:
        rows.append(Row(w.title, [], style='head'))
        rows += [
            Row(name, [dot(w, tools, 0, i, f'{name}, {w.title}')], words.times(i.value))
            for name, i in w.known.items()
        ]
    return part(
        'Other ways to look',
        dot_plot(
            'Time under other ways to look',
            rows,
            scale_of([i for w in watched for i in w.known.values()]),
            words.round_times,
            ONE,
            'times as long as unobserved; lines are 95 % intervals',
        ),
    )


def table(results, watched):
    rows = [
        [
            name,
            w.title,
            words.times(i.value) if i else 'too noisy',
            words.interval(words.times, i.low, i.high) if i else '',
            words.count(w.firings.get(name)),
            words.number(w.ns.get(name)),
        ]
        for w in watched
        for name, i in w.compared
    ]
    noisy = [name for w in watched for name in w.noisy]
    return together(
        [
            dropped(noisy, 'Too noisy for a figure'),
            data(
                'time while somebody looks',
                ['workload', 'who looks at what', 'ratio#', '95 % interval#', 'events#', 'ns an event#'],
                rows,
            ),
        ]
    )
