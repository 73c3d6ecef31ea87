# SPDX-License-Identifier: Apache-2.0
"""For each built-in function that may have much to do: by how much a timer of 1 ms comes late beside it under
+S 1 (with 100 MB), and how long a child that is spawned beside it waits under +S 2. Both as the program
measures them; a child's time is the median of 20."""
from . import keep
from .. import ROOT, processes


def measure(session):
    source, rows = ROOT / 'test' / 'fairness' / 'built_ins.act', {}
    for schedulers, mode, size in ((1, 'time', 100_000_000), (2, 'child', 4_000_000)):
        command = session.vmrun.command(source, ['+S', str(schedulers)], [mode, str(size)])
        out = session.once(['fairness', mode], lambda: printed(session.pinned(command)), 'fairness', mode)
        for line in out.splitlines():
            name, call, other = line.rsplit(maxsplit=2)
            rows.setdefault(name, {})[mode] = [float(call), float(other)]
    session.say(
        f'\n{"fairness":<36} {"call ms":>10} {"late ms":>8} {"child ms":>9}   '
        'wanted 10 ms late, 1 ms for a child'
    )
    for name, row in rows.items():
        (call, late), (_, child) = row['time'], row['child']
        session.say(f'{name:<36} {call:>10.1f} {late:>8.1f} {child:>9.2f}')
    keep(session, 'fairness', rows)


def printed(command):
    ended = processes.run(command, 3600)
    if ended.status != 0:
        raise RuntimeError(f'status {ended.status}: {ended.err[-500:]}')
    return ended.out
