# SPDX-License-Identifier: Apache-2.0
"""The machine on other releases of Debian: built there, with that release's compiler and libraries, booting
that release's OTP, and compared with its stock erl by the suites that compare here."""
import difflib
import filecmp
import functools
import pathlib
import re
import shutil
import subprocess
import threading

from harness.results import Failure, Test
from otp import lists

from . import mixtures, packages
from .debian_root import ROOTS, DebianRoot

# Releases of Debian, and their OTP.
RELEASES = {'trixie': 27, 'forky': 29}
# What the compared programs need beyond what ./dev installs.
PACKAGES = '''python3 erlang-base erlang-dev erlang-crypto erlang-ssl erlang-mnesia erlang-dialyzer
    erlang-common-test erlang-eunit erlang-tools erlang-inets erlang-ssh elixir rebar3 git openssh-client
    erlang erlang-proper-dev linux-perf rabbitmq-server ejabberd python3-pika python3-slixmpp curl
    iproute2'''.split()
# README's commands, typed one after the other in a clone on a new Debian, and what they print last. The
# second one there is ./dev test; ./dev check is its short form.
FIRST_COMMANDS = {
    './dev run docs/examples/ring.act': '100 processes, 50 laps, 5000 hops',
    './dev check': r'[1-9]\d* passed, 0 failed',
}
# Suites that run inside, with what they are asked for.
SUITES = {
    'golden scripts': ['--suite', 'golden', '--mode', 's4'],
    'scripts that erlc has compiled': ['--suite', 'erlc'],
    'commands': ['--suite', 'command'],
    'nodes': ['--suite', 'nodes'],
    'packages, releases and tools': ['--suite', 'systems'],
}
# Programs that print the same as under the root's stock erl: main/0 of each. Comments at the top may state
# `since`, the first OTP release that they are for, `flags` of erl, and the modules of programs/shared that
# they go `with`.
PROGRAMS = sorted((pathlib.Path(__file__).parent / 'programs').glob('*.erl'))
OWN_SUITES = "Erlang/OTP's own suites"  # of releases that test/otp has lists of
ONE_AT_A_TIME = threading.Lock()


def tests(root, vmrun):
    single = [
        Test('releases', f'{name}: {what}', functools.partial(function, root, name), in_turn=True)
        for name in RELEASES
        for what, function in (
            ("README's commands, in a clone in a clean root", work_at_once),
            ('it builds, and boots OTP', boots),
            *(
                (program.stem, functools.partial(prints_as_stock, program))
                for program in PROGRAMS
                if int(stated(program, 'since', 0)) <= RELEASES[name]
            ),
            *((what, functools.partial(suite_passes, words)) for what, words in suites_of(name).items()),
        )
    ]
    for name in RELEASES:
        single += packages.tests(name, functools.partial(prepared, root, name))

    def roots():
        return {release: prepared(root, name).folder for name, release in RELEASES.items()}

    return single + mixtures.tests(vmrun, roots)


def suites_of(name):
    return {**SUITES, **({OWN_SUITES: ['--suite', 'otp']} if RELEASES[name] in lists.RELEASES else {})}


@functools.cache
def prepared(root, name):
    """The root, with what git knows of the checkout."""
    debian = DebianRoot(name, prepared_source(root, name))
    with ONE_AT_A_TIME:
        debian.make(PACKAGES)
    return debian


@functools.cache
def built(root, name):
    """The root, in which the machine has been built from what git knows of the checkout."""
    debian = prepared(root, name)
    with ONE_AT_A_TIME:
        debian.succeed('./dev', 'build', seconds=4 * 3600)
    return debian


def prepared_source(root, name):
    """A copy of the checkout's files, whose build folder outlives the run. Files that have not changed keep
    their times, so that only the rest is built again."""
    to = ROOTS / f'{name}-source'
    listed = subprocess.run(['git', 'ls-files', '-z'], cwd=root, capture_output=True, check=True).stdout
    files = {file for file in listed.decode().split('\0') if file and (root / file).exists()}
    to.mkdir(parents=True, exist_ok=True)
    for file in to.rglob('*'):
        inside = str(file.relative_to(to))
        if file.is_file() and not inside.startswith('build') and inside not in files:
            file.unlink()
    for file in files:
        if not (to / file).exists() or not filecmp.cmp(root / file, to / file, shallow=False):
            (to / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / file, to / file, follow_symlinks=False)
    return to


def work_at_once(root, name):
    clone = ROOTS / f'{name}-clone'
    shutil.rmtree(clone, ignore_errors=True)
    subprocess.run(['git', 'clone', '-q', '--no-hardlinks', root, clone], check=True)
    debian = DebianRoot(name, clone)
    with ONE_AT_A_TIME:
        debian.make_clean()
    # Whoever has cloned has git.
    commands = ['apt-get install -y -qq --no-install-recommends git', *FIRST_COMMANDS]
    script = ' && '.join(f'echo "typed: {command}" && {command}' for command in commands)
    status, text = debian.run('sh', '-c', script, seconds=4 * 3600, clean=True)
    said = dict(part.split('\n', 1) for part in re.split(r'^typed: ', text, flags=re.M) if '\n' in part)
    for command, last in FIRST_COMMANDS.items():
        lines = said.get(command, '').split('\n')
        if not any(re.fullmatch(last, line) for line in lines[-2:]):
            raise Failure(f'status {status}, {command} says\n' + '\n'.join(lines[-60:]))
    if status:
        raise Failure(f'status {status}')


def boots(root, name):
    debian = built(root, name)
    asked = 'io:format("~s", [erlang:system_info(otp_release)]), halt().'
    for program in ('erl', 'build/bin/erl'):
        said = debian.succeed(program, '-noshell', '-eval', asked)
        if said != str(RELEASES[name]):
            raise Failure(f'{program} of {name} says {said!r}')
    said = debian.succeed(
        'build/bin/erl', '-sname', 'a', '-noshell', '-eval', 'io:format("~s", [node()]), halt().'
    )
    if not said.startswith('a@'):
        raise Failure(f'a node of {name} is called {said!r}')


def stated(program, what, otherwise=''):
    found = re.search(rf'^%% {what}: (.*)', program.read_text(encoding='utf-8'), re.M)
    return found[1] if found else otherwise


def prints_as_stock(program, root, name):
    debian = built(root, name)
    folder = f'build/programs/{program.stem}'
    debian.succeed('mkdir', '-p', folder)
    modules = [program.name, *(f'shared/{module}.erl' for module in stated(program, 'with').split())]
    debian.succeed('erlc', '-o', folder, *(f'test/releases/programs/{module}' for module in modules))
    flags = stated(program, 'flags').split()
    words = [*flags, '-noshell', '-pa', folder, '-eval', f'{program.stem}:main(), halt().']
    stock, ours = (debian.succeed(erl, *words) for erl in ('erl', 'build/bin/erl'))
    if ours != stock:
        difference = difflib.unified_diff(stock.splitlines(), ours.splitlines(), 'stock', 'ours', lineterm='')
        raise Failure('\n'.join(difference))


def suite_passes(words, root, name):
    debian = built(root, name)
    status, text = debian.run('python3', 'test/run', '--build', 'build', *words, seconds=12 * 3600)
    total = re.search(r'(\d+) passed, (\d+) failed\s*$', text)
    if status or not total or int(total[2]) or not int(total[1]):
        raise Failure(failures(text))


def failures(text):
    """What a run of tests says of each that failed, its first forty lines, and how the run ends."""
    told = re.findall(r'^FAILED .*\n(?:    .*\n){0,40}', text, re.M)
    return '\n'.join([*(each.rstrip() for each in told), *text.splitlines()[-2 if told else -60 :]])
