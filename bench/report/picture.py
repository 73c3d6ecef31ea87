# SPDX-License-Identifier: Apache-2.0
"""The picture of docs/benchmarks.md: a bar for each kind of workload, from its least to its most against erl,
with the mean. Made by python3 bench/report/picture.py"""
import math
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parents[2] / 'docs'
LEFT, WIDE, ROW, TOP = 96, 560, 24, 40
TICKS = [0.03, 0.1, 0.3, 1, 3, 10]
STYLE = '''text { font: 13px sans-serif; fill: #333 } \
.range { stroke: #8aa4c8; stroke-width: 8; stroke-linecap: round } .mean { fill: #1d4e89 }
line.tick { stroke: #ddd } line.one { stroke: #b3541e; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .range { stroke: #4b6690 } .mean { fill: #9cc4ff } \
line.tick { stroke: #444 } }'''


def x(ratio):
    low, high = math.log(0.025), math.log(25)
    return round(LEFT + WIDE * (math.log(ratio) - low) / (high - low), 1)


def picture(rows):
    height = TOP + ROW * len(rows) + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + 14} {height}" role="img" '
        'aria-label="Time of vmrun against erl, by kind of workload: the table has the figures">',
        f'<style>{STYLE}</style>',
        f'<text x="{LEFT}" y="14">time as a multiple of erl\'s: left of 1 vmrun is faster; dots are '
        'geometric means</text>',
    ]
    for tick in TICKS:
        parts += [
            f'<line class="{"one" if tick == 1 else "tick"}" x1="{x(tick)}" x2="{x(tick)}" y1="{TOP - 4}" '
            f'y2="{height}"/>',
            f'<text x="{x(tick)}" y="{TOP - 8}" text-anchor="middle">{tick:g}</text>',
        ]
    for i, (kind, mean, least, most) in enumerate(rows):
        y = TOP + ROW * i + 14
        parts += [
            f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{kind}</text>',
            f'<line class="range" x1="{x(least)}" x2="{x(most)}" y1="{y}" y2="{y}"/>',
            f'<circle class="mean" cx="{x(mean)}" cy="{y}" r="6"/>',
        ]
    return '\n'.join(parts + ['</svg>', ''])


def main():
    rows = re.findall(
        r'^\| (\w+) \| \d+ \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$',
        (DOCS / 'benchmarks.md').read_text(),
        re.M,
    )
    (DOCS / 'pictures').mkdir(exist_ok=True)
    (DOCS / 'pictures/benchmarks.svg').write_text(
        picture([(kind, *map(float, figures)) for kind, *figures in rows])
    )


if __name__ == '__main__':
    main()
