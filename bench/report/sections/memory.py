# SPDX-License-Identifier: Apache-2.0
"""What a process, a message, a connection take."""
from .. import words
from ..dot_plot import Dot, Row, dot_plot
from ..marks import legend
from ..scales import Linear
from ..tables import data
from .section import Section

MACHINES = (('vmrun', 'vmrun_bytes'), ('erl', 'erl_bytes'))


def section(results):
    if not results.memory:
        return None
    return Section(
        'memory',
        'Memory',
        'Resident memory of each more of its kind, found from many of them. Each pair has a scale of its '
        'own: the '
        'longer bar is the larger of the two.',
        [
            legend([name for name, _ in MACHINES]),
            dot_plot('Memory of vmrun and erl', [row(m) for m in results.memory], None, None),
            table(results),
        ],
        './dev bench memory',
    )


def row(m):
    known = [(i, name, m.get(key)) for i, (name, key) in enumerate(MACHINES) if m.get(key) is not None]
    most = max((value for _, _, value in known), default=1) or 1
    dots = [
        Dot(value, f"{m['what']}, {name}: {words.count(value)} bytes", series=i, lane=i, bar=True)
        for i, name, value in known
    ]
    return Row(
        m['what'],
        dots,
        ' and '.join(words.amount(value) for _, _, value in known),
        'banded',
        scale=Linear(0, most),
    )


def table(results):
    return data(
        'memory',
        ['what', 'vmrun, bytes#', 'erl, bytes#', 'vmrun against erl#'],
        [
            [
                m['what'],
                words.count(m.get('vmrun_bytes')),
                words.count(m.get('erl_bytes')),
                words.times(m['vmrun_bytes'] / m['erl_bytes'])
                if m.get('vmrun_bytes') and m.get('erl_bytes')
                else '',
            ]
            for m in results.memory
        ],
    )
