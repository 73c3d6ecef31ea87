# SPDX-License-Identifier: Apache-2.0
"""One script for each package in packages/: it says which Debian packages it needs, and does what they are
for."""
import codecs
import pathlib
import re
import shutil
import subprocess

from harness import golden
from harness.results import Failure, Skip, Test

from .suite import difference, machines, scratch

# What says when, and which process.
DIFFERS = [
    (r'\d+-\w{3}-\d{4}::[\d:.]+', 'WHEN'),
    (r'\d{4}-\d\d-\d\d[_ -][\d:.]+', 'WHEN'),
    (r'<0\.\d+\.\d+>', '<pid>'),
    (r'#Ref<[\d.]+>', '<ref>'),
    (r'#Fun<([\w.]+)\.\d+>', r'#Fun<\1>'),
    (r'done in [\d.]+ s', 'done'),
    (r'\.\.\.\[[\d.]+ s\] ok', '...ok'),
    (r'(-fun-)\d+-', r'\1N-'),  # releases of erlc number funs in another order
]
SCRIPTS = pathlib.Path(__file__).with_name('packages')


def tests(programs):
    return [
        Test('systems', f'package {path.stem}', lambda path=path: agree(programs, path))
        for path in sorted(SCRIPTS.glob('*.escript'))
    ]


def needed():
    """All Debian packages that a script needs."""
    return sorted({package for path in SCRIPTS.glob('*.escript') for package in packages_of(path)})


def packages_of(path):
    return re.search(r'^%% packages: (.*)$', path.read_text(), re.M)[1].split()


def environment_of(path):
    given = re.search(r'^%% environment: (.*)$', path.read_text(), re.M)
    return dict(setting.split('=') for setting in given[1].split()) if given else {}


def missing(packages):
    if not shutil.which('dpkg-query'):
        raise Skip('no dpkg-query here')
    told = subprocess.run(
        ['dpkg-query', '-W', '-f=${Package} ${db:Status-Status}\n', *packages], capture_output=True, text=True
    )
    return [package for package in packages if f'{package} installed' not in told.stdout.split('\n')]


def certain(text):
    for pattern, name in DIFFERS:
        text = re.sub(pattern, name, text)
    return text


def agree(programs, path):
    """Our escript does what a stock one does, and so does vmrun FILE."""
    if absent := missing(packages_of(path)):
        raise Skip('not installed: ' + ' '.join(absent))
    ours, theirs = machines(programs)
    vmrun = str((ours.folder / 'erl').resolve())
    here, there, as_script = (
        outcome(path, machine, command)
        for machine, command in ((ours, 'escript'), (theirs, 'escript'), (ours, vmrun))
    )
    if [*here[:2], in_any_order(here[2])] != [*there[:2], in_any_order(there[2])]:
        raise Failure(difference(here, there))
    expected, found = of_escript(there), of_script(as_script)
    if found != expected:
        raise Failure('as a script: ' + difference(found, expected))


def outcome(path, machine, command):
    with scratch() as folder:
        shutil.copy(path, folder)
        status, out, err = machine.run(folder, [command, path.name], environment=environment_of(path))
    return [status, certain(out), certain(err)]


def in_any_order(text):
    """Programs behind ports print in any order."""
    return ''.join(sorted(text.splitlines(True)))


# What differs between escript and vmrun FILE, in an order in which it can be taken away. Stacks: who calls
# main, and how base64 does its work.
STACKS = [
    (r',\s*\{(escript,run,2|init,main,1),\[\{file.*?\]\}\]\}\}', ']}}'),
    (r'\{base64,\w+,(?:(?!\{base64url_used).)*', ''),
]
# Reports go to standard output there, some too late: escript ends without waiting for them. The compiler's
# warnings do too; we have none for what OTP's macros do.
REPORTS = r'^=[A-Z]+ REPORT==== WHEN ===\n(?:.+\n)+\n'
WARNINGS = r'^\w+\.escript:\d+:\d+: Warning: .*\n(?:.+\n)+\n'


def of_escript(found):
    status, out, err = found
    out = re.sub(WARNINGS, '', re.sub(REPORTS, '', out, flags=re.M), flags=re.M)
    return [status, without_stacks(out), in_any_order(err)]


def of_script(found):
    """As in Latin-1, which escript writes until OTP 25."""
    status, out, err = found
    if golden.stock_release() < 26:
        out, err = (text.encode('latin-1', 'by_number').decode(errors='replace') for text in (out, err))
    return [status, without_stacks(out), in_any_order(re.sub(REPORTS, '', err, flags=re.M))]


def by_number(error):
    return (
        ''.join(f'\\x{{{ord(character):X}}}' for character in error.object[error.start : error.end]),
        error.end,
    )


codecs.register_error('by_number', by_number)


def without_stacks(text):
    for pattern, rest in STACKS:
        text = re.sub(pattern, rest, text, flags=re.S)
    return text
