# SPDX-License-Identifier: Apache-2.0
"""Built-in functions with much to do let others run: every row of bif.tab whose column `long` says how is
called with large arguments beside a process that counts its turns (+S 1). A function that keeps the scheduler
leaves it none. One that goes on elsewhere leaves it one for certain, and more as the kernel pleases; one that
yields does so after so much work. Times are measured by `./dev bench fairness`."""
import pathlib
import re
import subprocess
import tempfile

from harness.golden import ENVIRONMENT
from harness.results import Failure, Test

HERE = pathlib.Path(__file__).resolve().parent
LEAST_TURNS = {'elsewhere': 1, 'yields': 3}
SMALL, LARGE = 2_000_000, 100_000_000  # bytes
# Not called here: three print their argument; three need a large module; one is done at once with all but
# very many objects of a key; one takes 20 000 ports; one needs a connection to another node, whose packets it
# takes; four wait for the system's services of names.
SILENT = {
    'erlang:display/1',
    'erlang:display_string/2',
    'code:get_coverage/2',
    'erl_debugger:breakpoints/1',
    'erl_debugger:breakpoints/3',
    'erts_internal:ets_lookup_binary_info/2',
    'erts_debug:display/1',
    'erlang:ports/0',
    'erlang:dist_ctrl_put_data/2',
    'prim_net:ask_addresses/3',
    'prim_net:ask_names/2',
    'prim_net:ask_service_name/2',
    'prim_net:ask_service_port/2',
}
# Not of the table: what else may be long.
OTHERS = {"exit of a table's owner": 'yields'}


def tests(root, vmrun):
    return [
        Test('fairness', 'built-in functions', lambda: walk(root, vmrun, SMALL, 300)),
        Test('fairness', 'modules', lambda: modules(vmrun)),
        Test('fairness', 'collections', lambda: collections(vmrun)),
        Test('fairness', 'wake-ups', lambda: wake_ups(vmrun)),
    ]


def slow_tests(root, vmrun):
    return [Test('slow', 'fairness of built-in functions, 100 MB', lambda: walk(root, vmrun, LARGE, 1800))]


def long_rows(root):
    """Names of the rows of bif.tab that have the column `long`, and what it says."""
    rows = {}
    for line in (root / 'runtime/bif/bif.tab').read_text(encoding='utf-8').splitlines():
        fields = line.split('#')[0].split()
        for field in fields[3:]:
            if found := re.match(r'long=(yields|elsewhere)', field):
                rows[f'{fields[0]}:{fields[1]}/{fields[2]}'] = found[1]
    return {name: how for name, how in rows.items() if name not in SILENT} | OTHERS


def modules(vmrun):
    """A module that is compiled on its first call, and texts compiled on request."""
    functions = '\n'.join(
        f'f{n}(X) -> case X of {n} -> [X | f{n}(X - 1)]; _ -> {{X, {n}}} end.' for n in range(500)
    )
    with tempfile.TemporaryDirectory(prefix='vmrun-fairness-') as folder:
        for name in ('called', 'asked_for', 'text'):
            exports = ', '.join(f'f{n}/1' for n in range(500))
            (pathlib.Path(folder) / f'{name}.erl').write_text(
                f'-module({name}).\n-export([{exports}]).\n{functions}\n'
            )
        done = subprocess.run(
            [vmrun, '+S', '1', '-pa', folder, str(HERE / 'modules.act'), f'{folder}/text.erl'],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
    if (
        done.returncode != 0
        or done.stdout != 'called let others run\nasked_for let others run\ntext let others run\n'
    ):
        raise Failure(f'status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-2000:]}')


COLLECTIONS = """collections of all: elsewhere
collections of what is young: on the scheduler
garbage_collect of another: elsewhere
literals_1000_of_40: in turn
literals_20000_of_40: in turn
literals_100000_of_40: in turn
literals_200000_of_40: in turn
literals_30000_of_20: in turn
literals_30000_of_80: in turn
literals_30000_of_160: in turn
"""


def collections(vmrun):
    """Collections that the machine makes by itself, and those that are asked for."""
    with tempfile.TemporaryDirectory(prefix='vmrun-fairness-') as folder:
        done = subprocess.run(
            [vmrun, '+S', '1', str(HERE / 'collections.act'), folder],
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
    if done.returncode != 0 or done.stdout != COLLECTIONS:
        raise Failure(f'status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-2000:]}')


WAKE_UPS = """a timer: few
with a call of a process: few
with five calls at once: few
with a request over a socket: few
"""


def wake_ups(vmrun):
    """Switches of threads where nothing runs long."""
    done = subprocess.run(
        [vmrun, '+S', '2', str(HERE / 'wake_ups.act')],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0 or done.stdout != WAKE_UPS:
        raise Failure(f'status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-2000:]}')


def walk(root, vmrun, size, seconds):
    done = subprocess.run(
        [vmrun, '+S', '1', str(HERE / 'built_ins.act'), 'count', str(size)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=seconds,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        raise Failure(f'status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-2000:]}')
    turns = {name: int(count) for name, count in (line.rsplit(' ', 1) for line in done.stdout.splitlines())}
    rows = long_rows(root)
    wrong = [f'{name}: no call of it in built_ins.act' for name in sorted(rows.keys() - turns.keys())]
    wrong += [f'{name}: bif.tab does not say that it is long' for name in sorted(turns.keys() - rows.keys())]
    wrong += [
        f'{name}: another process had {count} turns meanwhile, at least {LEAST_TURNS[rows[name]]} wanted'
        for name, count in turns.items()
        if name in rows and count < LEAST_TURNS[rows[name]]
    ]
    if wrong:
        raise Failure('\n'.join(wrong))
