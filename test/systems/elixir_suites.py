# SPDX-License-Identifier: Apache-2.0
"""Elixir's own tests, of the source of Debian's package, run with the installed Elixir by vmrun and by a
stock erl: what passes there passes here."""
import functools
import os
import pathlib
import shutil
import subprocess
import xml.etree.ElementTree

from harness.results import Failure, Skip, Test
from otp.source import fetch_package, locked

from .suite import machines, scratch

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get('VMRUN_ELIXIR_SOURCE', '/var/tmp/vmrun-elixir'))
KNOWN = HERE / 'elixir_known.txt'
APPLICATIONS = ['elixir', 'ex_unit', 'eex', 'logger', 'iex', 'mix']
PATIENCE_S = 1800
TRIES = 3  # some tests have timeouts that a busy machine exceeds

# The part in Erlang: all tests of the modules in one folder, by eunit.
EUNIT = (
    'erlc -I ../../include *.erl && erl -noshell -I ../../include -pa ../../ebin -eval \'{ok, _} = '
    'application:ensure_all_started(elixir), '
    'eunit:test([list_to_atom(filename:rootname(F)) || F <- filelib:wildcard("*_test.erl")], [{report, '
    '{eunit_surefire, [{dir, "."}]}}]), halt().\''
)


def tests(programs):
    return [
        Test('systems', f'elixir: {name}', functools.partial(agree, programs, name), in_turn=True)
        for name in ('in Erlang', *APPLICATIONS)
    ]


def agree(programs, application):
    """The suite is tried again for tests that fail: one that passes once passes."""
    tree, known = installed_tree(), known_differences(application)
    ours, theirs = machines(programs)
    passed, told = passes(theirs, tree, application)
    if not passed:
        raise Failure(f'no test passes with {theirs.name}:\n{told}')
    missing = passed - known
    for _ in range(TRIES):
        here, told = passes(ours, tree, application)
        missing -= here
        if not missing:
            return
    raise Failure(
        '\n'.join(f'passes with {theirs.name} only: {name}' for name in sorted(missing)) + '\n' + told
    )


def known_differences(application):
    lines = [line.partition(' ') for line in KNOWN.read_text().splitlines() if not line.startswith('#')]
    return {rest.rpartition('": ')[0] + '"' for name, _, rest in lines if name == application}


@functools.cache
def installed_tree():
    """The source of the Elixir that is installed."""
    if not shutil.which('elixir'):
        raise Skip('no elixir here')
    SOURCE.mkdir(parents=True, exist_ok=True)
    with locked(SOURCE / 'lock'):
        if not list(SOURCE.glob('*/lib/elixir/src/elixir.app.src')):
            fetch_package('elixir-lang', SOURCE, 'VMRUN_ELIXIR_SOURCE')
    tree = next(SOURCE.glob('*/lib/elixir/src/elixir.app.src')).parents[3]
    there, here = (tree / 'VERSION').read_text().strip(), evaluated('System.version()')
    if there != here:
        raise Skip(f'the source in {tree} is of Elixir {there}, and {here} is installed')
    return tree


@functools.cache
def evaluated(expression):
    result = subprocess.run(
        ['elixir', '-e', f'IO.write({expression})'],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout


def passes(machine, tree, application):
    """Names of the tests that pass, and the last of what was printed."""
    with scratch() as folder:
        top = pathlib.Path(folder) / 'elixir'
        shutil.copytree(tree, top, symlinks=True)
        for name in APPLICATIONS:
            ebin = top / 'lib' / name / 'ebin'
            shutil.rmtree(ebin, ignore_errors=True)
            ebin.symlink_to(evaluated(f':code.lib_dir(:{name})') + '/ebin')
        if application == 'in Erlang':
            return of_eunit(machine, top / 'lib/elixir/test/erlang')
        return of_ex_unit(machine, top / 'lib' / application)


def of_eunit(machine, folder):
    status, out, err = machine.run(folder, ['sh', '-c', EUNIT])
    cases = [
        case
        for file in folder.glob('TEST-*.xml')
        for case in xml.etree.ElementTree.parse(file).iter('testcase')
    ]
    return {
        case.get('name')
        for case in cases
        if not {part.tag for part in case} & {'failure', 'error', 'skipped'}
    }, f'status {status}\n{(out + err)[-6000:]}'


def of_ex_unit(machine, folder):
    rebar3, results = shutil.which('rebar3'), folder.parent / 'results'
    if folder.name == 'mix' and not (rebar3 and shutil.which('git')):
        raise Skip('needs rebar3 and git')
    test = 'test/elixir' if folder.name == 'elixir' else 'test'
    shell = (
        f'epmd -daemon; exec ../../bin/elixir -r {HERE}/elixir_results.exs -r {test}/test_helper.exs '
        f'-pr "{test}/**/*_test.exs"'
    )
    status, out, err = machine.run(
        folder,
        ['sh', '-c', shell],
        environment={'VMRUN_RESULTS': str(results), 'REBAR3': str(rebar3)},
        patience_s=PATIENCE_S,
    )
    lines = results.read_text().splitlines() if results.exists() else []
    return {
        line.removeprefix('passed ') for line in lines if line.startswith('passed ')
    }, f'status {status}\n{(out + err)[-6000:]}'
