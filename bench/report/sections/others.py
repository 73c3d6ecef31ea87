# SPDX-License-Identifier: Apache-2.0
"""Measurements that have no plot: a table each, as they were written."""
from .. import words
from ..tables import data
from .section import Section


def section(results):
    if not results.others:
        return None
    return Section(
        'others',
        'Other measurements',
        'Smaller measurements without a plot, in the units that their columns name.',
        [part_of(name.replace('_', ' '), rows) for name, rows in results.others.items()],
        './dev bench',
    )


def part_of(name, rows):
    columns = list(dict.fromkeys(column for row in rows for column in row))
    titles = [
        c.replace('_', ' ')
        + ('#' if all(isinstance(row.get(c), (int, float, type(None))) for row in rows) else '')
        for c in columns
    ]
    return data(name, titles, [[written(row.get(c)) for c in columns] for row in rows])


def written(value):
    if value is None or isinstance(value, bool):
        return {None: '', True: 'yes', False: 'no'}[value]
    return (
        words.number(value, 4)
        if isinstance(value, (int, float))
        else ' '.join(map(written, value))
        if isinstance(value, list)
        else str(value)
    )
