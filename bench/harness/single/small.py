# SPDX-License-Identifier: Apache-2.0
"""Programs of Google Benchmark that stand alone: a firing on the D engine without a machine; messages to and
from other nodes made into bytes and back."""
from . import keep
from .. import builds, micro


def measure(session, name, program, title):
    builds.targets(session.options.build, [program])
    told = session.once(
        [name],
        lambda: micro.told_by(session.options.build / program, session.options.runs, session.options.quick),
        name,
    )
    rows = {}
    for row in told:
        what = (
            ' '.join([row['run_name'].split('/')[0], row['label']]) if row.get('label') else row['run_name']
        )
        if row.get('aggregate_name', 'median') == 'median':  # of one run there is but the run
            rows[what] = row['cpu_time']
    session.say(f'\n{title}, ns of processor time')
    for what, ns in rows.items():
        session.say(f'  {what:<28} {ns:8.1f}')
    keep(session, name, rows)


def engine(session):
    measure(session, 'engine', 'bench/engine/engine_firing', 'firings on the D engine')


def wire(session):
    measure(session, 'wire', 'bench/wire/wire_messages', 'messages to and from other nodes as bytes')
