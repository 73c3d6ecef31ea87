# SPDX-License-Identifier: Apache-2.0
"""Tests of what ./dev bench makes of runs: statistics, verdicts, the journal, headers of workloads, the
command line."""
import json
import pathlib
import subprocess
import sys
import tempfile

from .results import Failure, Test

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def tests(vmrun):
    from bench.harness import (
        configurations,
        earlier,
        history,
        intervals,
        journal,
        micro,
        progress,
        running,
        scaling,
        workloads,
    )

    cases = [
        ('a ratio of equal runs is one, of double ones two', lambda: ratios(intervals)),
        ('an outlier moves neither the median nor the verdict', lambda: outliers(intervals)),
        ('the same runs give the same interval, and more runs a narrower one', lambda: repeatable(intervals)),
        ('runs that scatter, or are too few, are noisy', lambda: noise(intervals)),
        ('verdicts: faster, slower, same, noisy', lambda: verdicts(intervals)),
        ('a run that was broken off goes on where it stopped', lambda: resumed(journal)),
        ('a line of the journal that was cut short does not count', lambda: cut_short(journal)),
        ('a journal of something else is refused, and the difference named', lambda: other_journal(journal)),
        ('the header of a workload is read', lambda: header(workloads)),
        ('a header with a mistake is refused with file and line', lambda: wrong_headers(workloads)),
        ('every workload in bench/ says what it is', lambda: all_headers(workloads)),
        ('names mean kinds, workloads, or the last part of their names', lambda: names(workloads)),
        ('a workload whose result differs has no ratio', lambda: other_result(running, configurations)),
        ('configurations come with what they are compared with', lambda: bases(configurations)),
        ('every family of probes is watched by every tool', lambda: watched(configurations)),
        ('names of Google Benchmark become groups, and an empty uprobe the floor', lambda: floors(micro)),
        ('what is left is estimated from what was done', lambda: estimate(progress)),
        ('scaling takes every number of schedulers up to eight', lambda: schedulers(scaling)),
        ('history has a line for each commit, the last one recorded', lambda: recorded(history)),
        (
            'figures of an earlier run stand beside those of this one, and keep their commit',
            lambda: beside(earlier),
        ),
        (
            'a file without figures cannot stand beside any',
            lambda: refused(['--beside', __file__], 'neither figures of ./dev bench nor a page of them'),
        ),
        ('percentiles of latency are those of the delays', lambda: percentiles(vmrun)),
        ('a program is run, measured and written as JSON', lambda: whole(vmrun)),
        (
            'a name that is none is refused',
            lambda: refused(['no_such_thing'], 'neither a measurement nor a workload'),
        ),
        (
            'a configuration that is none is refused',
            lambda: refused(['-c', 'no_such_thing'], 'no configuration is called no_such_thing'),
        ),
    ]
    return [Test('bench', name, run) for name, run in cases]


def expect(what, got, wanted):
    if got != wanted:
        raise Failure(f'{what}: {got!r}, not {wanted!r}')


def near(what, got, wanted, by=1e-9):
    if abs(got - wanted) > by:
        raise Failure(f'{what}: {got!r}, not {wanted!r}')


def ratios(intervals):
    near('equal', intervals.ratio([5] * 5, [5] * 5).median, 1)
    double = intervals.ratio([10, 10.1, 9.9], [5, 5.05, 4.95])
    near('double', double.median, 2)
    if not double.low <= 2 <= double.high:
        raise Failure(f'the interval {double} does not hold the ratio')
    near('inverse', double.inverse().median, 0.5)


def outliers(intervals):
    base, disturbed = [100, 101, 99, 100, 102, 98, 100], [100, 101, 99, 100, 102, 98, 100_000]
    ratio = intervals.ratio(disturbed, base)
    near('median', ratio.median, 1)
    expect('verdict', intervals.verdict(ratio), 'same')


def repeatable(intervals):
    few = [100, 110, 95, 105, 98]
    expect('twice', intervals.ratio(few, few[::-1]), intervals.ratio(few, few[::-1]))
    if not intervals.ratio(few * 10, few * 10).half_width < intervals.ratio(few, few).half_width:
        raise Failure('more runs do not say more')


def noise(intervals):
    for what, values, noisy in (
        ('steady', [100, 101, 99], False),
        ('scattered', [50, 100, 200, 300, 80], True),
        ('two', [100, 100], True),
    ):
        expect(what, intervals.ratio(values, [100, 100, 101, 99, 100]).noisy, noisy)


def verdicts(intervals):
    def of(median, low, high, runs=5):
        return intervals.verdict(intervals.Ratio(median, low, high, runs))

    for what, got, wanted in (
        ('faster', of(0.9, 0.88, 0.93), 'faster'),
        ('slower', of(1.1, 1.08, 1.12), 'slower'),
        ('same', of(1.0, 0.99, 1.01), 'same'),
        ('a difference below what matters', of(1.01, 1.005, 1.015), 'same'),
        ('wide', of(1.2, 0.9, 1.5), 'noisy'),
        ('wide around one', of(1.0, 0.93, 1.08), 'noisy'),
        ('too few runs', of(0.5, 0.5, 0.5, runs=2), 'noisy'),
    ):
        expect(what, got, wanted)


def in_folder(run):
    with tempfile.TemporaryDirectory(prefix='vmrun-test-') as folder:
        return run(pathlib.Path(folder))


def resumed(journal):
    def run(folder):
        path, measured = folder / 'below' / 'journal.jsonl', []

        def measure(value):
            return lambda: measured.append(value) or value

        first = journal.Journal(path, {'commit': 'a'})
        first.once(['run', 'x', 1], measure(1))
        again = journal.Journal(path, {'commit': 'a'}, resume=True)
        expect('kept', again.once(['run', 'x', 1], measure(10)), 1)
        expect('new', again.once(['run', 'x', 2], measure(2)), 2)
        expect('measured', measured, [1, 2])
        third = journal.Journal(path, {'commit': 'a'}, resume=True)
        expect('found', third.found, 2)
        anew = journal.Journal(path, {'commit': 'b'})
        expect('without --resume', anew.once(['run', 'x', 1], measure(3)), 3)

    in_folder(run)


def cut_short(journal):
    def run(folder):
        path = folder / 'journal.jsonl'
        first = journal.Journal(path, {'commit': 'a'})
        first.once(['x'], lambda: 1)
        first.once(['y'], lambda: 2)
        path.write_text(path.read_text()[:-5])
        again = journal.Journal(path, {'commit': 'a'}, resume=True)
        expect('whole', again.once(['x'], lambda: 5), 1)
        expect('cut', again.once(['y'], lambda: 6), 6)
        expect('lines', len(journal.read_lines(path)), 3)

    in_folder(run)


def other_journal(journal):
    def run(folder):
        path = folder / 'journal.jsonl'
        journal.Journal(path, {'commit': 'a', 'runs': 5})
        try:
            journal.Journal(path, {'commit': 'b', 'runs': 5}, resume=True)
        except journal.OtherJournal as refused:
            if "commit: 'a' then, 'b' now" not in str(refused) or 'runs' in str(refused):
                raise Failure(f'it says {refused}')
        else:
            raise Failure('it was taken')

    in_folder(run)


WORKLOAD = '''#!/usr/bin/env vmrun
%% Fork-join throughput: N messages
%% to each of K actors.
-size([10_000, 60]).
-quick([1000, 10]).   % small
-small([100, 10]).
-parallel(yes).
-source("Savina, fjthrput (Imam, Sarkar, AGERE 2014); "
        "scaled: takes longer").

main(Arguments) -> bench:measured(?MODULE, Arguments, fun work/1, fun expected/1).
'''


def read(workloads, text):
    def run(folder):
        (folder / 'savina').mkdir()
        path = folder / 'savina' / 'fork_join.act'
        path.write_text(text)
        return workloads.read(path)

    return in_folder(run)


def header(workloads):
    w = read(workloads, WORKLOAD)
    expect(
        'row',
        w.row(),
        {
            'name': 'savina/fork_join',
            'kind': 'savina',
            'size': '10000 60',
            'parallel': True,
            'text': 'Fork-join throughput: N messages to each of K actors.',
            'from': 'Savina, fjthrput (Imam, Sarkar, AGERE 2014); scaled: takes longer',
        },
    )
    expect(
        'arguments',
        [w.arguments(size) for size in ('whole', 'quick', 'small')],
        [[], ['1000', '10'], ['100', '10']],
    )
    plain = read(workloads, '%% Sums.\nmain() -> ok.\n')
    expect(
        'without attributes',
        (plain.text, plain.size, plain.parallel, plain.arguments('quick')),
        ('Sums.', None, False, []),
    )


def wrong_headers(workloads):
    for wrong, part in (
        ('-size(10).', ':4: -size(10) is not of the form -size([1000, 10])'),
        ('-parallel(no).', ':4: -parallel(no)'),
        ('-size([1]).\n-size([2]).', ':5: a second -size'),
        ('-size([1]).\n-quick([1, 2]).', '-quick has as many numbers as -size'),
        ('-size([1]).\n-small([1, 2]).', '-small has as many numbers as -size'),
        ('-source(savina).', ':4: -source(savina)'),
    ):
        try:
            read(workloads, f'%% What\n%% it is\n\n{wrong}\nmain(_) -> ok.\n')
        except workloads.HeaderError as refused:
            if part not in str(refused):
                raise Failure(f'{wrong}: it says {refused}') from None
        else:
            raise Failure(f'{wrong} was taken')


def all_headers(workloads):
    found = workloads.find()
    if not found:
        raise Failure('there are none')
    if silent := [w.name for w in found if not w.text]:
        raise Failure(f'no comment says what these are: {silent}')


def names(workloads):
    found = [
        workloads.Workload(pathlib.Path(f'{name}.act'), name.split('/')[0], 'text')
        for name in ('actors/ring', 'savina/ring', 'savina/fib')
    ]
    for words, wanted in (
        ({'actors'}, ['actors/ring']),
        ({'savina/ring'}, ['savina/ring']),
        ({'ring'}, ['actors/ring', 'savina/ring']),
        ({'x'}, []),
    ):
        expect(words, [w.name for w in workloads.chosen(found, words)], wanted)


def other_result(running, configurations):
    class W:
        name = 'kind/name'

    table = configurations.every()
    runs = {name: running.Runs(W, table[name]) for name in ('off', 'erl', 'off-small')}
    for name, result in (('off', '42'), ('erl', '43'), ('off-small', '7')):
        for number in range(4):
            runs[name].take({'us': 100, 'result': result, 'firings': None}, warmup=number == 0)
    running.refuse_other_results(runs)
    expect('erl', runs['erl'].failed, 'result 43, but 42 with off')
    expect('a small size has results of its own', runs['off-small'].failed, None)
    expect('ratios', running.comparisons(runs), [])


def bases(configurations):
    table = configurations.every()
    for wanted, with_them in (
        (['erl'], ['off', 'erl']),
        (['vmtrace-gc'], ['off-1', 'vmtrace-gc']),
        (['off'], ['off']),
        (['none', 'off'], ['none', 'off']),
        (['erl-trace-gc', 'bpftrace-gc'], ['off-small', 'erl-small', 'bpftrace-gc', 'erl-trace-gc']),
    ):
        chosen = configurations.matching(wanted, table)
        expect(wanted, [row.name for row in configurations.with_bases(chosen, table)], with_them)
    missing = [row.name for row in table.values() if row.base and row.base not in table]
    expect('bases that are none', missing, [])


def watched(configurations):
    from bench.harness import families

    table = configurations.every()
    for family in [*families.families(), 'all']:
        for tool in ('vmtrace', 'vmtrace-texts', 'bpftrace', 'bpftrace-texts', 'perf', 'stap', 'dtrace'):
            expect(f'{tool}-{family}', table[f'{tool}-{family}'].family, family)


def floors(micro):
    def benchmark(name, *times):
        return [
            {'name': name, 'run_name': name, 'run_type': 'iteration', 'cpu_time': t, 'time_unit': 'us'}
            for t in times
        ]

    rows = micro.rows_of(
        [
            *benchmark('site/nobody looks', 0.001, 0.002, 0.003),
            *benchmark('site/message-send/bpftrace', 3, 3, 3),
            *benchmark('floor/empty uprobe/bpftrace', 2, 2, 2),
            {
                'name': 'site/x/stap',
                'run_name': 'site/x/stap',
                'error_occurred': True,
                'error_message': 'no stap here',
            },
        ]
    )
    shown = [(r['group'], r['name'], r['consumer'], r['ns'], r['floor_ns'], r.get('unable')) for r in rows]
    expect(
        'rows',
        shown,
        [
            ('site', 'nobody looks', None, 2, None, None),
            ('site', 'message-send', 'bpftrace', 3000, 2000, None),
            ('floor', 'empty uprobe', 'bpftrace', 2000, None, None),
            ('site', 'x', 'stap', None, None, 'no stap here'),
        ],
    )


def estimate(progress):
    import io

    p = progress.Progress(clock=lambda: 0, out=io.StringIO())
    p.plan('run', 'a', 4)
    p.plan('run', 'b', 2)
    expect('at first', p.seconds_left(), None)
    p.step('run', 'a', 10)
    p.step('run', 'b', 1)
    near('three of 10 s and one of 1 s', p.seconds_left(), 31)
    p.step('run', 'b')
    near('one that was known takes no time', p.seconds_left(), 30)
    p.give_up('run', 'a')
    near('given up', p.seconds_left(), 0)
    for seconds, text in ((42, '42 s'), (150, '2 min'), (8000, '2 h 13 min')):
        expect(seconds, progress.duration(seconds), text)


def schedulers(scaling):
    expect('two', scaling.steps(2), [1, 2])
    expect('twelve', scaling.steps(12), [1, 2, 3, 4, 5, 6, 7, 8, 12])
    expect('pinned', scaling.pinned_cores('0,2-4'), {0, 2, 3, 4})
    row = scaling.row_of(type('W', (), {'name': 'x'}), 2, [50, 50, 50], [90, 90, 90])
    expect('figures', (row['speedup'], row['efficiency']), (1.8, 0.9))


def recorded(history):
    def run(folder):
        path = folder / 'history.jsonl'
        for commit, ns in (('a', 2.0), ('b', 4.0), ('a', 8.0)):
            history.append(
                {
                    'environment': {'commit': commit, 'date': '2026-01-01', 'machine': 'm'},
                    'ratios': [
                        {'workload': 'actors/ring', 'configuration': 'erl', 'median': ns, 'noisy': False},
                        {'workload': 'actors/x', 'configuration': 'erl', 'median': 100, 'noisy': True},
                    ],
                },
                path,
            )
        expect(
            'lines',
            [(row['commit'], round(row['figures']['actors_against_erl'], 6)) for row in history.read(path)],
            [('b', 0.25), ('a', 0.125)],
        )

    in_folder(run)


def beside(earlier):
    old = {
        'schema': 1,
        'environment': {'commit': 'old'},
        'latency': [{'load': 1}],
        'memory': [{'what': 'old'}],
        'history': [1],
        'memory_unable': 'why',
        'micro_unable': 'why',
        'runs': [
            {'workload': 'a', 'configuration': 'off', 'times_us': [1]},
            {'workload': 'b', 'configuration': 'off', 'times_us': [2]},
        ],
    }
    new = {
        'environment': {'commit': 'new'},
        'memory': [{'what': 'new'}],
        'runs': [{'workload': 'a', 'configuration': 'off', 'times_us': [3]}],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'page.html'
        path.write_text(f'<html><script type="application/json" id="data">{json.dumps(old)}</script></html>')
        earlier.join(new, earlier.read(path))
    expect('memory', new['memory'], [{'what': 'new'}])
    expect('latency', new['latency'], [{'load': 1}])
    expect('what could not be measured then', ('memory_unable' in new, 'micro_unable' in new), (False, True))
    expect('runs', [(r['workload'], r['times_us']) for r in new['runs']], [('a', [3]), ('b', [2])])
    expect(
        'environment',
        (new['environment']['commit'], new['earlier'], 'history' in new),
        ('new', [{'commit': 'old'}], False),
    )


def percentiles(vmrun):
    """Checks the program's own slots: a slot holds values that differ by less than a 32nd, and the slots are
    in order."""
    source = (ROOT / 'bench/latency/load.act').read_text()
    checked = (
        source.split('main(["capacity"', 1)[0]
        + '''main() ->
    All = lists:seq(0, 5000) ++ [1 bsl B + D || B <- lists:seq(13, 40), D <- [-1, 0, 1]],
    [begin L = largest(slot(N)), true = L >= N, true = (L - N) * 32 =< max(N, 1), true = slot(L) =:= slot(N)
        end || N <- All],
    H = counters:new(64 * 64, []),
    [counters:add(H, slot(N), 1) || N <- lists:seq(1, 60)],
    counters:add(H, slot(1000000), 1),
    io:format("~w~n", [[percentile(H, P) || P <- [50, 90, 98]]]),
    true = percentile(H, 100) >= 1000000.
'''
        + source[source.index('-define(WORKERS') :]
    )

    def run(folder):
        path = folder / 'slots.act'
        path.write_text(checked)
        ended = subprocess.run([vmrun, str(path)], capture_output=True, text=True)
        expect('percentiles', (ended.returncode, ended.stdout.strip()), (0, '[31,55,60]'))

    in_folder(run)


def bench(*words):
    return subprocess.run(
        [sys.executable, str(ROOT / 'bench' / 'run'), *map(str, words)], capture_output=True, text=True
    )


def whole(vmrun):
    """Measures hello by way of a journal; the second time nothing is measured."""

    def run(folder):
        words = [
            '--vmrun',
            vmrun,
            '--build',
            pathlib.Path(vmrun).parent,
            '--journal',
            folder / 'journal.jsonl',
            '--json',
            folder / 'figures.json',
            '--runs',
            1,
            '--flags=+S 1',
            '-c',
            'off-small',
            '-c',
            'vmtrace-message',
            'actors/ring',
        ]
        first = bench(*words)
        expect('status', (first.returncode, first.stderr[-500:] if first.returncode else ''), (0, ''))
        figures = json.loads((folder / 'figures.json').read_text())
        runs = {row['configuration']: row for row in figures['runs']}
        expect(
            'runs',
            ({name: len(row['times_us']) >= 1 and row['failed'] for name, row in runs.items()}),
            {'off-1': None, 'off-small': None, 'vmtrace-message': None},
        )
        if runs['vmtrace-message']['firings'] < 1000:
            raise Failure(f'firings: {runs["vmtrace-message"]}')
        expect('schema', (figures['schema'], figures['environment']['options']['runs']), (1, 1))
        again = bench(*words, '--resume')
        before, after = (
            [(row['configuration'], row['times_us']) for row in f['runs']]
            for f in (figures, json.loads((folder / 'figures.json').read_text()))
        )
        expect('resumed', after, before)
        if 'results of the run before' not in again.stdout:
            raise Failure(f'it does not say that it goes on:\n{again.stdout}')

    in_folder(run)


def refused(words, part):
    ended = bench(*words)
    if ended.returncode != 2 or part not in ended.stderr:
        raise Failure(f'status {ended.returncode}, {ended.stderr!r}')
