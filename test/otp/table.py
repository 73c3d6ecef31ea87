# SPDX-License-Identifier: Apache-2.0
"""Prints the document docs/otp-suites.md, which says how much of OTP's own suites passes, out of the two
lists that the suite `otp` holds true:

    python3 test/otp/table.py > docs/otp-suites.md
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from otp import lists  # noqa: E402

HEAD = '''# OTP's own suites

What Erlang/OTP tests itself with, run by its own `common_test`: once by stock `erl`, once by vmrun, whose \
`build/bin` comes first in PATH. The suites are those of the source package of Debian's erlang, unchanged, \
each on a node with an epmd of its own; "passed by erl" counts the cases that pass with stock `erl` on the \
same machine, "by us" those among them that pass with vmrun too. Cases that stock `erl` itself fails or \
skips, here as there, are not counted. `suites.txt` of the release in `test/otp` has each case that makes \
the difference, with the reason.

This document is made by `python3 test/otp/table.py`; `./dev test --suite otp` holds it true for the \
installed release: a case that passes with `erl` and neither passes here nor stands in `suites.txt` fails \
the test, and so does one that stands there and passes. "Suites" are those that have been recorded \
(`python3 test/otp/record.py`); others are not run.
'''
TOTALS = ['', '| area | suites | passed by erl | by us | % |', '|---|---|---|---|---|']
ONE_AREA = ['', '| suite | passed by erl | by us | % |', '|---|---|---|---|']


def document():
    return '\n'.join([HEAD.rstrip(), *(line for release in lists.RELEASES for line in chapter(release))])


def chapter(release):
    path_of_stock, path_of_ours = lists.of(release)
    stock, ours = lists.read(path_of_stock), lists.read(path_of_ours)
    rows = {}
    for (folder, suite), known in stock.items():
        if (folder, suite) not in ours:
            continue  # recorded with stock erl only
        missing = len(ours[folder, suite].cases)
        rows.setdefault(lists.area(folder), []).append((suite, known.number, known.number - missing))
    version = re.search(r'OTP ([\d.]+\d)', path_of_stock.read_text())[1]
    lines = ['', f'## OTP {version}', *TOTALS]
    for area, suites in rows.items():
        lines.append(
            f'| {area} | {len(suites)} | '
            f'{line_of(sum(n for _, n, _ in suites), sum(p for _, _, p in suites))} |'
        )
    for area, suites in rows.items():
        lines += ['', f'### {area} of {release}', *ONE_AREA]
        lines += [
            f'| {suite.removesuffix("_SUITE")} | {line_of(number, passed)} |'
            for suite, number, passed in suites
        ]
    return lines


def line_of(number, passed):
    return f'{number} | {passed} | {100 * passed / number:.1f}'


if __name__ == '__main__':
    print(document())
