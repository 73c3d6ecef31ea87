#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures that explain the code, from the words in pictures.tab.

    python3 docs/pictures/diagrams.py

The docs suite draws them anew, compares, and looks the names up in the sources (test/harness/pictures.py).
The pictures are narrow so that a telephone shows them, follow the reader's setting (light or dark), need no
font of their own, and their text can be selected."""
import pathlib
import textwrap
from html import escape

HERE = pathlib.Path(__file__).parent
WIDTH = 440
STYLE = '''
text{font:13px system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:#24292f}
.c{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#0550ae}
.p{fill:#953800}.h{font-weight:600;font-size:15px}.b{font-weight:600}.d,.s{fill:#57606a;font-size:12px}
.s{font-size:11px}.m{text-anchor:middle}.card{fill:#f6f8fa;stroke:#d0d7de}.box{fill:#fff;stroke:#8c959f}
.lane{stroke:#d0d7de;stroke-width:2}.way{stroke:#57606a;stroke-width:2;fill:none}.head{fill:#57606a}
.l0{fill:#0969da}.l1{fill:#8250df}.l2{fill:#1a7f37}.cut{stroke:#bc4c00;stroke-dasharray:5 4}
.blue{fill:#ddf4ff;stroke:#54aeff}.violet{fill:#fbefff;stroke:#c297ff}.green{fill:#dafbe1;stroke:#4ac26b}
.yellow{fill:#fff8c5;stroke:#d4a72c}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.c{fill:#79c0ff}.p{fill:#ffa657}.d,.s{fill:#9da7b3}
.card{fill:#161b22;stroke:#30363d}.box{fill:#0d1117;stroke:#656c76}.lane{stroke:#30363d}
.way{stroke:#9198a1}.head{fill:#9198a1}.l0{fill:#58a6ff}.l1{fill:#bc8cff}.l2{fill:#3fb950}
.blue{fill:#0c2d6b;stroke:#388bfd}.violet{fill:#3c1e70;stroke:#a371f7}.green{fill:#033a16;stroke:#2ea043}
.yellow{fill:#3b2300;stroke:#9e6a03}}
'''
HEAD = '''<defs><marker id="h" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto">
<path class="head" d="M0 0L7 3L0 6z"/></marker></defs>'''


class Place:
    """A step, a state or a box: its row, and the file, names and probes that stand below it."""

    def __init__(self, row, words):
        self.row, self.words = row, words
        self.file, self.names, self.probes = '', [], []


class Picture:
    def __init__(self, kind, name, title):
        self.kind, self.name, self.title, self.said, self.lanes, self.places = kind, name, title, '', [], []


def read():
    """The pictures of pictures.tab by name."""
    pictures, picture = {}, None
    for line in (HERE / 'pictures.tab').read_text().splitlines():
        word, _, rest = line.strip().partition(' ')
        before, _, after = (part.strip() for part in rest.partition(':'))
        if word in ('life', 'map'):
            pictures[before] = picture = Picture(word, before, after)
        elif word == 'said':
            picture.said = rest
        elif word == 'lane':
            picture.lanes.append(rest)
        elif word == 'step':
            lane, _, words = rest.partition(' ')
            picture.places.append(Place([int(lane)], words))
        elif word in ('state', 'box'):
            picture.places.append(Place(before.split(), after))
        elif word == 'in':
            picture.places[-1].file, picture.places[-1].names = before, after.split()
        elif word == 'probes':
            picture.places[-1].probes = rest.split()
    return pictures


def text(x, y, words, style=''):
    style = f' class="{style}"' if style else ''
    return f'<text x="{x}" y="{y}"{style}>{escape(words, quote=False)}</text>'


def rect(x, y, width, height, style, corner=5):
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{corner}" class="{style}"/>'


def wrapped(words, width):
    return textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False)


# ---- Lives: steps from top to bottom, each in its lane; a line follows what moves from lane to lane ----


def life(picture):
    at = [26 + 24 * n for n in range(len(picture.lanes))]
    left, y = at[-1] + 24, 62
    words, dots, way, begins = [], [], [], []
    for n, lane in enumerate(picture.lanes):
        dots.append(f'<circle cx="{at[n]}" cy="{y - 4}" r="5" class="l{n}"/>')
        words.append(text(left, y, lane, 'd'))
        begins.append(y)
        y += 18
    y += 10
    for step in picture.places:
        x, here = at[step.row[0]], y - 4
        if way and way[-1][0] != x:
            way.append((way[-1][0], here - 12, f'C{way[-1][0]} {here - 4} {x} {here - 12} {x} {here}'))
        way.append((x, here, ''))
        dots.append(f'<circle cx="{x}" cy="{here}" r="6" class="l{step.row[0]}"/>')
        for line in wrapped(step.words, 47):
            words.append(text(left, y, line))
            y += 17
        for line in wrapped(' '.join([step.file, *step.names]), 49):
            words.append(text(left, y - 1, line, 'c'))
            y += 15
        for line in wrapped('probes: ' + ' '.join(step.probes), 49) if step.probes else ():
            words.append(text(left, y - 1, line, 'c p'))
            y += 15
        y += 12
    lanes = [f'<path class="lane" d="M{at[n]} {begins[n]}V{y - 16}"/>' for n in range(len(at))]
    line = 'L'.join(f'{x} {at_y}{bend}' for x, at_y, bend in way)
    return y - 4, [*lanes, f'<path class="way" d="M{line}"/>', *dots, *words]


# ---- The states of a process, and what leads from one to another ----

WAYS = (
    ('M220 126V160', ()),
    ('M220 238V280', ((228, 264, 'picked'),)),
    ('M220 358V392', ()),
    ('M220 470V526', ((228, 494, 'returns or fails,'), (228, 510, 'or an exit signal came'))),
    ('M220 620V654', ()),
    ('M290 420H371V376', ((298, 438, 'nothing to do'),)),
    ('M290 320H312', ()),
    ('M371 282V200H292', ((306, 178, 'woken by a signal'), (306, 193, 'or a timer'))),
    ('M150 420H81V376', ((88, 438, 'long work'),)),
    ('M81 282V214H148', ((88, 232, 'done'),)),
    ('M150 456H16Q12 456 12 452V190Q12 186 16 186H148', ((24, 474, 'slice used up'),)),
)


def process(picture):
    shapes = [HEAD]
    for way, labels in WAYS:
        shapes.append(f'<path class="way" marker-end="url(#h)" d="{way}"/>')
        shapes += [text(x, y, words, 's') for x, y, words in labels]
    for state in picture.places:
        x, y, width, height = map(int, state.row[:4])
        shapes.append(rect(x, y, width, height, state.row[4]))
        shapes.append(text(x + width // 2, y + 19, ' '.join(state.row[5:]), 'b m'))
        for n, line in enumerate(state.words.split(' / ')):
            shapes.append(text(x + width // 2, y + 34 + 15 * n, line, 's m'))
        shapes.append(text(x + width // 2, y + height - 8, state.names[0], 'c m'))
    return 746, shapes


# ---- The layers ----

LEFT, RIGHT, BOX, LAYER = 12, 228, 200, 34
LEGEND = '''A box includes headers of boxes
below, never of boxes above.

A call upward is an upcall: the
lower box declares a pointer,
and the program sets it when
it starts.'''
PROGRAM = '''vmtrace is a program of its own.
Its engine is in the machine too,
below probes/attach.'''


def folders(picture, group):
    """The folders of a group of boxes, the highest first, with their words."""
    return [(box.row[1], box.words) for box in picture.places if box.row[0] == group]


def stack(x, y, width, boxes, style):
    shapes = []
    for folder, words in boxes:
        shapes.append(rect(x, y, width, LAYER - 4, style, 4))
        shapes += [text(x + 8, y + 13, folder, 'c'), text(x + 8, y + 26, words, 's')]
        y += LAYER
    return y, shapes


def layers(picture):
    y, shapes = stack(LEFT, 44, WIDTH - 2 * LEFT, folders(picture, 'top'), 'blue')
    cut, boxes = stack(LEFT, y, BOX + 4, folders(picture, 'above'), 'blue')
    shapes += boxes + stack(RIGHT, y, BOX, folders(picture, 'beside'), 'violet')[1]
    shapes.append(f'<path class="cut" d="M{LEFT} {cut + 6}H{WIDTH - LEFT}"/>')
    shapes.append(text(LEFT, cut + 24, 'Below the line nothing knows a language or a driver.', 'd'))
    top = cut + 34
    bottom, boxes = stack(LEFT, top, BOX + 4, folders(picture, 'stack'), 'green')
    tracer = folders(picture, 'tracer')
    apart = bottom - LAYER * len(tracer)
    shapes += boxes + stack(RIGHT, apart, BOX, tracer, 'yellow')[1]
    for lines, first in ((LEGEND, top + 14), (PROGRAM, apart - 42)):
        for n, line in enumerate(lines.splitlines()):
            shapes.append(text(RIGHT, first + 16 * n, line, 's'))
    return bottom + 8, shapes


def svg(picture):
    height, shapes = {'layers': layers, 'process': process}.get(picture.name, life)(picture)
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    return f'''<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="t d">
<title id="t">{escape(picture.title)}</title><desc id="d">{escape(picture.said)}</desc>
<style>{STYLE}</style>
''' + '\n'.join(
        [
            rect(0.5, 0.5, WIDTH - 1, height - 1, 'card', 6),
            text(14, 28, picture.title, 'h'),
            *shapes,
            '</svg>\n',
        ]
    )


def main():
    for name, picture in read().items():
        (HERE / f'{name}.svg').write_text(svg(picture))


if __name__ == '__main__':
    main()
