# SPDX-License-Identifier: Apache-2.0
"""The command line of ./dev bench: what is measured, and what becomes of the figures."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from . import (
    ROOT,
    configurations,
    consumers,
    earlier,
    environment,
    history,
    journal,
    machines,
    measurements,
    workloads,
)
from .journal import Journal
from .session import Session

HELP = """Measures vmrun: against a stock erl, against itself with probes compiled out, and while it is
traced.

Without a name it measures everything that can be measured here, which takes hours; --quick takes less than
three minutes. A name is that of a measurement, of a kind of workload (a folder such as actors), or of a
workload (actors/ring, or ring):

{measurements}

What is compared runs in turns, and medians are compared. Behind a ratio stands the interval in which it lies
with 95 % certainty. A ratio with a wide interval is called noisy, and has no figure: measure again when the
machine has less to do."""

EXAMPLES = """examples:
  ./dev bench --quick                           a look at everything
  ./dev bench actors                            one kind of workload, against erl
  ./dev bench --baseline HEAD~1 actors          which workloads the last commit has made faster or slower
  ./dev bench -c 'vmtrace-*' -c bpftrace-all ring   one workload, watched in several ways
  ./dev bench --json all.json --html all.html   everything, as figures and as a page
  ./dev bench --resume --json all.json          go on with a run that was broken off"""


def parser():
    names = '\n'.join(f'  {m.name:<14} {m.text}' for m in measurements.MEASUREMENTS + measurements.PARTS)
    p = argparse.ArgumentParser(
        prog='./dev bench',
        description=HELP.format(measurements=names),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    what = p.add_argument_group('what is measured')
    what.add_argument('name', nargs='*', help='measurements, kinds of workloads, workloads')
    what.add_argument(
        '-c',
        '--configurations',
        action='append',
        metavar='NAME',
        help='measure workloads under these configurations; * and ? stand for any letters; may be repeated',
    )
    what.add_argument(
        '--baseline',
        metavar='COMMIT|FILE',
        help='compare with another commit, which is built below the build folder, or with another '
        'vmrun: a verdict for each workload',
    )
    what.add_argument(
        '--list',
        action='store_true',
        help='only print workloads and configurations, and which cannot run here, and why',
    )
    how = p.add_argument_group('how')
    how.add_argument(
        '--quick',
        action='store_true',
        help='shorter sizes, few workloads, three runs: less than three minutes',
    )
    how.add_argument(
        '--runs',
        type=int,
        metavar='N',
        help='runs of each, besides one to warm up (default 5; where the ratio is noisy, up to twice as '
        'many)',
    )
    how.add_argument('--pin', metavar='CORES', help='keep everything on these cores, for example 2-3')
    how.add_argument('--flags', default='', help='flags for vmrun, for example "+S 1"')
    how.add_argument('--resume', action='store_true', help='go on with a run that was broken off')
    out = p.add_argument_group('what comes of it')
    out.add_argument(
        '--json',
        type=pathlib.Path,
        metavar='FILE',
        help='write all figures, in the form of docs/internals/benchmarks.md',
    )
    out.add_argument('--html', type=pathlib.Path, metavar='FILE', help='write a page with plots')
    out.add_argument(
        '--beside',
        type=pathlib.Path,
        metavar='FILE',
        help='what is not measured now is taken from the figures, or the page, of an earlier '
        'run; it keeps the commit it belongs to',
    )
    out.add_argument(
        '--record', action='store_true', help='add the main figures to bench/history.jsonl, under the commit'
    )
    where = p.add_argument_group('machines')
    where.add_argument(
        '--build', type=pathlib.Path, default=ROOT / 'build', metavar='FOLDER', help='build folder'
    )
    where.add_argument('--vmrun', metavar='FILE', help='another vmrun to measure')
    where.add_argument(
        '--erl-with-probes',
        metavar='FILE',
        help='an erl that was built with SystemTap probes, to measure too',
    )
    where.add_argument(
        '--journal',
        type=pathlib.Path,
        metavar='FILE',
        help='where runs are noted (default: bench/journal.jsonl of the build folder)',
    )
    return p


def options(words):
    chosen = parser().parse_args(words)
    chosen.build = chosen.build.resolve()
    chosen.runs = chosen.runs or (3 if chosen.quick else 5)
    chosen.journal = chosen.journal or chosen.build / 'bench' / 'journal.jsonl'
    if chosen.runs < 1:
        parser().error('--runs is at least 1')
    return chosen


def what_is_measured(described, vmrun):
    """What has to be the same for a run to be resumed."""
    stat = vmrun.stat() if vmrun.exists() else None
    return {
        'schema': 1,
        'commit': described['commit'],
        'vmrun': [str(vmrun), stat.st_size, int(stat.st_mtime)] if stat else None,
        'options': described['options'],
        'pinned': described['pinned'],
    }


def show_list(session):
    print('workloads')
    for w in session.workloads:
        print(f'  {w.name:<36} {w.text[:90]}')
    print('\nconfigurations')
    for row in session.configurations.values():
        why = row.unable(session)
        print(f'  {row.name:<36} {row.title}' + (f'\n  {"":<36} not here: {why}' if why else ''))


def say_what_cannot_run(session):
    """Once for each reason, so that nothing is missing in silence."""
    reasons = {}
    for row in session.configurations.values():
        # Those that take a build are looked at when they are needed.
        if row.machine not in ('none', 'baseline') and (why := row.unable(session)):
            reasons.setdefault(why, []).append(row.name)
    for why, names in reasons.items():
        session.say(
            f'not measured: {names[0]}{f" and {len(names) - 1} more" if len(names) > 1 else ""}: {why}'
        )
    if why := consumers.no_counters():
        session.say(f'not measured: counters of the processor: {why}')


def measure(session):
    asked = measurements.asked_for(session)
    for measurement, named in asked:
        with session.within(measurement.quick_s if session.options.quick else None):
            try:
                measurement.measure(session, named)
            except (RuntimeError, subprocess.SubprocessError, OSError) as error:
                session.say(f'\n{measurement.name} failed: {str(error)[:800]}')
                session.results.setdefault('failed', {})[measurement.name] = str(error)[:800]
        session.progress.give_up_all()
    session.progress.clear()
    if session.left_out:
        session.say(f'\n{len(session.left_out)} runs were left out, for the time was over')


def finish(session):
    """Adds what belongs to the whole, and writes what was asked for."""
    chosen = session.options
    ran = {row['configuration'] for row in session.results.get('runs', [])}
    used = ran | {c.base for name in ran if (c := session.configurations.get(name)) and c.base}
    by_unable = [
        c.row(c.unable(session) if c.machine not in ('none', 'baseline') else None)
        for c in session.configurations.values()
    ]
    session.results['configurations'] = [row for row in by_unable if row['name'] in used or row['unable']]
    names = {
        row['workload']
        for part in ('runs', 'instructions', 'scaling')
        for row in session.results.get(part, [])
    }
    session.results['workloads'] = [w.row(session.size) for w in session.workloads if w.name in names]
    if chosen.record:
        line = history.append(session.results)
        session.say(f'\nrecorded under {line["commit"]} in {history.FILE.relative_to(ROOT)}')
    session.results['history'] = history.read()
    if session.beside:
        earlier.join(session.results, session.beside)
    if chosen.json:
        write_json(session.results, chosen.json)
    if chosen.html:
        write_page(session, chosen)


def write_json(results, path):
    path.write_text(json.dumps({'schema': 1, **results}, indent=1) + '\n')


def write_page(session, chosen):
    figures = chosen.json or session.folder / 'figures.json'
    write_json(session.results, figures)
    report = ROOT / 'bench' / 'report'
    if not report.exists():
        session.say(f'\nno page: {report} is not there')
        return
    subprocess.run([sys.executable, str(report), str(figures), '-o', str(chosen.html)], check=True)
    session.say(f'\nwritten: {chosen.html}')


def main(words):
    chosen = options(words)
    with tempfile.TemporaryDirectory(prefix='vmrun-bench-') as folder:
        try:
            return run(chosen, folder)
        except (
            workloads.HeaderError,
            measurements.UnknownName,
            journal.OtherJournal,
            OSError,
            ValueError,
        ) as error:
            print(f'bench: {error}', file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print('\nbench: broken off; --resume goes on from here', file=sys.stderr)
            return 130


def run(chosen, folder):
    session = Session(chosen, folder)
    if chosen.list:
        show_list(session)
        return 0
    if chosen.configurations:
        configurations.matching(chosen.configurations, session.configurations)
    measurements.asked_for(session)
    session.beside = earlier.read(chosen.beside) if chosen.beside else None
    if why := session.unable_machine('vmrun'):
        raise ValueError(why)
    machines.compile_native(folder)
    described = environment.describe(chosen, session.erl if not machines.no_erl() else None)
    session.journal = Journal(chosen.journal, what_is_measured(described, session.vmrun_path), chosen.resume)
    session.results['environment'] = described
    print(
        f'{described["machine"]}, {described["kernel"]}; commit '
        f'{described["commit"]}{" and changes" if described["dirty"] else ""}; '
        f'median of {chosen.runs}'
        + (f'; {session.journal.found} results of the run before' if session.journal.found else '')
    )
    say_what_cannot_run(session)
    measure(session)
    finish(session)
    return 1 if session.results.get('failed') else 0
