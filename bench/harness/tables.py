# SPDX-License-Identifier: Apache-2.0
"""Figures as lines of text."""
import statistics


def interval(row, inverse=False):
    """1.23 [1.20, 1.27], or that it is noisy. row: median, low, high, noisy."""
    if row['noisy']:
        return 'noisy'
    median, low, high = row['median'], row['low'], row['high']
    if inverse:
        median, low, high = 1 / median, 1 / high, 1 / low
    return f'{median:.2f} [{low:.2f}, {high:.2f}]'


def ms(times_us):
    return f'{statistics.median(times_us) / 1000:.1f}' if times_us else '-'


def columns(rows, heads=None):
    """Lines of a table: the first column to the left, the others to the right; a last one of text to the
    left."""
    rows = [[str(cell) for cell in row] for row in ([heads] if heads else []) + list(rows)]
    if not rows:
        return []
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows)))]
    return [
        '  '.join(
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]


def shortened(text, most=110):
    text = ' '.join(text.split())
    return text if len(text) <= most else text[: most - 3] + '...'
