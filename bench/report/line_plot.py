# SPDX-License-Identifier: Apache-2.0
"""Small panels with lines, side by side where there is room: the same axes in each, so that they can be
compared."""
import dataclasses

from .markup import element
from .marks import mark, percentage
from .scales import Linear

HEIGHT = 168
UNITS = 1000  # of the drawing that a line is stretched from
LONG = 5  # letters; longer names of ticks at the ends of an axis go towards its middle


@dataclasses.dataclass
class Line:
    points: list  # x, y, what is told of the point
    series: int = 0
    style: str = ''  # ideal: what is compared with, without marks


@dataclasses.dataclass
class Panel:
    title: str
    lines: list
    figure: str = ''  # what the panel comes to, beside its title


def line_plot(label, panels, x, y, shown_x, shown_y, height=HEIGHT, axes=None, x_ticks=None):
    """x, y: scales; shown_x, shown_y: write their values; axes: what both mean."""
    drawn = [panel_of(p, x, y if y else scale_of(p), shown_x, shown_y, height, x_ticks) for p in panels]
    return element(
        'div',
        element('p', axes, class_='axis') if axes else None,
        element('div', drawn, class_='panels'),
        class_='plot',
        role='group',
        aria_label=f'{label}. The data are in the table below.',
    )


def scale_of(panel):
    """For panels whose values have nothing in common: an axis of each."""
    return Linear.around([value for line in panel.lines for _, value, _ in line.points], 0.15)


def panel_of(panel, x, y, shown_x, shown_y, height, x_ticks):
    def down(value):
        return round((1 - y.place(value)) * height, 1)

    drawn = []
    for tick in y.ticks(5):
        drawn.append(element('line', x1='0', x2='100%', y1=down(tick), y2=down(tick), class_='grid'))
        drawn.append(element('text', shown_y(tick), x='-8', y=down(tick), dy='4', class_='tick left'))
    ticks = x_ticks if x_ticks is not None else x.ticks()
    for index, tick in enumerate(ticks):
        long = len(shown_x(tick)) > LONG
        end = ' first' if long and index == 0 else ' last' if long and index == len(ticks) - 1 else ''
        drawn.append(
            element(
                'text', shown_x(tick), x=percentage(x.place(tick)), y=height, dy='18', class_='tick' + end
            )
        )
    drawn.append(element('line', x1='0', x2='100%', y1=height, y2=height, class_='base'))
    paths, marks = [], []
    for line in panel.lines:
        points = ' '.join(
            f'{x.place(a) * UNITS:.1f},{(1 - y.place(b)) * UNITS:.1f}' for a, b, _ in line.points
        )
        paths.append(element('polyline', points=points, class_=f'line s{line.series} {line.style}'.strip()))
        if line.style != 'ideal':
            marks += [mark(x.place(a), down(b), line.series, tip) for a, b, tip in line.points]
    stretched = element(
        'svg',
        paths,
        viewBox=f'0 0 {UNITS} {UNITS}',
        preserveAspectRatio='none',
        width='100%',
        height=height,
        class_='stretched',
    )
    return element(
        'figure',
        element(
            'figcaption', element('span', panel.title), element('b', panel.figure) if panel.figure else None
        ),
        element('div', element('svg', drawn, stretched, marks, height=height), class_='box'),
        class_='panel',
    )
