# SPDX-License-Identifier: Apache-2.0
"""What stands for a value in a plot. A series has a colour and a shape, so that it is known without its
colour.

Places along an axis are percentages of a drawing that is as wide as the page lets it be; what hangs at a
place is in pixels. A mark is thus a drawing of its own, put at its place, that reaches beyond its edges.
"""
from .markup import element

SHAPES = (
    'M-4.2 0a4.2 4.2 0 1 0 8.4 0a4.2 4.2 0 1 0-8.4 0z',  # circle
    'M-3.8-3.8h7.6v7.6h-7.6z',  # square
    'M0-5.4L5.4 0L0 5.4L-5.4 0z',  # diamond
    'M0-5L5 3.8H-5z',  # triangle
    'M0 5L5-3.8H-5z',  # triangle, upside down
    'M-4.5-1.5h3v-3h3v3h3v3h-3v3h-3v-3h-3z',
)  # cross
SERIES = len(SHAPES)


def percentage(share):
    return f'{share * 100:.2f}%'


def mark(x, y, series, tip, extra=None):
    """x: share of the width; y: pixels, or a share as a text; tip: what is told of it; extra: another
    class."""
    shape = element('path', d=SHAPES[series % SERIES])
    hit = element('circle', r='11', class_='hit')
    return element(
        'svg',
        element(
            'g',
            element('title', tip),
            hit,
            shape,
            class_=f'mark s{series % SERIES}' + (f' {extra}' if extra else ''),
        ),
        x=percentage(x),
        y=y,
    )


def swatch(series):
    """The mark alone, for a legend."""
    return element(
        'svg',
        element('path', d=SHAPES[series % SERIES], class_=f's{series % SERIES}'),
        class_='swatch',
        viewBox='-7 -7 14 14',
        aria_hidden='true',
    )


def legend(names, extra=()):
    """names: of the series, in order, None for one that is not there; extra: pairs of a class for a drawn
    sample, and its meaning."""
    items = [element('li', swatch(i), name) for i, name in enumerate(names) if name]
    items += [element('li', element('span', class_=f'sample {sample}'), meaning) for sample, meaning in extra]
    return element('ul', items, class_='legend')
