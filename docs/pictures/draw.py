#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws look.svg, the picture of README.md, from a real run: shop.act under `vmtrace top`, a D script,
`flame` and `timeline`.

    python3 docs/pictures/draw.py [BUILD [FILE]]

The colours follow the reader's setting, light or dark."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from html import escape

HERE = pathlib.Path(__file__).parent
WIDTH, MARGIN, GAP = 880, 12, 12
HALF = (WIDTH - 2 * MARGIN - GAP) / 2
SCRIPT = (
    'shop:ask:entry { self->t = timestamp; }',
    'shop:ask:return /self->t/ { @ns = quantize(timestamp - self->t); }',
)
SHOWN = ('orders', 'pricing', 'mailer', 'ann', 'bob', 'cid', 'dora', 'emil')
STYLE = '''
text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#24292f}
.s{font-size:9.5px}.d{fill:#57606a}.p{fill:#0969da}.b{font-weight:600}
.card{fill:#f6f8fa;stroke:#d0d7de}.w{fill:#d8dee4}.q{fill:#d4a72c}.g{fill:#cf222e}\
.m{stroke:#57606a;fill:none;opacity:.75}
.c0{fill:#54aeff}.c1{fill:#ff8182}.c2{fill:#4ac26b}.c3{fill:#c297ff}.c4{fill:#f9b25b}\
.f{stroke:#f6f8fa;stroke-width:.6}.l{fill:#1b1f24}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.d{fill:#8d96a0}.p{fill:#58a6ff}\
.card{fill:#161b22;stroke:#30363d}
.w{fill:#30363d}.q{fill:#9e6a03}.g{fill:#f85149}.m{stroke:#8d96a0}.f{stroke:#161b22}.l{fill:#0d1117}
.c0{fill:#388bfd}.c1{fill:#f47067}.c2{fill:#3fb950}.c3{fill:#a371f7}.c4{fill:#db8b2d}}
'''


def number(value):
    return f'{value:.1f}'.rstrip('0').rstrip('.')


def rect(x, y, width, height, style, corner=''):
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" '
        f'class="{style}"{corner}/>'
    )


def text(x, y, words, style='', more=''):
    return (
        f'<text x="{number(x)}" y="{number(y)}" class="{style}" '
        f'xml:space="preserve"{more}>{escape(words)}</text>'
    )


def card(x, y, height, command):
    prompt = (
        f'<text x="{number(x + 12)}" y="{number(y + 20)}"><tspan class="d">$ </tspan><tspan class="p '
        f'b">{escape(command)}</tspan></text>'
    )
    return [rect(x, y, HALF, height, 'card', ' rx="6"'), prompt]


def observe(build):
    """What is shown of a run: the lines of the table, those of the script, the data of the page, the
    document."""
    program = subprocess.Popen(
        [build / 'vmrun', '+S', '2', HERE / 'shop.act', '60'], stdout=subprocess.DEVNULL
    )
    time.sleep(2)  # so that the mailbox is long

    def view(*words):
        return subprocess.run(
            [build / 'vmtrace', *words, '-p', str(program.pid)], check=True, capture_output=True, text=True
        ).stdout

    try:
        with tempfile.TemporaryDirectory() as folder:
            page, document = pathlib.Path(folder) / 'page', pathlib.Path(folder) / 'document'
            table = view('top', '-d', '2', '-i', '0', '-k', 'QUEUE', '-n', '8').splitlines()
            plot = view(
                '-q', *(word for clause in SCRIPT for word in ('-n', clause)), '-n', 'tick-2s { exit(0); }'
            ).splitlines()
            view('flame', '-d', '3', '-F', '997', '-o', page)
            view('timeline', '-d', '200ms', '-o', document)
            data = re.search(
                r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S
            )[1]
            return table, plot, json.loads(data), json.loads(document.read_text())
    finally:
        program.kill()
        program.wait()


def terminal(x, y, height, command, lines):
    """lines: pairs of a text and its style."""
    out = card(x, y, height, command)
    return out + [text(x + 12, y + 38 + 15 * i, line, style) for i, (line, style) in enumerate(lines)]


def table_lines(table):
    shown = [re.sub(r', pid \d+', '', line) for line in table if not line.startswith('(')]
    return [(line, 'd' if i < 2 else 'b' if ' mailer' in line else '') for i, line in enumerate(shown)]


def plot_lines(plot):
    """The script, then its plot, narrower than a terminal's."""
    head, body = SCRIPT[1].split(' { ')
    lines = [(f'  {head}', 'p b'), (f"  {{ {body}'", 'p b'), ('      ns   how long a question takes', 'd')]
    for value, bar, count in re.findall(r'^ *(\d+) \|([@ ]*?) +([1-9]\d*) *$', '\n'.join(plot), re.M):
        lines.append((f'{value:>9} |{bar[::2]:<21}{count}', ''))
    return lines


def flame(data, x, y, height):
    """Boxes from the bottom up, each as wide as the samples of its frame and of all that it calls."""

    class Box:
        def __init__(self, name):
            self.name, self.own, self.inside = name, 0, []

        def total(self):
            return self.own + sum(box.total() for box in self.inside)

    root = Box('all')
    path = [root]
    for depth, name, _, own in data['nodes']:
        box = Box(data['names'][name][0])
        box.own = own
        path[depth + 1 :] = [box]
        path[depth].inside.append(box)
    out, row, left, bottom = card(x, y, height, 'vmtrace flame'), 19, x + 12, y + height - 14
    scale = (HALF - 24) / root.total()

    def put(box, at, depth):
        width = box.total() * scale
        if width < 1.5 or bottom - row * (depth + 1) < y + 26:
            return
        style = 'w' if depth == 0 else f'c{(1, 4, 1)[depth % 3] if depth % 2 else 4}'
        out.append(rect(at, bottom - row * (depth + 1), width, row - 1, f'{style} f', ' rx="1.5"'))
        words = box.name if depth else f'all, {root.total()} samples'
        fits = int((width - 8) / 5.9)
        if fits >= 4:
            words = words if len(words) <= fits else words[: fits - 1] + '…'
            out.append(text(at + 4, bottom - row * depth - 7, words, 's' + (' l' if depth else '')))
        for inner in sorted(box.inside, key=Box.total, reverse=True):
            put(inner, at, depth + 1)
            at += inner.total() * scale

    put(root, left, 0)
    return out


def tracks(document):
    """Names of tracks, their slices as (begin, end, name), and messages as (track, time, track, time)."""
    events = document['traceEvents']
    names = {(e['pid'], e['tid']): e['args']['name'] for e in events if e.get('name') == 'thread_name'}
    slices, open_slices, flows, messages = {}, {}, {}, []
    for e in events:
        track = e['pid'], e.get('tid')
        if e['ph'] == 'B':
            open_slices.setdefault(track, []).append((e['ts'], e['name']))
        elif e['ph'] == 'E':
            begin, name = open_slices[track].pop()
            slices.setdefault(track, []).append((begin, e['ts'], name))
        elif e['ph'] == 's':
            flows[e['id']] = track, e['ts']
        elif e['ph'] == 'f' and e['id'] in flows:
            messages.append((*flows[e['id']], track, e['ts']))
    return names, slices, messages


def timeline(document, x, y, height, span=540):
    names, slices, messages = tracks(document)
    short = {track: name.split(' <')[0] for track, name in names.items()}
    lanes = sorted(
        (t for t in names if short[t].startswith('scheduler') and t in slices), key=lambda t: short[t]
    )
    lanes += sorted((t for t in names if short[t] in SHOWN), key=lambda t: SHOWN.index(short[t]))
    # The span in which most happens.
    marks = sorted(b for t in lanes for b, _, n in slices[t] if n == 'send')
    start = max(marks, key=lambda m: sum(m <= other < m + span for other in marks)) - span * 0.03
    out, left, row = card(x, y, height, 'vmtrace timeline'), x + 88, (height - 58) / len(lanes)
    scale = (HALF - 88 - 12) / span
    top = {track: y + 32 + row * i for i, track in enumerate(lanes)}
    colour = {name: f'c{min(SHOWN.index(name), 3)}' for name in SHOWN}
    for track in lanes:
        name = short[track]
        out.append(text(x + 12, top[track] + row / 2 + 3, name, 's'))
        for begin, end, what in sorted(slices[track], key=lambda s: s[0] - s[1]):
            b, e = max(begin, start), min(end, start + span)
            if (
                e <= b
                or what in ('send', 'receive')
                or (what == 'waiting' or what == 'runnable')
                and (e - b) * scale < 0.6
            ):
                continue
            kind = (
                'w'
                if what == 'waiting'
                else 'q'
                if what == 'runnable'
                else 'g'
                if what.endswith('collection')
                else None
            )
            kind = kind or colour.get(what.split(' <')[0] if name.startswith('scheduler') else name, 'w')
            thin = row * 0.34 if kind in 'wq' and not name.startswith('scheduler') else 0
            out.append(
                rect(
                    left + (b - start) * scale,
                    top[track] + 1 + thin,
                    max((e - b) * scale, 0.8),
                    row - 3 - 2 * thin,
                    kind,
                )
            )
    for source, sent, target, received in messages:
        if source in top and target in top and start <= sent and received <= start + span:
            x1, y1, x2, y2 = (
                left + (sent - start) * scale,
                top[source] + row / 2,
                left + (received - start) * scale,
                top[target] + row / 2,
            )
            out.append(
                f'<path d="M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}" class="m" '
                'marker-end="url(#a)"/>'
            )
    at = left
    for kind, words in (('', 'runs'), ('w', 'waits'), ('q', 'ready'), ('g', 'collects')):
        swatches = [
            rect(at + 3 * i, y + height - 18, 3, 7, k)
            for i, k in enumerate(('c0', 'c1', 'c3') if words == 'runs' else (kind,) * 3)
        ]
        out += [*swatches, text(at + 13, y + height - 11, words, 's d')]
        at += 64
    out.append(text(x + HALF - 12, y + height - 11, f'{span / 1000:g} ms', 's d', ' text-anchor="end"'))
    return out


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent.parent / 'build')
    table, plot, data, document = observe(build)
    right, lower = MARGIN + HALF + GAP, 224
    left_lines, right_lines = table_lines(table), plot_lines(plot)
    upper = 40 + 15 * max(len(left_lines), len(right_lines))
    y = MARGIN + upper + GAP
    body = [
        *terminal(MARGIN, MARGIN, upper, 'vmtrace top -k QUEUE', left_lines),
        *terminal(right, MARGIN, upper, f"vmtrace -n '{SCRIPT[0]}", right_lines),
        *flame(data, MARGIN, y, lower),
        *timeline(document, right, y, lower),
    ]
    total = y + lower + MARGIN
    arrow = (
        '<marker id="a" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="5" markerHeight="5" '
        'orient="auto"><path d="M0 0L6 3L0 6" class="m"/></marker>'
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {number(total)}" width="{WIDTH}" '
        f'height="{number(total)}">'
        f'<style>{STYLE}</style><defs>{arrow}</defs>\n' + '\n'.join(body) + '\n</svg>\n'
    )
    out = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / 'look.svg'
    out.write_text(svg)
    print(f'{out}: {len(svg)} bytes')


main()
