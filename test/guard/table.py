# SPDX-License-Identifier: Apache-2.0
"""The counts that are recorded: counts.tab. For each operation its instructions and its tests of probes, and
below it the functions that have a part in it worth naming, with the same columns."""

from harness.callgrind import Function, Profile

LEAST_PART = 0.002  # of the operation's instructions: what a function needs to have a line, or else
LEAST_TESTS = 0.05  # for one operation
SAME = 0.002  # of the operation's instructions: by how much counts may differ and a recorded one stays
HEAD = '''# Instructions for one operation, counted by callgrind (docs/testing.md, "Instructions"). Made by
# `./dev test --suite guard --record`, not by hand.
#
# A line of an operation: its name, instructions, tests of probes. A line of a function: its own instructions,
# those with what it calls, how often it is called, its tests of probes, its name.
'''


class Counts:
    def __init__(self, total, tests, functions):
        self.total, self.tests, self.functions = total, tests, functions

    @classmethod
    def of(cls, profile):
        return cls(profile.total, profile.tests, profile)

    def same(self, other):
        room = SAME * self.total
        return (
            abs(self.tests - other.tests) < 0.01
            and abs(self.total - other.total) < room
            and all(
                abs(self.functions[name].own - other.functions[name].own) < room
                for name in self.functions.keys() | other.functions.keys()
            )
        )


def read(path):
    """Counts by operation."""
    counts, current = {}, None
    for line in path.read_text(encoding='utf-8').splitlines() if path.exists() else []:
        if not line or line.startswith('#'):
            continue
        if line.startswith(' '):
            *numbers, name = line.split(maxsplit=4)
            current.functions[name] = Function(*map(float, numbers))
        else:
            operation, total, tests = line.split()
            current = counts[operation] = Counts(float(total), float(tests), Profile())
    return counts


def write(path, counts):
    text = HEAD
    for operation, count in sorted(counts.items()):
        text += f'\n{operation:<28}{count.total:.2f} {count.tests:.2f}\n'
        for name, f in sorted(count.functions.items(), key=lambda item: (-item[1].own, item[0])):
            if f.own >= LEAST_PART * count.total or f.tests >= LEAST_TESTS:
                text += f'{f.own:>12.2f} {f.inclusive:>11.2f} {f.calls:>8.2f} {f.tests:>6.2f}  {name}\n'
    path.write_text(text, encoding='utf-8')
