# SPDX-License-Identifier: Apache-2.0
"""Figures of an earlier run beside those of this one: what takes hours need not be measured in one piece, and
every figure keeps the commit it belongs to."""
import json
import pathlib
import re

# What tells the rows of a part from each other; of the other parts all rows are of one run.
KEYS = {
    'configurations': ('name',),
    'workloads': ('name',),
    'runs': ('workload', 'configuration'),
    'ratios': ('workload', 'configuration', 'base'),
}
OF_A_RUN = ('schema', 'environment', 'history', 'failed', 'earlier')
DATA = re.compile(r'<script[^>]*\bid="data"[^>]*>(.*?)</script>', re.S)


class Unreadable(ValueError):
    """The file has no figures."""


def read(path):
    """The figures of a file of JSON, or of the page that was made of one."""
    text = pathlib.Path(path).read_text(encoding='utf-8')
    if found := DATA.search(text):
        text = found[1]
    try:
        figures = json.loads(text)
    except ValueError:
        raise Unreadable(f'{path}: neither figures of ./dev bench nor a page of them') from None
    if not isinstance(figures, dict) or 'environment' not in figures:
        raise Unreadable(f'{path}: these are not figures of ./dev bench')
    return figures


def join(results, figures):
    """Adds to the results what they do not have. `earlier` has the environment of each run that gave
    something."""
    gave = False
    for part, rows in figures.items():
        if part in OF_A_RUN or (part.endswith('_unable') and part.removesuffix('_unable') in results):
            continue
        if part not in KEYS:
            if part not in results:
                results[part], gave = rows, True
            continue
        own = results.setdefault(part, [])
        there = {key(part, row) for row in own}
        more = [row for row in rows if key(part, row) not in there]
        own.extend(more)
        gave = gave or bool(more and part == 'runs')
    if gave:
        results['earlier'] = [
            *results.get('earlier', []),
            *figures.get('earlier', []),
            figures['environment'],
        ]


def key(part, row):
    return tuple(row[name] for name in KEYS[part])
