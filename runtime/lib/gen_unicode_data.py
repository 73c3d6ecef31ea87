#!/usr/bin/env python3
"""Writes unicode_data.erl, the tables behind unicode_util, from Python's unicodedata and Perl's Unicode properties.

Run by hand when a new Unicode version is wanted: gen_unicode_data.py > unicode_data.erl. Both sources must have the same version.
"""
import subprocess
import sys
import unicodedata

CODES = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
CLASSES = {"control": "GCB=CN", "extend": "GCB=EX", "prepend": "GCB=PP", "spacing": "GCB=SM", "pictograph": "ExtPict=Y"}


def perl(script):
    return subprocess.run(["perl", "-e", script], check=True, capture_output=True, text=True).stdout.split()


def classes():
    """[(low, high, class)] of the grapheme cluster break classes that have no short rule."""
    found = []
    for name, prop in CLASSES.items():
        script = r'for $c (0x80..0x10ffff) { next if $c>=0xd800&&$c<=0xdfff; print "$c\n" if chr($c)=~/\p{%s}/ }' % prop
        start = last = None
        for code in map(int, perl(script)):
            if last is not None and code != last + 1:
                found.append((start, last, name))
                start = code
            start = code if start is None else start
            last = code
        found.append((start, last, name))
    return sorted(found)


def single(function):
    """Ranges (low, high, step, delta) of a one-to-one mapping, and the list of the others."""
    ranges, others = [], []
    for code in CODES:
        if code < 128:
            continue
        to = function(chr(code))
        if len(to) > 1:
            others.append((code, [ord(c) for c in to]))
        elif ord(to) != code:
            delta = ord(to) - code
            if ranges:
                low, high, step, d = ranges[-1]
                if d == delta and code - high in (1, 2) and (step == code - high or low == high):
                    ranges[-1] = (low, code, code - high, d)
                    continue
            ranges.append((code, code, 1, delta))
    return ranges, others


def out(name, comment, rows):
    items = [str(x).replace(" ", "").replace("'", "") for row in rows for x in row]
    print(f"\n%% {comment}\n{name}() ->\n    {{", end="")
    width, line = 100, ""
    for item in items:
        if len(line) + len(item) + 1 > width:
            print(line + ",\n     ", end="")
            line = ""
        line += ("," if line else "") + item
    print(line + "}.")


def main():
    if perl('use Unicode::UCD; print Unicode::UCD::UnicodeVersion()')[0] != unicodedata.unidata_version:
        sys.exit("Perl and Python have different Unicode versions")
    names = ["class_ranges/0", "combining_ranges/0", "decompositions/0", "compat_decompositions/0", "compositions/0"]
    cases = {"lower": str.lower, "upper": str.upper, "title": str.title, "fold": str.casefold}
    for case in cases:
        names += [f"{case}_ranges/0", f"{case}_special/0"]
    print(f"%% Unicode {unicodedata.unidata_version} tables, made by gen_unicode_data.py. Flat sorted tuples for binary search.")
    print("-module(unicode_data).\n\n-export([version/0, " + ",\n         ".join(names) + "]).\n")
    print("version() -> {%s}." % unicodedata.unidata_version.replace(".", ", "))
    out("class_ranges", "Low, High, class for breaking grapheme clusters.", classes())
    combining = []
    for code in CODES:
        ccc = unicodedata.combining(chr(code))
        if ccc and combining and combining[-1][1] == code - 1 and combining[-1][2] == ccc:
            combining[-1] = (combining[-1][0], code, ccc)
        elif ccc:
            combining.append((code, code, ccc))
    out("combining_ranges", "Low, High, canonical combining class.", combining)
    canonical, compat, pairs = [], [], []
    for code in CODES:
        if 0xAC00 <= code <= 0xD7A3:
            continue
        d = unicodedata.normalize("NFD", chr(code))
        k = unicodedata.normalize("NFKD", chr(code))
        if d != chr(code):
            canonical.append((code, [ord(c) for c in d]))
        if k != d:
            compat.append((code, [ord(c) for c in k]))
        pair = unicodedata.decomposition(chr(code)).split()
        if len(pair) == 2 and pair[0][0] != "<" and unicodedata.normalize("NFC", chr(code)) == chr(code):
            pairs.append((int(pair[0], 16), int(pair[1], 16), code))
    out("decompositions", "Code point, full canonical decomposition.", canonical)
    out("compat_decompositions", "Code point, full compatibility decomposition, where it differs from the canonical one.", compat)
    out("compositions", "First code point, second one, what they compose to.", sorted(pairs))
    for case, function in cases.items():
        ranges, others = single(function)
        out(f"{case}_ranges", "Low, High, step, difference.", ranges)
        out(f"{case}_special", "Code point, mapping to several.", others)


main()
