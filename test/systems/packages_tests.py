"""One script for each package in packages/: it says which Debian packages it needs, and does what they are for."""
import pathlib
import re
import shutil
import subprocess

from harness.results import Failure, Skip, Test

from .suite import difference, machines, scratch

# What says when, and which process.
DIFFERS = [(r'\d+-\w{3}-\d{4}::[\d:.]+', 'WHEN'), (r'\d{4}-\d\d-\d\d[_ -][\d:.]+', 'WHEN'), (r'<0\.\d+\.\d+>', '<pid>'), (r'#Ref<[\d.]+>', '<ref>'), (r'#Fun<([\w.]+)\.\d+>', r'#Fun<\1>'), (r'done in [\d.]+ s', 'done')]
SCRIPTS = pathlib.Path(__file__).with_name('packages')


def tests(programs):
    return [*(Test('systems', f'package {path.stem}', lambda path=path: agree(programs, path)) for path in sorted(SCRIPTS.glob('*.escript'))),
            Test('systems', 'package proper, in a script of vmrun', lambda: as_script(programs, SCRIPTS / 'proper.escript'))]


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
    told = subprocess.run(['dpkg-query', '-W', '-f=${Package} ${db:Status-Status}\n', *packages], capture_output=True, text=True)
    return [package for package in packages if f'{package} installed' not in told.stdout.split('\n')]


def certain(text):
    for pattern, name in DIFFERS:
        text = re.sub(pattern, name, text)
    return text


def agree(programs, path):
    if absent := missing(packages_of(path)):
        raise Skip('not installed: ' + ' '.join(absent))
    outcomes = []
    for machine in machines(programs):
        with scratch() as folder:
            shutil.copy(path, folder)
            status, out, err = machine.run(folder, ['escript', path.name], environment=environment_of(path))
        outcomes.append([status, certain(out), ''.join(sorted(certain(err).splitlines(True)))])  # by programs behind ports, in any order
    ours, theirs = outcomes
    if ours != theirs:
        raise Failure(difference(ours, theirs))


def as_script(programs, path):
    """vmrun FILE does what a stock escript does."""
    if absent := missing(packages_of(path)):
        raise Skip('not installed: ' + ' '.join(absent))
    ours, theirs = machines(programs)
    vmrun = (ours.folder / 'erl').resolve()
    here, there = ours.run(path.parent, [str(vmrun), path.name])[:2], theirs.run(path.parent, ['escript', path.name])[:2]
    if here != there:
        raise Failure(difference([*here, ''], [*there, '']))
