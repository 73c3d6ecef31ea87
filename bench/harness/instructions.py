# SPDX-License-Identifier: Apache-2.0
"""Instructions executed with probes compiled in, nobody looking, against probes compiled out: counted by
callgrind, so the load of the machine does not show; and by the processor's counters where perf has them."""
import pathlib
import re
import shutil
import statistics

from . import BENCH, consumers, intervals, processes
from harness import callgrind

TIMEOUT_S = 900
WANTED_MEAN, WANTED_MOST = 1.003, 1.01
# Where callgrind is not asked for all: one or two of a kind.
SOME = (
    'actors/ping_pong',
    'actors/links',
    'actors/spawns_sequential',
    'sequential/fib',
    'sequential/map_operations',
    'savina/ping_pong',
)
QUICK = ('actors/ping_pong', 'sequential/fib', 'savina/ping_pong')


def no_valgrind():
    return None if shutil.which('valgrind') else 'no valgrind here'


def counted(command, folder):
    out = folder / 'callgrind.out'
    ended = processes.run(callgrind.command(out, command), TIMEOUT_S)
    if ended.status != 0:
        raise RuntimeError(f'status {ended.status}: {ended.err[-600:]}')
    return round(callgrind.total(out.read_text()))


def counted_by_perf(command):
    ended = processes.run(['perf', 'stat', '-x', ',', '-e', 'instructions:u', *command], TIMEOUT_S)
    match = re.search(r'^(\d+),', ended.err, re.M)
    return int(match[1]) if match else None


def of_work(session, machine, source, arguments, key):
    """What the work of a program costs: without the start of the machine, which is that of a program that
    does nothing."""

    def once(path, words):
        try:
            return {'instructions': counted(machine.command(path, ['+S', '1'], words), session.folder)}
        except RuntimeError as error:
            return {'failed': str(error)[:400]}

    return session.once(['instructions', *key], lambda: once(source, arguments), 'instructions', key[-1])


def row_of(workload, whole, start, base_whole, base_start):
    work, base_work = whole - start, base_whole - base_start
    return {
        'workload': workload.name,
        'configuration': 'off',
        'base': 'none',
        'instructions': work,
        'base_instructions': base_work,
        'ratio': work / base_work,
    }


def measure(session, workloads):
    if why := no_valgrind() or session.unable_machine('none'):
        session.say(f'\ninstructions: {why}')
        session.results['instructions_unable'] = why
        return
    machines = {'off': session.vmrun, 'none': session.without_probes}
    workloads = [w for w in workloads if not w.size or w.quick]
    session.progress.plan('instructions', 'nothing', 2)
    for workload in workloads:
        session.progress.plan('instructions', workload.name, 2)
    start = {
        name: of_work(session, machine, BENCH / 'hello.act', [], [name, 'nothing'])
        for name, machine in machines.items()
    }
    if failed := next((s['failed'] for s in start.values() if 'failed' in s), None):
        session.say(f'\ninstructions: the start of the machine failed: {failed}')
        return
    session.say('\ninstructions executed, probes compiled in and nobody looking, against compiled out')
    rows = []
    for workload in workloads:
        if session.out_of_time():
            session.left_out.append(f'instructions of {workload.name}')
            continue
        told = {
            name: of_work(session, machine, workload.path, workload.arguments('small'), [name, workload.name])
            for name, machine in machines.items()
        }
        if failed := next((t['failed'] for t in told.values() if 'failed' in t), None):
            session.say(f'  {workload.name:<32} failed: {failed[:300]}')
            continue
        row = row_of(
            workload,
            told['off']['instructions'],
            start['off']['instructions'],
            told['none']['instructions'],
            start['none']['instructions'],
        )
        add_counters(session, workload, machines, row)
        rows.append(row)
        session.say(f'  {workload.name:<32} {row["ratio"] - 1:+.2%}')
    session.add('instructions', rows)
    ratios = [row['ratio'] for row in rows]
    if ratios:
        session.say(
            f'  {"geometric mean":<32} {intervals.geometric_mean(ratios) - 1:+.2%}, most '
            f'{max(ratios) - 1:+.2%}; '
            f'wanted {WANTED_MEAN - 1:+.1%} and {WANTED_MOST - 1:+.0%}'
        )


def add_counters(session, workload, machines, row):
    """hardware_ratio: the same by the processor's counters; the median of three runs, the start of the
    machine included."""
    if consumers.no_counters():
        return
    medians = {}
    for name, machine in machines.items():
        command = machine.command(pathlib.Path(workload.path), ['+S', '1'])
        counts = session.once(
            ['counters', name, workload.name], lambda: [counted_by_perf(command) for _ in range(3)]
        )
        medians[name] = statistics.median(c for c in counts if c) if any(counts) else None
    if all(medians.values()):
        row['hardware_ratio'] = medians['off'] / medians['none']
