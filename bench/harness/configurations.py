# SPDX-License-Identifier: Apache-2.0
"""The list of configurations: a machine, and who watches it. Defined once, here.

Each has a base, with which it is compared, that differs in the one thing the configuration is about. Those
who watch are measured on one scheduler; tracers in the kernel, and Erlang's own tracing, besides at the small
size of a workload, because an event costs them as much as the work of many messages.
"""
import dataclasses
import fnmatch

from . import consumers, families


@dataclasses.dataclass(frozen=True)
class Configuration:
    name: str
    title: str
    group: str
    machine: str  # vmrun, none, baseline, erl, erl-with-probes
    base: str = None
    family: str = None  # of probes; all
    consumer: object = None
    small: bool = False
    schedulers: int = None  # None: as many as the machine takes by itself

    @property
    def flags(self):
        return ['+S', str(self.schedulers)] if self.schedulers else []

    def unable(self, session):
        """Why it cannot run here, or None."""
        return session.unable_machine(self.machine) or (
            self.consumer.unable(session) if self.consumer else None
        )

    def row(self, unable=None):
        return {
            'name': self.name,
            'title': self.title,
            'group': self.group,
            'family': self.family,
            'base': self.base,
            'unable': unable,
        }


# What erlang:trace has for a family of probes. The others have no such events.
ERLANG_EVENTS = {
    'message': "send,receive",
    'function': 'call,return',
    'gc': 'garbage_collection',
    'process': 'procs,running,exiting',
    'port': 'ports',
    'all': 'send,receive,call,return,garbage_collection,procs,running,exiting,ports',
}

# A workload whose events are mostly of the family, so that what is measured is that family.
FOR_FAMILY = {
    'message': ('actors/ping_pong', 'savina/ping_pong'),
    'copy': ('actors/list_messages',),
    'function': ('sequential/fib',),
    'bif': ('sequential/map_operations',),
    'nif': ('native/nif_calls',),
    'gc': ('sequential/binary_trees',),
    'process': ('actors/spawns_sequential',),
    'process-heap': ('sequential/merge_sort',),
    'efile_drv': ('files/small_raw_reads',),
    'aio_pool': ('files/small_raw_reads',),
    'port': ('ports/echo',),
    'driver': ('ports/echo',),
    'run-queue': ('actors/ring',),
    'binary': ('sequential/binary_build_match',),
    'ets': ('tables/lookups',),
    'name': ('actors/registered_names',),
    'user_trace': ('tracing/user_probes',),
    'trace': ('tracing/traced_messages',),
    'code': ('code/versions',),
    'all': (
        'actors/ping_pong',
        'sequential/binary_trees',
        'actors/spawns_sequential',
        'files/small_raw_reads',
        'ports/echo',
    ),
}

# For --quick: workloads, and families that are watched.
QUICK_WORKLOADS = (
    'actors/ping_pong',
    'actors/spawns_sequential',
    'sequential/fib',
    'sequential/binary_trees',
    'files/small_raw_reads',
    'ports/echo',
    'savina/counting',
    'savina/fork_join_throughput',
)
QUICK_FAMILIES = ('message', 'gc', 'process')


def plain():
    return [
        Configuration('none', 'probes compiled out', 'vmrun', 'none'),
        Configuration('off', 'probes compiled in, nobody looks', 'vmrun', 'vmrun', base='none'),
        Configuration('baseline', 'the other commit', 'vmrun', 'baseline'),
        Configuration('erl', 'stock erl', 'erl', 'erl', base='off'),
        Configuration('off-1', 'nobody looks, one scheduler', 'vmrun', 'vmrun', schedulers=1),
        Configuration(
            'off-small', 'nobody looks, one scheduler, small size', 'vmrun', 'vmrun', small=True, schedulers=1
        ),
        Configuration(
            'erl-small', 'stock erl, one scheduler, small size', 'erl', 'erl', small=True, schedulers=1
        ),
        Configuration(
            'erl-with-probes',
            'erl built with SystemTap probes, nobody looks, one scheduler, small size',
            'erl',
            'erl-with-probes',
            base='erl-small',
            small=True,
            schedulers=1,
        ),
    ]


def watching(family):
    """All who watch a family."""
    what = 'every probe' if family == 'all' else f'probes of {family}'

    def ours(tool, shown, consumer, **more):
        return Configuration(
            f'{tool}-{family}',
            f'{what}, {shown}',
            tool.removesuffix('-texts'),
            'vmrun',
            base=more.pop('base', 'off-small'),
            family=family,
            consumer=consumer,
            schedulers=1,
            **more,
        )

    rows = [
        ours('vmtrace', 'counted by vmtrace', consumers.Vmtrace(families_clauses(family)), base='off-1'),
        ours(
            'vmtrace-texts',
            'counted by their texts by vmtrace',
            consumers.Vmtrace(families_clauses(family, True)),
            base='off-1',
        ),
        ours('bpftrace', 'counted by bpftrace', consumers.Bpftrace(family), small=True),
        ours(
            'bpftrace-texts',
            'counted by their texts by bpftrace',
            consumers.Bpftrace(family, True),
            small=True,
        ),
        ours('perf', 'counted by perf', consumers.Perf(family), small=True),
        ours('stap', 'counted by SystemTap', consumers.SystemTap(family), small=True),
        ours(
            'stap-texts', 'counted by their texts by SystemTap', consumers.SystemTap(family, True), small=True
        ),
        ours('dtrace', "counted by Oracle's DTrace", consumers.OracleDTrace(family), small=True),
        ours(
            'dtrace-texts',
            "counted by their texts by Oracle's DTrace",
            consumers.OracleDTrace(family, True),
            small=True,
        ),
    ]
    if family in ERLANG_EVENTS:
        for suffix, shown, texts in (
            ('', 'counted', False),
            ('-texts', 'counted by the text of the process', True),
        ):
            rows.append(
                Configuration(
                    f'erl-trace{suffix}-{family}',
                    f'stock erl, erlang:trace of the events of {what}, {shown}',
                    'erl-trace',
                    'erl',
                    base='erl-small',
                    family=family,
                    small=True,
                    schedulers=1,
                    consumer=consumers.ErlangTrace(ERLANG_EVENTS[family], texts),
                )
            )
        rows.append(
            Configuration(
                f'erl-with-probes-bpftrace-{family}',
                f'erl built with SystemTap probes, {what}, counted by bpftrace',
                'bpftrace',
                'erl-with-probes',
                base='erl-with-probes',
                family=family,
                consumer=consumers.Bpftrace(family),
                small=True,
                schedulers=1,
            )
        )
    return rows


def families_clauses(family, texts=False):
    return consumers.d_clauses(family, texts)


def profiles():
    return [
        Configuration(
            'vmtrace-profile',
            '997 samples a second with stacks, by vmtrace',
            'vmtrace',
            'vmrun',
            base='off-1',
            schedulers=1,
            consumer=consumers.Vmtrace('profile-997 { @[ustack(20)] = count(); }', counts=False),
        ),
        Configuration(
            'perf-profile',
            '997 samples a second with native stacks, by perf',
            'perf',
            'vmrun',
            base='off-1',
            schedulers=1,
            consumer=consumers.PerfProfile(),
        ),
    ]


def every():
    """By name, in the order of the table."""
    rows = plain() + profiles()
    for family in [*families.families(), 'all']:
        rows += watching(family)
    return {row.name: row for row in rows}


def matching(patterns, rows):
    """In the order of the table. patterns: names with * and ?; one that matches none is a mistake."""
    chosen = []
    for pattern in patterns:
        found = fnmatch.filter(rows, pattern)
        if not found:
            raise ValueError(f'no configuration is called {pattern}; --list names them')
        chosen += found
    return [row for name, row in rows.items() if name in set(chosen)]


def with_bases(chosen, rows):
    """Those they are compared with too. The table has each base before what is compared with it."""
    names = {row.name for row in chosen}
    for row in list(chosen):
        while row.base and row.base not in names:
            row = rows[row.base]
            if row.name == 'none':
                break
            names.add(row.name)
    return [row for name, row in rows.items() if name in names]
