# SPDX-License-Identifier: Apache-2.0
"""The figures of a plot as a table that opens: what the plot shows, for readers who cannot see it or want the
digits."""
from .markup import element


def table(caption, columns, rows):
    """columns: titles; those that end in # are numbers, and stand to the right. rows: lists of texts, the
    first names the row."""
    numeric = [title.endswith('#') for title in columns]
    head = element(
        'tr',
        [
            element('th', title.rstrip('#'), scope='col', class_='n' if n else None)
            for title, n in zip(columns, numeric)
        ],
    )
    body = [
        element('tr', [cell(text, n, i == 0) for i, (text, n) in enumerate(zip(row, numeric))])
        for row in rows
    ]
    return element(
        'div',
        element('table', element('caption', caption), element('thead', head), element('tbody', body)),
        class_='scroll',
        tabindex='0',
        role='region',
        aria_label=caption,
    )


def cell(text, numeric, first):
    attributes = {'class_': 'n' if numeric else None}
    return element('th', text, scope='row', **attributes) if first else element('td', text, **attributes)


def data(caption, columns, rows):
    """A table that is closed at first."""
    rows = list(rows)
    noun = 'row' if len(rows) == 1 else 'rows'
    return element(
        'details',
        element('summary', 'Data ', element('span', f'{caption}, {len(rows)} {noun}')),
        table(caption, columns, rows),
        class_='data',
    )
