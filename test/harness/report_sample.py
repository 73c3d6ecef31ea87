# SPDX-License-Identifier: Apache-2.0
"""Made-up figures in the format of ./dev bench, with every part and every special case. They serve the tests
of the page, and show how it looks: `python3 test/harness/report_sample.py FILE`."""
import json
import random
import sys

KINDS = {
    'savina': (
        'ping_pong',
        'counting',
        'fjthrput',
        'fjcreate',
        'thread_ring',
        'chameneos',
        'big',
        'cigsmok',
        'philosophers',
        'trapezoid',
        'radix_sort',
        'fib',
        'nqueens',
        'bank_transaction',
    ),
    'actors': ('all_to_all', 'fan_in', 'links', 'parallel_fib', 'selective_receive', 'timers'),
    'sequential': ('big_factorial', 'binary_trees', 'fib', 'merge_sort', 'nbody', 'queens', 'tak'),
    'files': ('buffered_lines', 'small_raw_reads', 'read_file_1000'),
    'sockets': ('accepts', 'echo_1', 'echo_100'),
    'programs': ('chat_server', 'key_value_store'),
}
SPEED = {'savina': 0.3, 'actors': 0.45, 'sequential': 1.25, 'files': 0.8, 'sockets': 0.7, 'programs': 0.75}
FAMILIES = {
    'message': 1.3,
    'copy': 1.2,
    'function': 4.5,
    'bif': 2.1,
    'gc': 1.04,
    'process': 1.5,
    'process-heap': 1.1,
    'efile_drv': 1.15,
    'aio_pool': 1.08,
    'port': 1.2,
    'run-queue': 1.6,
    'ets': 2.4,
    'all': 5,
}
NOISY = ('sockets/accepts', 'savina/big')
FAILED = 'savina/cigsmok'
PARALLEL = (
    'savina/fib',
    'savina/nqueens',
    'savina/radix_sort',
    'savina/trapezoid',
    'actors/all_to_all',
    'actors/parallel_fib',
)


class Sample:
    def __init__(self, seed=7):
        self.source = random.Random(seed)
        self.names = [f'{kind}/{name}' for kind, names in KINDS.items() for name in names]

    def ratio(self, workload, configuration, base, median, noisy=False):
        half = self.source.uniform(0.005, 0.05)
        return {
            'workload': workload,
            'configuration': configuration,
            'base': base,
            'median': round(median, 4),
            'low': round(median * (1 - half), 4),
            'high': round(median * (1 + half), 4),
            'noisy': noisy,
        }

    def around(self, value, spread):
        return value * self.source.lognormvariate(0, spread)

    def configurations(self):
        plain = [
            ('none', 'probes compiled out', 'vmrun', None),
            ('off', 'probes compiled in, nobody looks', 'vmrun', 'none'),
            ('erl', 'stock erl', 'erl', 'off'),
            ('off-1', 'nobody looks, one scheduler', 'vmrun', None),
            ('vmtrace-profile', '997 samples a second with stacks, by vmtrace', 'vmtrace', 'off-1'),
        ]
        rows = [{'name': n, 'title': t, 'group': g, 'family': None, 'base': b} for n, t, g, b in plain]
        for family in FAMILIES:
            for tool in ('vmtrace', 'vmtrace-texts', 'bpftrace', 'erl-trace'):
                rows.append(
                    {
                        'name': f'{tool}-{family}',
                        'title': f'probes of {family}, counted by {tool}',
                        'group': tool.removesuffix('-texts'),
                        'family': family,
                        'base': 'off-1',
                    }
                )
        rows.append(
            {
                'name': 'perf-message',
                'title': 'probes of message, counted by perf',
                'group': 'perf',
                'family': 'message',
                'base': 'off-1',
                'unable': 'perf counts no uprobes here',
            }
        )
        return rows

    def ratios(self):
        rows = []
        for name in self.names:
            noisy = name in NOISY
            rows.append(self.ratio(name, 'off', 'none', self.around(1.002, 0.005), noisy))
            if name != FAILED:
                rows.append(
                    self.ratio(name, 'erl', 'off', 1 / self.around(SPEED[name.split('/')[0]], 0.35), noisy)
                )
        for family, cost in FAMILIES.items():
            for workload in ('savina/ping_pong', 'sequential/binary_trees', 'files/small_raw_reads')[
                : 3 if family in ('all', 'message') else 1
            ]:
                for tool, factor in (
                    ('vmtrace', 1),
                    ('vmtrace-texts', 1.5),
                    ('bpftrace', 14),
                    ('erl-trace', 5),
                ):
                    rows.append(
                        {
                            **self.ratio(
                                workload,
                                f'{tool}-{family}',
                                'off-1',
                                1 + (cost - 1) * self.around(factor, 0.3),
                            ),
                            'ns_per_firing': round(self.around(25 * factor, 0.4), 1),
                        }
                    )
        rows += [
            self.ratio(name, 'vmtrace-profile', 'off-1', self.around(1.02, 0.005))
            for name in ('savina/ping_pong', 'sequential/fib')
        ]
        return rows

    def run(self, workload, configuration):
        micros = self.around(400_000, 0.8)
        return {
            'workload': workload,
            'configuration': configuration,
            'times_us': [round(self.around(micros, 0.02)) for _ in range(7)],
            'warmup_us': [round(micros * 1.1)],
            'firings': None,
            'failed': None,
        }

    def runs(self):
        rows = [
            self.run(name, configuration) for name in self.names for configuration in ('none', 'off', 'erl')
        ]
        for row in rows:
            if (row['workload'], row['configuration']) == (FAILED, 'erl'):
                row.update(times_us=[], failed='status 1: the result is 17, 18 was expected')
        return rows + [{**self.run('savina/ping_pong', 'vmtrace-message'), 'firings': 81237}]

    def instructions(self):
        rows = []
        for name in self.names:
            base, ratio = self.source.randrange(10**7, 10**9), self.around(1.0012, 0.0016)
            rows.append(
                {
                    'workload': name,
                    'configuration': 'off',
                    'base': 'none',
                    'instructions': round(base * ratio),
                    'base_instructions': base,
                    'ratio': round(ratio, 6),
                }
            )
        return rows

    def micro(self):
        rows = [
            ('floor', 'an empty uprobe', 'bpftrace', 498, None),
            ('site', 'probes compiled out', None, 0.3, None),
            ('site', 'nobody looks', None, 0.6, None),
            ('site', 'counted', 'vmtrace', 10.2, None),
            ('site', 'counted', 'bpftrace', 547, 498),
            ('site', 'counted', 'perf', 531, 498),
            ('text', 'a pid', 'vmtrace', 12, None),
            ('text', 'a pid', 'bpftrace', 981, 498),
            ('message', 'send and receive a small one', None, 31, None),
            ('message', 'send and receive 1 KiB', None, 240, None),
            ('spawn', 'spawn and exit', None, 410, None),
            ('collect', 'a heap of 10 000 words', None, 18_300, None),
            ('table', 'ets:lookup of an integer', None, 61, None),
            ('port', 'a command', None, 720, None),
        ]
        return [
            {
                'group': g,
                'name': n,
                'consumer': c,
                'ns': ns,
                'low': round(ns * 0.97, 2),
                'high': round(ns * 1.03, 2),
                'floor_ns': floor,
            }
            for g, n, c, ns, floor in rows
        ] + [
            {
                'group': 'site',
                'name': 'counted',
                'consumer': 'stap',
                'ns': None,
                'low': None,
                'high': None,
                'floor_ns': None,
                'unable': 'no kernel headers',
            }
        ]

    def scaling(self):
        rows = []
        for name in PARALLEL:
            serial = self.source.uniform(0.01, 0.15)
            for n in (1, 2, 4, 8):
                speedup = round(1 / (serial + (1 - serial) / n), 2)
                rows.append(
                    {
                        'workload': name,
                        'schedulers': n,
                        'times_us': [round(10**6 / speedup)] * 5,
                        'speedup': speedup,
                        'efficiency': round(speedup / n, 3),
                    }
                )
        return rows

    def latency(self):
        rows = []
        for load, factor in (('10 %', 1), ('50 %', 2), ('90 %', 6)):
            for configuration, typical in (('off', 2100), ('erl', 3900)):
                growth = self.source.uniform(2.2, 3)
                rows.append(
                    {
                        'configuration': configuration,
                        'load': load,
                        'samples': 100_000,
                        'percentiles_ns': {
                            p: round(typical * factor * growth**i)
                            for i, p in enumerate(('50', '90', '99', '99.9', '99.99'))
                        },
                    }
                )
        return rows

    def history(self):
        return [
            {
                'commit': f'{n:07x}',
                'date': f'2026-{1 + n // 3:02}-{1 + n % 28:02}',
                'figures': {
                    'off_against_none': round(self.around(1.002, 0.0008), 5),
                    'savina_against_erl': round(0.3 + 0.4 * 0.88**n, 3),
                    'all_against_erl': round(0.6 + 0.5 * 0.9**n, 3),
                    'vmtrace_message': round(self.around(1.34, 0.03), 3),
                },
            }
            for n in range(18)
        ]

    def verdicts(self):
        rows = []
        for i, name in enumerate(self.names):
            verdict = {3: 'slower', 8: 'faster', 15: 'faster', 20: 'noisy'}.get(i, 'same')
            median = {'slower': 1.06, 'faster': 0.93}.get(verdict, self.around(1, 0.004))
            rows.append(
                {
                    'workload': name,
                    'verdict': verdict,
                    **{
                        k: round(v, 4)
                        for k, v in (('median', median), ('low', median - 0.012), ('high', median + 0.013))
                    },
                }
            )
        return rows

    def everything(self):
        return {
            'schema': 1,
            'environment': {
                'machine': '2 x AMD EPYC 7763',
                'cores': 2,
                'kernel': '6.18.5',
                'compiler': 'gcc 12.2.0',
                'commit': '0606bb1c4d2e',
                'dirty': True,
                'date': '2026-11-24 11:30',
                'erl': '25.3.2 (JIT)',
                'flags': '-O2 -DNDEBUG',
                'options': {'runs': 7, 'quick': False},
                'pinned': None,
            },
            'configurations': self.configurations(),
            'workloads': [
                {
                    'name': n,
                    'kind': n.split('/')[0],
                    'size': '[40000]',
                    'text': f'What {n} does, in a sentence.',
                    'from': 'Savina, 2014',
                    'parallel': n in PARALLEL,
                }
                for n in self.names
            ],
            'runs': self.runs(),
            'ratios': self.ratios(),
            'instructions': self.instructions(),
            'micro': self.micro(),
            'scaling': self.scaling(),
            'latency': self.latency(),
            'memory': [
                {'what': 'idle process', 'vmrun_bytes': 1104, 'erl_bytes': 2688},
                {'what': 'message of 10 words in a mailbox', 'vmrun_bytes': 136, 'erl_bytes': 128},
                {'what': 'idle TCP connection', 'vmrun_bytes': 4210, 'erl_bytes': 15_872},
            ],
            'hello': [{'what': 'start to finish', 'vmrun_ms': 21.5, 'erl_ms': 148.25}],
            'failed': {'wire': 'the build has no such program'},
            'history': self.history(),
            'verdicts': self.verdicts(),
        }


if __name__ == '__main__':
    with open(sys.argv[1], 'w', encoding='utf-8') as file:
        json.dump(Sample().everything(), file)
