#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes unicode_data.erl, the tables behind unicode_util. Usage: gen_unicode_data.py grapheme_classes.txt
OUT.erl

Mappings and decompositions are those of Python's unicodedata; the classes for breaking grapheme clusters,
which it does not have, stand in grapheme_classes.txt. A newer unicodedata is taken too: then characters that
came later have their mappings, but the version told is that of the classes.

gen_unicode_data.py --classes prints grapheme_classes.txt from the Unicode properties of Perl.
"""
import subprocess
import sys
import unicodedata

CODES = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
CLASSES = {
    "control": "GCB=CN",
    "extend": "GCB=EX",
    "prepend": "GCB=PP",
    "spacing": "GCB=SM",
    "pictograph": "ExtPict=Y",
}
OUT = sys.stdout


def perl(script):
    return subprocess.run(["perl", "-e", script], check=True, capture_output=True, text=True).stdout.split()


def print_classes():
    """Version; then a class and its ranges, 80 and up; a line that begins with a space goes on with the class
    before."""
    print("version", perl("use Unicode::UCD; print Unicode::UCD::UnicodeVersion()")[0])
    for name, prop in CLASSES.items():
        script = (
            r'for $c (0x80..0x10ffff) { next if $c>=0xd800&&$c<=0xdfff; print "$c\n" if chr($c)=~/\p{%s}/ }'
            % prop
        )
        ranges = []
        for code in map(int, perl(script)):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
        line = name
        for low, high in ranges:
            text = f" {low:X}" if low == high else f" {low:X}-{high:X}"
            if len(line) + len(text) > 110:
                print(line)
                line = " "
            line += text
        print(line)


def read_classes(path):
    """Unicode version of the file, and [(low, high, class)]."""
    version, found = None, []
    for line in open(path, encoding="utf-8"):
        fields = line.split()
        if not line.startswith(" "):
            name = fields.pop(0)
        if name == "version":
            version = tuple(map(int, fields[0].split(".")))
            continue
        for field in fields:
            low, _, high = field.partition("-")
            found.append((int(low, 16), int(high or low, 16), name))
    return version, sorted(found)


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
    OUT.write(f"\n%% {comment}\n{name}() ->\n    {{")
    width, line = 100, ""
    for item in items:
        if len(line) + len(item) + 1 > width:
            OUT.write(line + ",\n     ")
            line = ""
        line += ("," if line else "") + item
    OUT.write(line + "}.\n")


def write(classes_file):
    version, classes = read_classes(classes_file)
    if tuple(map(int, unicodedata.unidata_version.split("."))) < version:
        sys.exit(f"Python's unicodedata {unicodedata.unidata_version} is older than {classes_file}")
    names = [
        "class_ranges/0",
        "category_ranges/0",
        "combining_ranges/0",
        "decompositions/0",
        "compat_decompositions/0",
        "compositions/0",
        "wide_ranges/0",
    ]
    cases = {"lower": str.lower, "upper": str.upper, "title": str.title, "fold": str.casefold}
    for case in cases:
        names += [f"{case}_ranges/0", f"{case}_special/0"]
    OUT.write(
        "%% Unicode tables, made by gen_unicode_data.py. Flat sorted tuples for binary search.\n"
        "-module(unicode_data).\n\n-export([version/0, " + ",\n         ".join(names) + "]).\n\n"
        "version() -> {%d, %d, %d}.\n" % version
    )
    out("class_ranges", "Low, High, class for breaking grapheme clusters.", classes)
    categories = []
    for code in range(0x110000):
        category = unicodedata.category(chr(code)).lower()
        if category == "cn":
            continue
        if categories and categories[-1][1] == code - 1 and categories[-1][2] == category:
            categories[-1] = (categories[-1][0], code, category)
        else:
            categories.append((code, code, category))
    out("category_ranges", "Low, High, general category. What is missing is not assigned.", categories)
    wide = []
    for code in CODES:
        if unicodedata.east_asian_width(chr(code)) in "WF" and unicodedata.category(chr(code)) != "Cn":
            if wide and wide[-1][1] == code - 1:
                wide[-1] = (wide[-1][0], code)
            else:
                wide.append((code, code))
    out("wide_ranges", "Low, High of what takes two columns of a terminal.", wide)
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
    out(
        "compat_decompositions",
        "Code point, full compatibility decomposition, where it differs from the canonical one.",
        compat,
    )
    out("compositions", "First code point, second one, what they compose to.", sorted(pairs))
    for case, function in cases.items():
        ranges, others = single(function)
        out(f"{case}_ranges", "Low, High, step, difference.", ranges)
        out(f"{case}_special", "Code point, mapping to several.", others)


if sys.argv[1] == "--classes":
    print_classes()
else:
    OUT = open(sys.argv[2], "w", encoding="utf-8")
    write(sys.argv[1])
