# SPDX-License-Identifier: Apache-2.0
"""Every run behind the figures."""
import statistics

from .. import words
from ..tables import data
from .section import Section


def section(results):
    if not results.runs:
        return None
    return Section(
        'runs',
        'Every run',
        'The median, the fastest and the slowest run of each pair, without warm-up. Single runs are in the '
        'figures '
        'that this page carries: see its end.',
        [
            data(
                'all runs',
                [
                    'workload',
                    'configuration',
                    'runs#',
                    'median#',
                    'fastest#',
                    'slowest#',
                    'events#',
                    'failed',
                ],
                [row(results, r) for r in results.runs],
            )
        ],
        './dev bench --json results.json --html page.html',
    )


def row(results, r):
    times = r.get('times_us') or []
    shown = [words.microseconds(f(times)) if times else '' for f in (statistics.median, min, max)]
    return [
        r['workload'],
        results.title(r['configuration']),
        words.count(len(times)),
        *shown,
        words.count(r.get('firings')),
        r.get('failed') or '',
    ]
