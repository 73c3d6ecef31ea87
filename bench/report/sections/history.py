# SPDX-License-Identifier: Apache-2.0
"""The figures of one commit after the other."""
from .. import words
from ..line_plot import Line, Panel, line_plot
from ..scales import Linear
from ..tables import data
from .section import Section


def section(results):
    commits = results.history
    names = list(dict.fromkeys(name for h in commits for name in h.get('figures', {})))
    if not names:
        return None
    panels = []
    for name in names:
        points = [
            (
                i,
                h['figures'][name],
                f"{h['commit']}, {h.get('date', '')}: {words.number(h['figures'][name], 4)}",
            )
            for i, h in enumerate(commits)
            if h.get('figures', {}).get(name) is not None
        ]
        if points:
            panels.append(Panel(name.replace('_', ' '), [Line(points)], words.number(points[-1][1], 4)))
    ends = [0, len(commits) - 1] if len(commits) > 1 else [0]
    return Section(
        'history',
        'Commit after commit',
        'The oldest commit is at the left; beside each title stands the newest figure. Each panel has a '
        'scale of its own. Figures of ratios: lower is better.',
        [
            line_plot(
                'History of figures',
                panels,
                Linear(0, max(1, len(commits) - 1)),
                None,
                lambda i: commits[int(i)]['commit'][:9],
                lambda v: words.number(v, 4),
                110,
                x_ticks=ends,
            ),
            data(
                'figures by commit',
                ['commit', 'date', *[name.replace('_', ' ') + '#' for name in names]],
                [
                    [
                        h['commit'],
                        h.get('date', ''),
                        *[words.number(h.get('figures', {}).get(name), 4) for name in names],
                    ]
                    for h in commits
                ],
            ),
        ],
        './dev bench --record',
    )
