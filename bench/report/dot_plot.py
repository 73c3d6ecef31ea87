# SPDX-License-Identifier: Apache-2.0
"""A value or several a row, on one axis: dots with their intervals, bars, and lines that all are compared
with.

The names and the figures beside the rows are text of the page, so that they wrap, scale and can be found; on
a narrow screen they stand above their row.
"""
import dataclasses

from .markup import element
from .marks import mark, percentage

LANE, NEXT_LANE = 22, 12  # pixels of a row with one series, of each further one
TALL = 14  # rows; plots of more have their ticks below them too


@dataclasses.dataclass
class Dot:
    value: float
    tip: str
    low: float | None = None
    high: float | None = None
    series: int = 0
    others: tuple = ()  # single values that this one sums up, drawn faint
    floor: float | None = None  # of a bar: the part of it that is somebody else's
    lane: int = 0
    bar: bool = False  # a bar from the beginning of the axis
    hollow: bool = False  # a variant of the series


@dataclasses.dataclass
class Row:
    name: str
    dots: list
    text: str = ''
    # mean: sums up those below it; head: a title without a value; missing: nothing could be measured
    style: str = ''
    tip: str | None = None  # more about the name
    scale: object = None  # a row with an axis of its own


@dataclasses.dataclass
class Reference:
    """A line that all rows are compared with."""

    value: float
    name: str = ''
    style: str = ''  # one: where nothing differs; target: what is to be reached


def dot_plot(label, rows, scale, shown, references=(), axis=None):
    """label: what the plot is, in words; shown: writes a value of the axis; axis: what the axis
    means."""
    style, tall = 'dots', len(rows) > TALL
    if not scale:
        style += ' bare'
    elif tall:
        style += ' tall'
    if not any(row.text for row in rows):
        style += ' dots-only'
    drawn = element(
        'div',
        background(scale, shown, references, tall) if scale else None,
        [row_of(row, row.scale or scale) for row in rows],
        class_=style,
    )
    return element(
        'div',
        element('p', axis, class_='axis') if axis else None,
        drawn,
        class_='plot',
        role='group',
        aria_label=f'{label}. The data are in the table below.',
    )


def background(scale, shown, references, both):
    """Ticks, lines and their names, behind all rows."""
    drawn, ticks = [], scale.ticks()
    kept = ticks.index(references[0].value) % 2 if references and references[0].value in ticks else 0
    for index, tick in enumerate(ticks):
        x = percentage(scale.place(tick))
        style = 'tick second' if index % 2 != kept else 'tick'  # narrow screens have room for half of them
        drawn.append(element('line', x1=x, x2=x, y1='0', y2='100%', class_='grid'))
        drawn.append(element('text', shown(tick), x=x, y='-8', class_=style))
        if both:
            drawn.append(element('text', shown(tick), x=x, y='100%', dy='18', class_=style))
    for reference in references:
        x = percentage(scale.place(reference.value))
        drawn.append(element('line', x1=x, x2=x, y1='-4', y2='100%', class_=f'reference {reference.style}'))
        if reference.name:
            drawn.append(
                element(
                    'text',
                    reference.name,
                    x=x,
                    y='-24',
                    class_='tick reference-name' + end_of(scale.place(reference.value)),
                )
            )
    return element('svg', drawn, class_='back', aria_hidden='true')


def end_of(place):
    """Names near an end of the axis go towards its middle."""
    return ' first' if place < 0.2 else ' last' if place > 0.8 else ''


def row_of(row, scale):
    height = LANE + NEXT_LANE * max((d.lane for d in row.dots), default=0)
    drawn = [drawn_dot(dot, scale, dot.lane * NEXT_LANE + LANE // 2) for dot in row.dots]
    lane = element('svg', drawn, height=height, class_='lane') if row.dots else None
    return element(
        'div',
        element('div', row.name, class_='name', title=row.tip),
        lane,
        element('div', row.text, class_='value'),
        class_=f'row {row.style}'.strip(),
    )


def drawn_dot(dot, scale, y):
    kind, parts = f's{dot.series}', []
    if dot.bar:
        return drawn_bar(dot, scale, y)
    for other in dot.others:
        x = percentage(scale.place(other))
        parts.append(element('line', x1=x, x2=x, y1=y - 4, y2=y + 4, class_=f'other {kind}'))
    if dot.low is not None and dot.high is not None:
        parts.append(
            element(
                'line',
                x1=percentage(scale.place(dot.low)),
                x2=percentage(scale.place(dot.high)),
                y1=y,
                y2=y,
                class_=f'interval {kind}',
            )
        )
    return [*parts, mark(scale.place(dot.value), y, dot.series, dot.tip, 'hollow' if dot.hollow else None)]


def drawn_bar(dot, scale, y):
    """From the beginning of the axis; up to its floor it is grey."""
    end, floor = scale.place(dot.value), scale.place(dot.floor) if dot.floor is not None else None
    parts = [element('rect', x='0', y=y - 6, width=percentage(end), height='12', rx='1.5')]
    if floor is not None:
        parts.append(
            element('rect', x='0', y=y - 6, width=percentage(min(floor, end)), height='12', class_='floor')
        )
    return element('g', element('title', dot.tip), parts, class_=f'mark bar s{dot.series}')
