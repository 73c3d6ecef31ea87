# SPDX-License-Identifier: Apache-2.0
"""Real systems, run by this machine (build/bin comes first in PATH) and by a stock erl: packages of Debian
(packages/), releases, tools that build and test, random programs. What they print and the status they end
with must be the same."""
import difflib
import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from harness.golden import ENVIRONMENT, MODES, run_program
from harness.programs import in_mode
from harness.results import Skip, Test
from nodes.cluster import free_port

PATIENCE_S = 300
slowness = 1  # a factor on it, for stress modes


class Machine:
    """Where commands of OTP are found: a folder of this machine's programs, or nothing in front of the stock
    ones."""

    def __init__(self, name, folder=None):
        self.name, self.folder = name, folder

    def run(self, folder, command, stdin='', environment=None, patience_s=PATIENCE_S):
        """Status, standard output, standard error; the folder is left out of the texts, and so are an epmd
        and its port."""
        port = free_port()
        path = os.environ['PATH'] + ':/usr/lib/erlang/bin'
        settings = dict(
            ENVIRONMENT,
            PATH=f'{self.folder}:{path}' if self.folder else path,
            HOME=str(folder),
            ERL_EPMD_PORT=str(port),
            TERM='dumb',
        )
        settings.update(environment or {})
        try:
            status, *texts = run_program(command, stdin, patience_s * slowness, cwd=folder, env=settings)
        finally:
            subprocess.run(['epmd', '-kill'], env=settings, capture_output=True)
        names = '|'.join(map(re.escape, (str(folder), pathlib.Path(folder).name)))
        return [status, *(re.sub(names, 'FOLDER', text).replace(str(port), 'PORT') for text in texts)]


@functools.cache
def machines(programs):
    if not shutil.which('erl') or not shutil.which('erlc'):
        raise Skip('no erl here')
    return Machine('vmrun', pathlib.Path(programs).resolve()), Machine('a stock erl')


def difference(ours, theirs):
    """What a failure says of [status, output, standard error]: the statuses, and what is different in the
    texts."""
    told = [f'status {ours[0]}, a stock erl: {theirs[0]}']
    for name, here, there in zip(('output', 'standard error'), ours[1:], theirs[1:]):
        told += difflib.unified_diff(
            there.splitlines(), here.splitlines(), f'{name} of a stock erl', 'of vmrun', n=1, lineterm=''
        )
    return '\n'.join(line[:1000] for line in told[:80])


def scratch():
    return tempfile.TemporaryDirectory(prefix='vmrun-systems-')


def tests(root, build, vmrun, programs):
    from . import random_programs  # which uses what stands here

    return programs_tests(programs) + random_programs.tests(root, build, vmrun)


def programs_tests(programs):
    from . import elixir_suites, packages_tests, releases, servers_tests, tools

    return (
        packages_tests.tests(programs)
        + releases.tests(programs)
        + tools.tests(programs)
        + elixir_suites.tests(programs)
        + servers_tests.tests(programs)
    )


def tests_in_mode(programs, mode, seed, folder):
    """What is run by the programs of the folder, with the flags of a mode for our machine
    (docs/testing.md)."""
    global slowness
    slowness = max(slowness, MODES[mode][1])
    programs = in_mode(programs, mode, seed, folder)
    return [Test(t.suite, f'{t.name} [{mode}]', t.run, t.in_turn) for t in programs_tests(programs)]
