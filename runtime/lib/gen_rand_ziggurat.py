#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes rand_ziggurat.erl, the tables of rand:normal_s/1. Usage: gen_rand_ziggurat.py OUT.erl

G. Marsaglia, W. W. Tsang: The ziggurat method for generating random variables, 2000. 256 layers of equal area
under exp(-x*x/2); everything is computed to 60 digits and rounded once.
"""
import sys
from decimal import Decimal, getcontext

getcontext().prec = 60
LAYERS = 256
R = Decimal("3.6541528853610087963519472518")  # where the tail begins
FRACTION = Decimal(2) ** 51


def density(x):
    return (-x * x / 2).exp()


def tail_area():
    """The area below the density from R on, by its continued fraction."""
    rest = Decimal(0)
    for k in range(4000, 0, -1):
        rest = k / (R + rest)
    return density(R) / (R + rest)


def layers():
    """[(right edge, density there)], and the area of one layer."""
    area = R * density(R) + tail_area()
    edges = [(R, density(R))]
    while len(edges) < LAYERS - 1:
        x, y = edges[0]
        y += area / x
        edges.insert(0, ((-2 * y.ln()).sqrt(), y))
    return [(Decimal(0), Decimal(1))] + edges, area


def rows():
    """(below this a number is inside the layer, width of a unit, density) for each layer; layer 0 is the base
    with the tail."""
    edges, area = layers()
    base = area / edges[-1][1]
    yield int(R / base * FRACTION), base / FRACTION, edges[0][1]
    for (inner, _), (outer, y) in zip(edges, edges[1:]):
        yield int(inner / outer * FRACTION), outer / FRACTION, y


def tuple_of(texts):
    lines, line = [], "   "
    for text in texts:
        if len(line) + len(text) > 118:
            lines.append(line)
            line = "   "
        line += " " + text + ","
    lines.append(line)
    return "{\n" + "\n".join(lines)[:-1] + "}"


TABLE = list(rows())
open(sys.argv[1], "w", encoding="utf-8").write(
    f"""%% The {LAYERS} layers of the ziggurat behind rand:normal_s/1, made by gen_rand_ziggurat.py.
-module(rand_ziggurat).

-export([layer/1, density/1]).

%% {{Inside, Unit}}: a 51-bit number below Inside needs no further test; times Unit it is the value.
layer(I) -> element(I + 1, {tuple_of(f"{{{inside}, {float(unit)!r}}}" for inside, unit, _ in TABLE)}).

%% At the right edge of layer I.
density(I) -> element(I + 1, {tuple_of(repr(float(y)) for _, _, y in TABLE)}).
"""
)
