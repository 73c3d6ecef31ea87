# SPDX-License-Identifier: Apache-2.0
"""vmrun against a stock erl, workload by workload."""
import collections

from .. import targets, words
from ..dot_plot import Dot, Reference, Row, dot_plot
from ..marks import SERIES, legend
from ..results import geometric_mean
from ..scales import Logarithmic
from ..tables import data
from .section import Section

REFERENCES = [Reference(1, "erl's time", 'one'), Reference(targets.EACH_AGAINST_ERL, '', 'target')]
FASTER, SLOWER, MEAN, UNDECIDED = 0, 1, 2, 5
NAMES = {
    FASTER: 'vmrun is faster',
    SLOWER: 'erl is faster',
    UNDECIDED: 'not decided: the interval holds 1',
    MEAN: 'geometric mean',
}


def section(results):
    compared = dict(results.compared('off', 'erl'))
    failed = results.failures('off', 'erl')
    if not compared:
        return None
    kinds = collections.defaultdict(list)
    for name in [*compared, *(n for n in failed if n not in compared)]:
        kinds[results.kind(name)].append(name)
    known = [i for i in compared.values() if i]
    content = []
    if known:
        content = [
            legend([NAMES.get(series) for series in range(SERIES)]),
            dot_plot(
                "vmrun's time as a multiple of erl's",
                rows_of(results, kinds, compared, failed),
                Logarithmic.around([v for i in known for v in i.known()] + [1, targets.EACH_AGAINST_ERL]),
                words.round_times,
                REFERENCES,
                "vmrun's time as a multiple of erl's; dashed: no workload is to take longer; lines are 95 % "
                "intervals",
            ),
        ]
    return Section(
        'erl',
        'vmrun against erl',
        'The same programs, run in turns. Left of the line at 1 vmrun needs less time than erl, right of it '
        'more: 0.5 × is half the '
        'time. vmrun interprets, erl compiles to machine code; what is mostly arithmetic and calls is where '
        'that shows.',
        [*content, table(results, compared, failed)],
        './dev bench workloads',
    )


def rows_of(results, kinds, compared, failed):
    means = {
        kind: geometric_mean([compared[n] for n in names if compared.get(n)])
        if any(compared.get(n) for n in names)
        else None
        for kind, names in kinds.items()
    }
    known, whole = [i for i in compared.values() if i], sum(map(len, kinds.values()))
    rows = [mean_row('all workloads', geometric_mean(known), len(known), whole)]
    for kind in sorted(kinds, key=lambda k: means[k].value if means[k] else float('inf')):
        names, mean = kinds[kind], means[kind]
        if mean:
            known = sum(bool(compared.get(n)) for n in names)
            rows.append(mean_row(kind, mean, known, len(names)))
        else:
            rows.append(Row(kind, [], '', 'head'))
        rows += [
            row(results, n, compared.get(n), failed)
            for n in sorted(names, key=lambda n: compared[n].value if compared.get(n) else float('inf'))
        ]
    return rows


def mean_row(kind, mean, known, whole):
    return Row(
        kind,
        [dot(f'{kind}, geometric mean of {words.of(known, whole, "workloads")}', mean, MEAN)],
        words.times(mean.value),
        'mean',
    )


def dot(name, i, series=None):
    if series is None:
        series = FASTER if (i.high or i.value) < 1 else SLOWER if (i.low or i.value) > 1 else UNDECIDED
    bounds = words.interval(words.times, i.low, i.high)
    return Dot(
        i.value, f'{name}: {words.times(i.value)}' + (f' ({bounds})' if bounds else ''), i.low, i.high, series
    )


def row(results, name, i, failed):
    about, shown = results.workload.get(name, {}).get('text'), name.split('/', 1)[-1]
    if i and name not in failed:
        return Row(shown, [dot(name, i)], words.times(i.value), tip=about)
    return Row(shown, [], 'failed' if name in failed else 'too noisy', 'missing', failed.get(name) or about)


def table(results, compared, failed):
    rows = []
    for name in sorted({*compared, *failed}):
        i, about = compared.get(name), results.workload.get(name, {})
        said = 'failed' if name in failed else words.times(i.value) if i else 'too noisy'
        rows.append(
            [
                name,
                results.kind(name),
                about.get('size') or '',
                said,
                words.interval(words.times, i.low, i.high) if i else '',
                about.get('text') or '',
                about.get('from') or '',
            ]
        )
    return data(
        "vmrun's time as a multiple of erl's",
        ['workload', 'kind', 'size', 'ratio#', '95 % interval#', 'what it does', 'from'],
        rows,
    )
