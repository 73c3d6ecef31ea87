# SPDX-License-Identifier: Apache-2.0
"""Reads what callgrind writes: https://valgrind.org/docs/manual/cl-format.html. It supports names written
out, positions that are addresses (OPTIONS) and one kind of event, instructions. Addresses are those of the
file."""
import collections
import re

OPTIONS = [
    '--dump-instr=yes',
    '--dump-line=no',
    '--compress-strings=no',
    '--compress-pos=no',
    '--combine-dumps=yes',
]


MACHINE_CODE = 'machine_code'  # made by vm/hot, in no file


def command(out, program, *options):
    """Returns the command that runs a program under callgrind, which writes to the file `out`."""
    return ['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', *OPTIONS, *options, *program]


class Function:
    """Instructions of a function itself, those with what it calls, how often it is called, and how often it
    tests whether a probe is enabled. The callees of a recursive function count once for each time it is on
    the stack."""

    FIELDS = ('own', 'inclusive', 'calls', 'tests')

    def __init__(self, own=0.0, inclusive=0.0, calls=0.0, tests=0.0):
        self.own, self.inclusive, self.calls, self.tests = own, inclusive, calls, tests

    def combined(self, other, times):
        return Function(*(getattr(self, field) + times * getattr(other, field) for field in self.FIELDS))


class Profile(collections.defaultdict):
    """Functions by name. They are all that was executed, so their own instructions add up to the total."""

    def __init__(self, functions=()):
        super().__init__(Function, functions)

    @property
    def total(self):
        return sum(function.own for function in self.values())

    @property
    def tests(self):
        return sum(function.tests for function in self.values())

    def per_operation(self, other, operations):
        """Returns what this profile has more than the other, divided by the number of operations that it has
        more."""
        nothing = Function()
        return Profile(
            {
                name: nothing.combined(
                    self.get(name, nothing).combined(other.get(name, nothing), -1), 1 / operations
                )
                for name in self.keys() | other.keys()
            }
        )


def parts(text):
    """Splits the text into one part for each dump."""
    return re.split(r'^part: \d+$', text, flags=re.M)[1:]


def read(part, tests=frozenset()):
    """tests: addresses of instructions that test whether a probe is enabled."""
    profile, thing, function, callee, callee_thing = Profile(), '', None, None, ''
    calls = None  # the next line has what the calls cost
    for line in part.splitlines():
        key, equals, value = line.partition('=')
        if line.startswith('0x'):
            address, cost = line.split()
            function.inclusive += int(cost)
            if calls is None:
                function.own += int(cost)
                if int(address, 16) in tests:
                    function.tests += int(cost)
            else:
                callee.calls += calls
            calls = None
        elif key == 'ob':
            thing = value
        elif key == 'fn':
            function, callee_thing = profile[short_name(value, thing)], thing
        elif key == 'cob':
            callee_thing = value
        elif key == 'cfn':
            callee, callee_thing = profile[short_name(value, callee_thing)], thing
        elif key == 'calls':
            calls = int(value.split()[0])
    return profile


def total(text):
    """Returns the instructions of all dumps."""
    return sum(read(part).total for part in parts(text))


def short_name(name, thing):
    """Returns a name without types, the project's own namespaces and what the compiler appends for parts of a
    function. Functions of the system's libraries are named by their library, because it depends on the
    installation which of them have a name."""
    if thing.startswith('???'):
        return MACHINE_CODE
    if thing.startswith(('/usr/', '/lib')) or name.startswith(('0x', '???')):
        return f'({thing.rsplit("/", 1)[-1]})'
    if found := re.match(r'std::_Function_handler<.*?, (\S.*)>::_M_invoke\(', name):
        name = found[1]
    name = re.sub(r" \[clone [^]]*\]|'\d+$|\.(cold|part|constprop|isra)\b.*", '', name)
    name = (
        name.replace('(anonymous namespace)::', '')
        .replace('vmrun::', '')
        .replace('operator()', 'operator call')
    )
    depth, kept = 0, ''
    for c in name:
        depth -= c in '>)'
        if depth == 0 and c not in '>)<(':
            kept += c
        depth += c in '<('
    return kept.replace(' const', '').split(' ')[-1] if 'operator' not in kept else kept
