# SPDX-License-Identifier: Apache-2.0
"""The figures as they were measured, found by name. A part that was not measured is an empty list; a figure
that is too noisy is never handed out as a figure."""
import dataclasses
import json
import math

SCHEMA = 1
PARTS = (
    'configurations',
    'workloads',
    'runs',
    'ratios',
    'instructions',
    'micro',
    'scaling',
    'latency',
    'memory',
    'history',
    'verdicts',
)
Z95 = 1.96  # a 95 % interval of a normal distribution reaches so many standard deviations to either side


class Unreadable(Exception):
    """The file is not what can be shown; the text says why."""


@dataclasses.dataclass(frozen=True)
class Interval:
    """A value and the ends of its 95 % interval, which are None where it is not known."""

    value: float
    low: float | None = None
    high: float | None = None

    def inverse(self):
        return Interval(1 / self.value, self.high and 1 / self.high, self.low and 1 / self.low)

    def known(self):
        return [v for v in (self.value, self.low, self.high) if v is not None]


def geometric_mean(intervals):
    """Ratios measured apart: the standard errors of their logarithms add up as squares."""
    logs = [math.log(i.value) for i in intervals]
    mean = sum(logs) / len(logs)
    if any(i.low is None or i.high is None for i in intervals):
        return Interval(math.exp(mean))
    errors = [math.log(i.high / i.low) / 2 for i in intervals]
    half = math.sqrt(sum(e * e for e in errors)) / len(logs)
    return Interval(math.exp(mean), math.exp(mean - half), math.exp(mean + half))


class Results:
    def __init__(self, data):
        self.data = data
        self.environment = data.get('environment') or {}
        self.earlier = data.get('earlier') or []  # the environments of runs whose figures stand beside these
        for part in PARTS:
            setattr(self, part, data.get(part) or [])
        self.instructions = [i for i in self.instructions if i.get('ratio')]
        self.unable_micro = [m for m in self.micro if m.get('ns') is None]
        self.micro = [m for m in self.micro if m.get('ns') is not None]
        self.broken_off = data.get('failed') or {}  # whole measurements, with the reason
        self.others = {
            name: rows
            for name, rows in data.items()
            if name not in (*PARTS, 'earlier')
            and isinstance(rows, list)
            and rows
            and all(isinstance(row, dict) for row in rows)
        }
        self.configuration = {c['name']: c for c in self.configurations}
        self.workload = {w['name']: w for w in self.workloads}
        self.pairs = {(r['workload'], r['configuration'], r['base']): r for r in self.ratios}
        self.failed = {(r['workload'], r['configuration']): r['failed'] for r in self.runs if r.get('failed')}

    def title(self, configuration):
        return self.configuration.get(configuration, {}).get('title') or configuration

    def kind(self, workload):
        known = self.workload.get(workload, {}).get('kind')
        return known or (workload.split('/')[0] if '/' in workload else 'others')

    def compared(self, configuration, base):
        """The workloads that were run under both, in order: name, Interval of the times under `configuration`
        as multiples of those under `base`; None in place of the interval when it is too noisy to be a
        figure."""
        names = {}
        for (workload, a, b), ratio in self.pairs.items():
            if (a, b) == (configuration, base):
                names[workload] = figure(ratio)
            elif (b, a) == (configuration, base):
                names.setdefault(workload, (figure(ratio) or None) and figure(ratio).inverse())
        return list(names.items())

    def failures(self, *configurations):
        """Workloads that failed under one of them, with the reason."""
        return {w: why for (w, c), why in self.failed.items() if c in configurations}


def figure(ratio):
    if ratio.get('noisy') or not ratio.get('median'):
        return None
    return Interval(ratio['median'], ratio.get('low') or None, ratio.get('high') or None)


def read(path):
    try:
        data = json.loads(path.read_text(encoding='utf-8'))
    except ValueError as error:
        raise Unreadable(f'{path} is no JSON: {error}') from None
    if not isinstance(data, dict) or data.get('schema') != SCHEMA:
        found = data.get('schema') if isinstance(data, dict) else None
        raise Unreadable(f'{path}: "schema" is {found}, this report reads {SCHEMA}')
    return Results(data)
