# SPDX-License-Identifier: Apache-2.0
"""What is not known: runs that failed, ratios too noisy to be figures, configurations that could not be
measured here."""
from ..tables import table
from .section import Section, part


def section(results):
    content = [broken_off(results), failed(results), noisy(results), unable(results)]
    if not any(content):
        return None
    return Section(
        'doubts',
        'Failed, noisy, not measured',
        'Nothing is left out silently: this is all that should be on this page and is not.',
        [c for c in content if c],
        './dev bench --list; ./dev bench --runs 15',
    )


def broken_off(results):
    rows = list(results.broken_off.items())
    return (
        part(
            'Measurements that broke off', table('measurements that broke off', ['measurement', 'why'], rows)
        )
        if rows
        else None
    )


def failed(results):
    rows = [
        [r['workload'], results.title(r['configuration']), r['failed']]
        for r in results.runs
        if r.get('failed')
    ]
    return (
        part('Runs that failed', table('runs that failed', ['workload', 'configuration', 'why'], rows))
        if rows
        else None
    )


def noisy(results):
    rows = [
        [r['workload'], results.title(r['configuration']), results.title(r['base'])]
        for r in results.ratios
        if r.get('noisy')
    ]
    return (
        part(
            'Too noisy for a figure',
            table('ratios too noisy for a figure', ['workload', 'configuration', 'against'], rows),
        )
        if rows
        else None
    )


def unable(results):
    rows = [[c.get('title') or c['name'], c['unable']] for c in results.configurations if c.get('unable')]
    rows += [
        [', '.join(filter(None, (m['name'], m.get('consumer')))), m.get('unable') or 'no figure']
        for m in results.unable_micro
    ]
    return (
        part(
            'Could not be measured here',
            table('configurations that could not be measured', ['configuration', 'why'], rows),
        )
        if rows
        else None
    )
