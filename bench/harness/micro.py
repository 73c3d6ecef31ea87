# SPDX-License-Identifier: Apache-2.0
"""Single firings and primitives, in nanoseconds of processor time: programs of Google Benchmark.

A benchmark is called GROUP/WHAT, or GROUP/WHAT/CONSUMER where somebody looks. One that measures the kernel
alone, an empty uprobe, is called floor/WHAT/CONSUMER: it is the floor of the others with that consumer."""
import json
import subprocess

from . import builds, intervals, tables

CONSUMERS = ('bpftrace', 'vmtrace', 'perf', 'stap', 'dtrace', 'kernel', 'semaphore')


def programs(build):
    """Targets of the build below bench/micro."""
    told = subprocess.run(
        ['meson', 'introspect', '--targets', str(build)], capture_output=True, text=True, check=True
    )
    return [
        t['filename'][0]
        for t in json.loads(told.stdout)
        if t['type'] == 'executable' and '/bench/micro/' in t['defined_in']
    ]


def told_by(path, runs, quick):
    """Rows of Google Benchmark's JSON."""
    command = [
        str(path),
        '--benchmark_format=json',
        f'--benchmark_repetitions={runs}',
        f'--benchmark_min_time={0.02 if quick else 0.2}',
        '--benchmark_enable_random_interleaving=true',
    ]
    told = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    if told.returncode != 0:
        raise RuntimeError(f'{" ".join(command)}: status {told.returncode}\n{told.stderr[-800:]}')
    return json.loads(told.stdout)['benchmarks']


def split(name):
    """(group, what, consumer or None)."""
    parts = [
        part
        for part in name.split('/')
        if not part.startswith(('repeats:', 'min_time:', 'iterations:', 'process_time', 'real_time'))
    ]
    group, *rest = parts if len(parts) > 1 else ['other', *parts]
    consumer = rest.pop() if len(rest) > 1 and rest[-1] in CONSUMERS else None
    return group, '/'.join(rest), consumer


IN_NS = {'ns': 1, 'us': 1e3, 'ms': 1e6, 's': 1e9}


def rows_of(benchmarks):
    """One row for each benchmark: the median of its repetitions, with its interval. What could not run says
    why."""
    repetitions, failed = {}, {}
    for b in benchmarks:
        name = b.get('run_name', b['name'])
        if b.get('error_occurred'):
            failed[name] = b.get('error_message', 'failed')
        elif b.get('run_type', 'iteration') == 'iteration':
            repetitions.setdefault(name, []).append(b['cpu_time'] * IN_NS[b.get('time_unit', 'ns')])
    rows = []
    for name, values in repetitions.items():
        group, what, consumer = split(name)
        ns, low, high = intervals.median_interval(values)
        rows.append(
            {
                'group': group,
                'name': what,
                'consumer': consumer,
                'ns': ns,
                'low': low,
                'high': high,
                'floor_ns': None,
            }
        )
    floors = {row['consumer']: row['ns'] for row in rows if row['group'] == 'floor'}
    for row in rows:
        if row['group'] != 'floor':
            row['floor_ns'] = floors.get(row['consumer']) if row['consumer'] else None
    for name, why in failed.items():
        if name not in repetitions:
            group, what, consumer = split(name)
            rows.append(
                {
                    'group': group,
                    'name': what,
                    'consumer': consumer,
                    'ns': None,
                    'low': None,
                    'high': None,
                    'floor_ns': None,
                    'unable': why,
                }
            )
    return rows


def measure(session):
    build = session.options.build
    found = programs(build)
    if not found:
        session.say('\nmicro: the build has no programs of bench/micro (libbenchmark-dev, -Dprobes=usdt)')
        session.results['micro_unable'] = 'the build has no programs of bench/micro'
        return
    builds.targets(build, [str(builds.pathlib.Path(path).relative_to(build.resolve())) for path in found])
    for path in found:
        name = builds.pathlib.Path(path).name
        session.progress.plan('micro', name, 1)
        told = session.once(
            ['micro', name], lambda: told_by(path, session.options.runs, session.options.quick), 'micro', name
        )
        rows = rows_of(told)
        session.add('micro', rows)
        session.say(f'\n{name}: ns of processor time')
        shown = [
            [
                f'{row["group"]}: {row["name"]}' + (f', {row["consumer"]} looks' if row['consumer'] else ''),
                *figures(row),
            ]
            for row in rows
        ]
        for line in tables.columns(shown):
            session.say('  ' + line)


def figures(row):
    if row.get('unable'):
        return [tables.shortened(row['unable'], 60)]
    over = [f'{row["ns"] - row["floor_ns"]:+.0f} over the empty uprobe'] if row['floor_ns'] else []
    return [f'{row["ns"]:.1f}', f'[{row["low"]:.1f}, {row["high"]:.1f}]', *over]
