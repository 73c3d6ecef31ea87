# SPDX-License-Identifier: Apache-2.0
"""The two lists of a release of OTP: what stock erl makes of each suite (stock.txt), and what is not so with
us (suites.txt). Both are folders, suites and cases, by indentation; after a suite in stock.txt is the number
of cases that pass, after a case how it ends or why it does not pass."""
import pathlib

from harness.golden import stock_release

HERE = pathlib.Path(__file__).resolve().parent
RELEASES = sorted(int(path.name) for path in HERE.iterdir() if path.name.isdigit())
LEFT_OUT, SOMETIMES = 'left out: ', 'sometimes: '


class Suite:
    def __init__(self, number=0):
        self.number, self.cases = number, {}


def of(release):
    """The paths of a release's two lists."""
    return HERE / str(release) / 'stock.txt', HERE / str(release) / 'suites.txt'


def at_hand():
    """The paths of the two lists of the release that the installed erl is of."""
    return of(stock_release())


def left_out(*suites):
    """Cases that are not to be run, by either list."""
    return [case for suite in suites for case, why in suite.cases.items() if why.startswith(LEFT_OUT)]


def read(path):
    """(folder, suite) -> Suite, in the order of the file."""
    suites, folder, suite = {}, None, None
    for line in path.read_text().splitlines() if path.exists() else []:
        word, _, rest = line.strip().partition(' ')
        depth = len(line) - len(line.lstrip())
        if not word or word == '#':
            continue
        if depth == 0:
            folder = word
        elif depth == 2:
            suite = suites.setdefault((folder, word), Suite(int(rest or 0)))
        else:
            suite.cases[word] = rest.strip()
    return suites


def write(path, suites):
    """The comment at the file's beginning stays."""
    comment = (
        [line for line in path.read_text().splitlines() if line.startswith('#')] if path.exists() else []
    )
    lines, last = comment, None
    for (folder, name), suite in sorted(
        suites.items(), key=lambda item: (ORDER.index(area(item[0][0])), *item[0])
    ):
        if folder != last:
            lines.append(folder)
            last = folder
        lines.append(f'  {name} {suite.number}' if suite.number else f'  {name}')
        lines += [f'    {case} {why}'.rstrip() for case, why in sorted(suite.cases.items())]
    path.write_text('\n'.join(lines) + '\n')


ORDER = [
    'emulator',
    'stdlib',
    'compiler',
    'kernel',
    'sasl',
    'parsetools',
    'syntax_tools',
    'eunit',
    'runtime_tools',
    'tools',
    'mnesia',
    'xmerl',
    'crypto',
    'public_key',
    'inets',
    'ssl',
    'asn1',
    'edoc',
    'et',
    'debugger',
    'observer',
    'reltool',
    'snmp',
    'os_mon',
    'common_test',
]


def area(folder):
    return folder.split('/')[1]
