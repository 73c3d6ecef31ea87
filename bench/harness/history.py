# SPDX-License-Identifier: Apache-2.0
"""Figures of commits, one line of JSON each, in bench/history.jsonl: what --record appends, and the report
draws."""
import json
import statistics

from . import BENCH, intervals

FILE = BENCH / 'history.jsonl'


def mean(values):
    return intervals.geometric_mean(values)


def figures(results):
    """The few figures that are followed over commits, as far as this run has them."""
    ratios = [row for row in results.get('ratios', []) if not row['noisy']]

    def against_erl(kind):
        return mean(
            [
                1 / row['median']
                for row in ratios
                if row['configuration'] == 'erl' and row['workload'].startswith(kind + '/')
            ]
        )

    found = {
        f'{kind}_against_erl': against_erl(kind)
        for kind in sorted({row['workload'].split('/')[0] for row in ratios})
    }
    found['off_against_none'] = mean([row['ratio'] for row in results.get('instructions', [])])
    found['efficiency'] = mean(
        [row['efficiency'] for row in results.get('scaling', []) if row['schedulers'] > 1]
    )
    for tool in ('vmtrace', 'bpftrace', 'perf'):
        each = [
            row['ns_per_firing']
            for row in ratios
            if row['configuration'].startswith(f'{tool}-') and row.get('ns_per_firing')
        ]
        found[f'{tool}_ns_per_firing'] = statistics.median(each) if each else None
    for row in results.get('memory', []):
        found[f'{row["what"].replace(" ", "_")}_bytes'] = row['vmrun_bytes']
    return {name: value for name, value in found.items() if value is not None}


def read(path=FILE):
    return (
        [json.loads(line) for line in path.read_text().splitlines() if line.strip()] if path.exists() else []
    )


def append(results, path=FILE):
    """A commit that is recorded again takes the place of what was recorded of it before."""
    environment = results['environment']
    line = {
        'commit': environment['commit'],
        'date': environment['date'],
        'machine': environment['machine'],
        'figures': figures(results),
    }
    lines = [row for row in read(path) if row['commit'] != line['commit']] + [line]
    path.write_text(''.join(json.dumps(row) + '\n' for row in lines))
    return line
