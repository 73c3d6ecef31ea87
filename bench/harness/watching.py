# SPDX-License-Identifier: Apache-2.0
"""What looking costs: each family of probes, and all, under each tool that can count them here."""
from . import configurations, running, tables


def jobs(session):
    """[(workload, configurations)], each family on workloads that make it fire."""
    by_name = {workload.name: workload for workload in session.workloads}
    table = session.configurations
    quick = session.options.quick
    wanted = {}
    for family, names in configurations.FOR_FAMILY.items():
        if quick and family not in (*configurations.QUICK_FAMILIES, 'all'):
            continue
        present = [name for name in names if name in by_name and (by_name[name].quick or not quick)]
        for name in present[:1] if quick else present:
            wanted.setdefault(name, []).extend(
                row.name
                for row in table.values()
                if row.family == family and not (quick and '-texts' in row.name)
            )
    if not quick and (present := [name for name in configurations.FOR_FAMILY['message'] if name in by_name]):
        wanted.setdefault(present[0], []).extend(row.name for row in configurations.profiles())
    return [
        (by_name[name], configurations.with_bases([table[n] for n in names], table))
        for name, names in wanted.items()
    ]


def unmeasured_families(session):
    by_name = {workload.name for workload in session.workloads}
    from . import families

    return [
        name for name in families.families() if not by_name & set(configurations.FOR_FAMILY.get(name, ()))
    ]


def measure(session):
    measure_all(
        session,
        [(workload, [c for c in wanted if not c.unable(session)]) for workload, wanted in jobs(session)],
    )
    if unmeasured := unmeasured_families(session):
        session.say(
            f'\nno workload is about the probes of {", ".join(unmeasured)}: they have the cost of a site '
            'and of a firing like the others (./dev bench micro)'
        )


def measure_all(session, planned):
    """planned: [(workload, configurations that can run here)]."""
    for workload, able in planned:
        running.plan(session, workload, able)
    for workload, able in planned:
        measure_one(session, workload, able)


def measure_one(session, workload, able):
    if not able:
        return
    runs = running.of_workload(session, workload, able)
    rows = running.record(session, runs)
    session.say(f'\n{workload.name}, watched')
    lines = []
    for name, of in runs.items():
        if not of.alive:
            lines.append([of.configuration.title, 'failed', tables.shortened(of.failed, 90)])
        elif name in rows:
            row = rows[name]
            each = f'{row["ns_per_firing"]:.0f} ns' if row.get('ns_per_firing') is not None else '-'
            lines.append(
                [
                    of.configuration.title,
                    tables.interval(row),
                    of.firings if of.firings is not None else '-',
                    each,
                ]
            )
    for line in tables.columns(lines, ['', 'times as long', 'firings', 'each']):
        session.say('  ' + line)
