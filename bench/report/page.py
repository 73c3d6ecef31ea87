# SPDX-License-Identifier: Apache-2.0
"""All of the page: what was measured and where, the figures that matter, the parts, and the figures
themselves."""
import json
import pathlib

from . import headline
from .markup import Markup, element
from .sections import (
    against_erl,
    doubts,
    events,
    having,
    history,
    latency,
    looking,
    memory,
    others,
    runs,
    scaling,
    verdicts,
)

HERE = pathlib.Path(__file__).resolve().parent
SECTIONS = (
    having,
    looking,
    events,
    against_erl,
    scaling,
    latency,
    memory,
    verdicts,
    history,
    others,
    doubts,
    runs,
)
NOTHING = 'Nothing was measured: the figures have no part that this page could show.'
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
FACTS = (
    ('machine', 'Machine'),
    ('cores', 'Cores'),
    ('memory_mb', 'Memory, MB'),
    ('kernel', 'Kernel'),
    ('compiler', 'Compiler'),
    ('flags', 'Flags'),
    ('erl', 'erl'),
    ('tools', 'Tools'),
    ('load', 'Load at the start'),
    ('pinned', 'Pinned'),
    ('options', 'Options'),
)


def page(results):
    parts = [made for made in (module.section(results) for module in SECTIONS) if made]
    figures = headline.headline(results)
    shown = [p.markup() for p in parts] or element('p', NOTHING, class_='lead')
    main = element('main', summary(results, figures) if figures else None, shown, own_figures(results))
    body = [
        top(results),
        navigation(parts, bool(figures)),
        main,
        element('div', id='tip', role='status', hidden='hidden'),
    ]
    return document(title(results), body)


def document(name, body):
    script = '//<![CDATA[\n' + (HERE / 'script.js').read_text(encoding='utf-8') + '//]]>'
    head = element(
        'head',
        element('meta', charset='utf-8'),
        element('meta', name='viewport', content='width=device-width, initial-scale=1'),
        element('meta', http_equiv='Content-Security-Policy', content=POLICY),
        element('title', name),
        element('style', Markup((HERE / 'style.css').read_text(encoding='utf-8'))),
    )
    return (
        '<!doctype html>\n'
        + element('html', head, element('body', body, element('script', Markup(script))), lang='en')
        + '\n'
    )


def title(results):
    commit = results.environment.get('commit')
    return 'What probes cost' + (f' – vmrun at {commit[:12]}' if commit else '')


def top(results):
    environment = results.environment
    measured = []
    if environment.get('commit'):
        measured.append(element('span', 'vmrun at ', element('code', environment['commit'])))
    if environment.get('dirty'):
        measured.append(element('b', 'with changes that are not committed', class_='missed'))
    if environment.get('date'):
        measured.append(element('span', environment['date']))
    measured += [
        element(
            'span',
            'beside it ',
            measurements(e),
            ' of ',
            element('code', e.get('commit') or '?'),
            f", {e.get('date')}",
        )
        for e in results.earlier
    ]
    facts = [
        element('div', element('dt', name), element('dd', fact(environment[key])))
        for key, name in FACTS
        if environment.get(key) is not None
    ]
    return element(
        'header',
        element('h1', 'What probes cost'),
        element('p', measured, class_='measured') if measured else None,
        element('dl', facts, class_='facts') if facts else None,
    )


def measurements(environment):
    return ', '.join((environment.get('options') or {}).get('names') or ['figures'])


def fact(value):
    if isinstance(value, dict):
        return ', '.join(f'{key}: {fact(v)}' for key, v in value.items() if v not in (None, '', []))
    if isinstance(value, list):
        return ' '.join(map(str, value))
    return {True: 'yes', False: 'no'}.get(value, value) if isinstance(value, bool) else value


def navigation(parts, figures):
    links = [('figures', 'The figures that matter')] if figures else []
    links += [(p.identity, p.title) for p in parts]
    if not links:
        return None
    return element(
        'nav',
        element('ul', [element('li', element('a', name, href=f'#{identity}')) for identity, name in links]),
        aria_label='parts of the page',
    )


def summary(results, figures):
    noisy, failed = sum(bool(r.get('noisy')) for r in results.ratios), sum(
        bool(r.get('failed')) for r in results.runs
    )
    doubts = []
    if noisy:
        doubts.append(f'{noisy} of {len(results.ratios)} ratios are too noisy to be shown')
    if failed:
        doubts.append(f'{failed} of {len(results.runs)} series of runs failed')
    said = (
        element('p', element('a', ' and '.join(doubts), href='#doubts'), '.', class_='doubts')
        if doubts
        else None
    )
    return element('section', element('h2', 'The figures that matter'), figures, said, id='figures')


def own_figures(results):
    """The page carries what it was made of. Characters that end a script, or that XML minds, are written as
    JSON's escapes."""
    text = json.dumps(results.data, ensure_ascii=True, separators=(',', ':'))
    for character in '<>&':
        text = text.replace(character, f'\\u{ord(character):04x}')
    return element(
        'footer',
        element(
            'p',
            'All ratios are of medians of runs made in turns, after a warm-up; intervals hold 95 of 100 '
            'ratios of runs '
            'drawn anew with repetition (bootstrap). Ratios are averaged by the geometric mean. This page '
            'fetches nothing and '
            'carries all figures it was made of.',
        ),
        element(
            'p', element('button', 'Save the figures as JSON', type='button', id='save', hidden='hidden')
        ),
        element('script', Markup(text), type='application/json', id='data'),
    )
