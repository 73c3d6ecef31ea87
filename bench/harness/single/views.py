# SPDX-License-Identifier: Apache-2.0
"""What each ready-made view of vmtrace costs programs of messages, memory, files and ports: the programs' own
times with a view against those without, one after the other again and again; the least of each, which is
disturbed least by what else the machine does."""
import re

from . import keep
from .. import BENCH, consumers, processes

# Kinds of work, and a program for each. Views without a limit, until the program ends.
VIEWED = {
    'messages': ('actors', 'ping_pong'),
    'memory': ('sequential', 'binary_trees'),
    'files': ('files', 'small_raw_reads'),
    'ports': ('ports', 'echo'),
}
TABLES = ('top', 'messages', 'calls', 'gc', 'files', 'ports')
VIEWS = {
    **{view: [view, '-d', '0', '-r', '0'] for view in TABLES},
    'slow': ['slow', '-r', '0', '-n', '0'],
    'flame': ['flame', '-d', '0'],
    'flame -a': ['flame', '-d', '0', '-a'],
    'record': ['record'],
}


def micros(command):
    ended = processes.run(command, 300)
    line = re.search(r'^(\d+) ', ended.out, re.M)
    if ended.status != 0 or not line:
        raise RuntimeError(
            f'{" ".join(map(str, command))}: status {ended.status}\n{ended.out[-300:]}{ended.err[-700:]}'
        )
    return int(line[1])


def measure(session):
    if why := session.no_vmtrace():
        session.say(f'\nviews: {why}')
        return
    vmtrace = consumers.session_vmtrace(session.vmrun.path)
    session.say(
        '\nprograms with a view, as times of what they take without, +S 1'
        + ''.join(f'\n  {kind:<10} {stem}' for kind, (_, stem) in VIEWED.items())
    )
    session.say(f'{"":<10}' + ''.join(f'{kind:>10}' for kind in VIEWED))
    programs = {
        kind: session.vmrun.command(BENCH / where / f'{stem}.act', ['+S', '1'])
        for kind, (where, stem) in VIEWED.items()
    }
    ratios = {}
    for view, words in VIEWS.items():
        ratios[view] = {
            kind: ratio(session, vmtrace, view, words, kind, plain) for kind, plain in programs.items()
        }
        session.say(f'{view:<10}' + ''.join(f'{ratio:>10.2f}' for ratio in ratios[view].values()))
    keep(session, 'views', ratios)


def ratio(session, vmtrace, view, words, kind, plain):
    watched = [vmtrace, *words, '-o', session.folder / 'view.out', '-c', consumers.one_string(plain)]
    times = [
        session.once(['views', view, kind, number], lambda: [micros(plain), micros(watched)], 'views', view)
        for number in range(session.options.runs)
    ]
    without, with_view = (min(column) for column in zip(*times))
    return with_view / without
