# SPDX-License-Identifier: Apache-2.0
"""The page of a benchmark run, bench/report: it shows what is measured and nothing else, and names are never
markup."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from .report_sample import FAILED, NOISY, Sample
from .results import Failure, Test

HOSTILE = '</script><script>alert(1)</script>"\'&<b>\x00'
# The parts of the figures, and the section that shows each.
SECTIONS = {
    'instructions': 'having',
    'micro': 'events',
    'scaling': 'scaling',
    'latency': 'latency',
    'memory': 'memory',
    'history': 'history',
    'verdicts': 'verdicts',
    'runs': 'runs',
    'hello': 'others',
}


def tests(root):
    suite = Suite(root)
    return [
        Test('docs', 'the page of figures ' + name[5:].replace('_', ' '), getattr(suite, name))
        for name in dir(suite)
        if name.startswith('test_')
    ]


def expect(condition, what):
    if not condition:
        raise Failure(what)


class Page:
    """The page read as XML, because well-formed HTML is XML."""

    def __init__(self, text):
        self.text = text
        self.tree = ElementTree.fromstring(text.removeprefix('<!doctype html>'))
        self.sections = {s.get('id'): ' '.join(s.itertext()) for s in self.tree.iter('section')}
        self.data = json.loads(next(s.text for s in self.tree.iter('script') if s.get('id') == 'data'))

    def rows(self, section, caption):
        """Returns the texts of the cells of the table with this caption."""
        found = next(s for s in self.tree.iter('section') if s.get('id') == section)
        table = next(t for t in found.iter('table') if t.find('caption').text == caption)
        return [
            [''.join(cell.itertext()).replace('\u202f', ' ') for cell in row] for row in table.find('tbody')
        ]


class Suite:
    def __init__(self, root):
        self.root = root

    def make(self, figures):
        """Runs the command, as a user does. figures: an object, or the text of the file."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / 'results.json').write_text(figures if isinstance(figures, str) else json.dumps(figures))
            told = subprocess.run(
                [
                    sys.executable,
                    self.root / 'bench/report',
                    folder / 'results.json',
                    '-o',
                    folder / 'page.html',
                ],
                capture_output=True,
                text=True,
            )
            return told, (folder / 'page.html').read_text() if told.returncode == 0 else None

    def page(self, figures):
        told, text = self.make(figures)
        expect(told.returncode == 0 and not told.stderr, told.stderr)
        return Page(text)

    def test_carries_all_figures_and_shows_them_in_tables(self):
        figures = Sample().everything()
        page = self.page(figures)
        expect(page.data == figures, 'the page does not carry the figures it was made of')
        counted = {row[0]: row for row in page.rows('having', 'instructions, probes in against out')}
        for i in figures['instructions']:
            shown = [counted[i['workload']][n].replace(' ', '') for n in (1, 2)]
            expect(shown == [str(i['instructions']), str(i['base_instructions'])], f'{i}: {shown}')
        lengths = {
            ('scaling', 'speedup by schedulers'): 'scaling',
            ('latency', 'latency percentiles'): 'latency',
            ('memory', 'memory'): 'memory',
            ('history', 'figures by commit'): 'history',
            ('verdicts', 'verdicts'): 'verdicts',
            ('runs', 'all runs'): 'runs',
        }
        for (section, caption), part in lengths.items():
            expect(len(page.rows(section, caption)) == len(figures[part]), f'{part}: rows are missing')
        memory = {row[0]: row[1:3] for row in page.rows('memory', 'memory')}
        expect(memory['idle TCP connection'] == ['4 210', '15 872'], f'{memory}')
        watched = page.rows('looking', 'time while somebody looks')
        expect(
            len(watched) == sum(r['base'] == 'off-1' for r in figures['ratios']),
            'ratios of those who look are missing',
        )
        expect(any('81 237' in row for row in watched), 'the number of events is missing')
        events = [
            row
            for caption in ('time of an event', 'time of an operation')
            for row in page.rows('events', caption)
        ]
        expect(len(events) == sum(m['ns'] is not None for m in figures['micro']), f'{len(events)} events')

    def test_compares_with_erl_the_way_it_says(self):
        figures = {
            'schema': 1,
            'ratios': [
                {
                    'workload': 'savina/ring',
                    'configuration': 'erl',
                    'base': 'off',
                    'median': 4,
                    'low': 3.2,
                    'high': 5,
                    'noisy': False,
                }
            ],
        }
        (row,) = self.page(figures).rows('erl', "vmrun's time as a multiple of erl's")
        expect(row[3:5] == ['0.250 ×', '0.200 × to 0.312 ×'], f'{row}')

    def test_names_the_commits_of_figures_that_are_older(self):
        earlier = {
            'commit': '738e62e606ae',
            'date': '2026-11-23',
            'options': {'names': ['latency', 'memory']},
        }
        page = self.page(Sample().everything() | {'earlier': [earlier]})
        (measured,) = (' '.join(p.itertext()) for p in page.tree.iter('p') if p.get('class') == 'measured')
        for part in ('0606bb1c4d2e', 'latency, memory', '738e62e606ae', '2026-11-23'):
            expect(part in measured, f'{part} is not in: {measured}')

    def test_fetches_nothing(self):
        page = self.page(Sample().everything())
        for e in page.tree.iter():
            for name, value in e.attrib.items():
                outside = (
                    name in ('src', 'srcset', 'data', 'action', 'poster')
                    or name.endswith('href')
                    and not value.startswith('#')
                )
                expect(not outside, f'<{e.tag} {name}="{value[:60]}">')
        expect(
            not re.search(r'https?:|url\(|@import|import\(|fetch\(|XMLHttp', page.text),
            'the page names something outside',
        )
        identities = [e.get('id') for e in page.tree.iter() if e.get('id')]
        links = {e.get('href')[1:] for e in page.tree.iter('a')}
        expect(
            len(set(identities)) == len(identities) and links <= set(identities),
            f'links lead nowhere: {links - set(identities)}',
        )

    def test_leaves_out_what_was_not_measured(self):
        whole = Sample().everything()
        expect(set(SECTIONS.values()) <= set(self.page(whole).sections), 'a section is missing')
        for part, section in SECTIONS.items():
            without = {key: [] if key == part else value for key, value in whole.items()}
            if part == 'instructions':  # the section shows times, too
                without['ratios'] = [r for r in whole['ratios'] if r['base'] != 'none']
            expect(section not in self.page(without).sections, f'{part} is empty, and the section is there')
            alone = self.page({'schema': 1, part: whole[part]})
            expect(section in alone.sections, f'{part} alone is not shown: {list(alone.sections)}')
        empty = self.page({'schema': 1})
        expect(not empty.sections and 'Nothing was measured' in empty.text, 'an empty page does not say so')

    def test_names_noise_and_failures_and_prints_no_figure_of_them(self):
        page = self.page(Sample().everything())
        rows = {row[0]: row[3] for row in page.rows('erl', "vmrun's time as a multiple of erl's")}
        expect(rows[FAILED] == 'failed' and all(rows[name] == 'too noisy' for name in NOISY), f'{rows}')
        for text in (
            FAILED,
            *NOISY,
            '18 was expected',
            'perf counts no uprobes here',
            'no kernel headers',
            'the build has no such program',
        ):
            expect(text in page.sections['doubts'], f'{text} is not told')
        expect(
            'too noisy' in page.sections['figures'] and 'failed' in page.sections['figures'],
            'the headline hides them',
        )

    def test_says_whether_targets_are_met(self):
        def said(ratio):
            figures = {
                'schema': 1,
                'instructions': [
                    {
                        'workload': 'a/b',
                        'configuration': 'off',
                        'base': 'none',
                        'instructions': 1,
                        'base_instructions': 1,
                        'ratio': ratio,
                    }
                ],
            }
            return re.findall(r'✓ met|✗ not met', self.page(figures).sections['figures'])

        for ratio, wanted in (
            (1.002, ['✓ met', '✓ met']),
            (1.005, ['✗ not met', '✓ met']),
            (1.02, ['✗ not met', '✗ not met']),
        ):
            expect(said(ratio) == wanted, f'{ratio}: {said(ratio)}')

    def test_says_that_a_target_is_open_when_a_workload_has_no_figure(self):
        ratios = [
            {
                'workload': f'savina/{name}',
                'configuration': 'erl',
                'base': 'off',
                'median': 4,
                'low': 3.9,
                'high': 4.1,
                'noisy': name == 'b',
            }
            for name in 'ab'
        ]
        shown = self.page({'schema': 1, 'ratios': ratios}).sections['figures']
        expect('? not known' in shown and '1 of 2 workloads without a figure' in shown, shown)

    def test_shows_hostile_names_as_names(self):
        figures = Sample().everything()
        for part in ('workloads', 'runs', 'ratios', 'instructions', 'scaling', 'verdicts'):
            for row in figures[part]:
                for key in ('workload', 'name', 'text', 'from', 'kind', 'failed'):
                    if row.get(key):
                        row[key] += HOSTILE
        for part, key in (
            ('micro', 'name'),
            ('memory', 'what'),
            ('latency', 'load'),
            ('history', 'commit'),
            ('configurations', 'title'),
            ('hello', 'what'),
        ):
            for row in figures[part]:
                row[key] += HOSTILE
        figures['environment'] = {key: HOSTILE for key in figures['environment']}
        page = self.page(figures)
        expect(
            len(list(page.tree.iter('script'))) == 2 and '<b>\x00' not in page.text,
            'a name has become markup',
        )
        expect(page.data == figures, 'the figures are not the same any more')
        for section in (
            'having',
            'looking',
            'events',
            'erl',
            'scaling',
            'latency',
            'memory',
            'history',
            'verdicts',
            'runs',
            'doubts',
            'others',
        ):
            expect(
                '<script>alert(1)</script>"\'&<b>\ufffd' in page.sections[section],
                f'{section}: the name is not shown as it is',
            )

    def test_copes_with_a_single_figure_and_with_zero(self):
        for ns in (0, 3.5):
            figures = {
                'schema': 1,
                'micro': [
                    {
                        'group': 'site',
                        'name': 'nobody looks',
                        'consumer': None,
                        'ns': ns,
                        'low': ns,
                        'high': ns,
                        'floor_ns': None,
                    }
                ],
                'latency': [
                    {'configuration': 'off', 'load': '50 %', 'percentiles_ns': {'50': ns}, 'samples': 1}
                ],
                'memory': [{'what': 'a term', 'vmrun_bytes': 0, 'erl_bytes': None}],
                'ratios': [
                    {
                        'workload': 'a/b',
                        'configuration': 'erl',
                        'base': 'off',
                        'median': 2,
                        'low': 0,
                        'high': 4,
                        'noisy': False,
                    }
                ],
            }
            expect(
                {'events', 'latency', 'memory', 'erl'} == set(self.page(figures).sections) - {'figures'},
                'a section is missing',
            )

    def test_shows_no_markup_as_text(self):
        page = self.page(Sample().everything())
        expect('&lt;' not in page.text, 'markup was escaped: ' + page.text[page.text.find('&lt;') :][:200])

    def test_refuses_what_it_cannot_read(self):
        for text, why in (
            ('{', 'is no JSON'),
            ('[]', '"schema" is None'),
            ('{"schema": 2}', '"schema" is 2'),
        ):
            told, _ = self.make(text)
            expect(
                told.returncode == 1 and why in told.stderr and 'Traceback' not in told.stderr,
                f'{text}: {told.stderr}',
            )
