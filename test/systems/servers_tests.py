# SPDX-License-Identifier: Apache-2.0
"""Servers as Debian packages them: started by their own scripts, used, stopped and started again, on this
machine and on a stock erl. What the session prints must be the same, and the errors in the logs."""
import functools
import os
import pathlib
import re
import shutil

from harness.results import Failure, Skip, Test

from .suite import difference, machines, scratch

HERE = pathlib.Path(__file__).resolve().parent / 'servers'
NEEDED = {
    'rabbitmq': ['rabbitmq-server', 'curl', 'python3-pika'],
    'ejabberd': ['ejabberd', 'curl', 'python3-slixmpp'],
}
ALONE = ['unshare', '--mount', '--net', '--uts', '--pid', '--fork', '--kill-child', '--mount-proc']


def tests(programs):
    return [
        Test('systems', f'server: {name}', functools.partial(serves, programs, name), in_turn=True)
        for name in NEEDED
    ]


def serves(programs, name):
    if os.geteuid():
        raise Skip('only root gives a server folders of its own')
    missing = [p for p in NEEDED[name] if not pathlib.Path(f'/var/lib/dpkg/info/{p}.list').exists()]
    missing += [program for program in ('unshare', 'ip') if not shutil.which(program)]
    if missing:
        raise Skip(f'{", ".join(missing)} not installed')
    ours, stock = machines(programs)
    here, there = (session(machine, name) for machine in (ours, stock))
    if here[:3] != there[:3]:
        raise Failure(difference(here[:3], there[:3]) + '\n\n' + here[3][-3000:])
    if new := errors(here[3]) - errors(there[3]):
        told = '\n'.join(sorted(new))
        raise Failure(f'errors in the log of {name} that a stock erl does not have:\n{told}')


def session(machine, name):
    """Its status and texts, and the logs."""
    with scratch() as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        (folder / 'own').mkdir()
        command = [*ALONE, 'sh', HERE / 'enter.sh', name, folder, HERE / f'{name}.sh']
        done = machine.run(folder, list(map(str, command)), patience_s=1800)
        logs = sorted(file for file in (folder / 'log').rglob('*') if file.is_file())
        return [*done, '\n'.join(file.read_text(errors='replace') for file in logs)]


def errors(log):
    """Their first lines, without what differs from run to run. Warnings are not compared: what is late at the
    start or the end is warned of."""
    found = re.findall(r'^.*(?:\[(?:error|critical)\]|=(?:ERROR|CRASH)).*$', log, re.M)
    return {re.sub(r'<[\d.]+>|#Ref<[\d.]+>|0x\w+|\d+', '', line) for line in found}
