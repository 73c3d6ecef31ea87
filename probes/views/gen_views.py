#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the C++ file with the table of views and their scripts, which lie beside the table.

Usage: gen_views.py VIEWS.TAB OUT.cpp"""
import pathlib
import re
import sys

KINDS = {'duration', 'count', 'word', 'flag'}
UNITS = {
    'process',
    'text',
    'function',
    'caller',
    'count',
    'rate',
    'time',
    'share',
    'part',
    'words',
    'bytes',
    'median',
    'ninety',
}


class View:
    def __init__(self, name, script, shown, purpose, options):
        self.name, self.script, self.shown, self.purpose, self.options = name, script, shown, purpose, options
        self.instead, self.tables = [], []


def split_colon(text):
    head, _, tail = text.partition(' : ')
    return head.split(), tail.strip()


def read_option(words, meaning, options):
    letter, name, kind = words[:3]
    if kind not in KINDS and '|' not in kind:
        raise ValueError(f'unknown kind {kind}')
    value = '' if words[3] == '-' else words[3]
    same = [i for i, option in enumerate(options) if option[0] == letter]
    if same:
        options[same[0]] = (letter, name, kind, value, meaning or options[same[0]][4])
    else:
        options.append((letter, name, kind, value, meaning))


def read_column(words):
    heading, source, unit = words
    if unit not in UNITS:
        raise ValueError(f'unknown unit {unit}')
    key, aggregation = (
        (0, source[1:]) if source.startswith('@') else (0, '') if source == 'when' else (int(source), '')
    )
    return heading, key, aggregation, unit


def read_line(line, views, common):
    """common: lists of options by how views are shown, '' for all."""
    words, tail = split_colon(line)
    what, rest = words[0], words[1:]
    if what == 'all':
        common.update(dict.fromkeys(rest or [''], []))
    elif what == 'option':
        read_option(rest, tail, views[-1].options if views else list(common.values())[-1])
    elif what == 'view':
        views.append(View(*rest, tail, [*common[''], *common.get(rest[2], [])]))
    elif what == 'instead':
        views[-1].instead.append((rest[0], rest[1]))
    elif what == 'table':
        views[-1].tables.append((rest[0], tail, []))
    elif what == 'column':
        views[-1].tables[-1][2].append(read_column(rest))
    else:
        raise ValueError(f'unknown word {what}')


def parse(path):
    views, common = [], {}
    for number, line in enumerate(re.sub(r'\\\n *', '', path.read_text()).splitlines(), 1):
        try:
            if line.strip() and not line.startswith('#'):
                read_line(line, views, common)
        except (ValueError, IndexError, TypeError) as error:
            sys.exit(f'{path}:{number}: {error}')
    return views


def quoted(text):
    return (
        '"' + text.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n').replace('\t', '\\t') + '"'
    )


def kind_constant(kind):
    return 'kChoice' if '|' in kind else 'k' + kind.capitalize()


def choices(kind):
    return kind if '|' in kind else ''


def script_literal(text):
    return '\n    '.join(quoted(line) for line in text.splitlines(keepends=True))


def source(views, folder):
    out = [
        '// Made by gen_views.py.',
        '#include "probes/views/views.hpp"',
        '',
        'namespace vmrun::d {',
        'namespace {',
    ]
    for v in views:
        out.append(f'const ViewOption k_{v.name}_options[] = {{')
        for letter, name, kind, value, meaning in v.options:
            out.append(
                f"    {{'{letter}', {quoted(name)}, OptionKind::{kind_constant(kind)}, {quoted(value)}, "
                f"{quoted(meaning)}, "
                f'{quoted(choices(kind))}}},'
            )
        out.append('};')
        for name, _, columns in v.tables:
            out.append(f'const ViewColumn k_{v.name}_{name}_columns[] = {{')
            out += [
                f'    {{{quoted(h)}, {key}, {quoted(a)}, Unit::k{unit.capitalize()}}},'
                for h, key, a, unit in columns
            ]
            out.append('};')
        if v.instead:
            out.append(f'const ViewScript k_{v.name}_instead[] = {{')
            out += [
                f'    {{{quoted(option)}, {quoted(script)},\n'
                f'    {script_literal((folder / script).read_text())}}},'
                for option, script in v.instead
            ]
            out.append('};')
        if v.tables:
            out.append(f'const ViewTable k_{v.name}_tables[] = {{')
            out += [
                f'    {{{quoted(name)}, {quoted(title)}, k_{v.name}_{name}_columns}},'
                for name, title, _ in v.tables
            ]
            out.append('};')
    out.append('const ViewInfo kAll[] = {')
    for v in views:
        tables = f'k_{v.name}_tables' if v.tables else '{}'
        instead = f'k_{v.name}_instead' if v.instead else '{}'
        text = (folder / v.script).read_text()
        out.append(
            f'    {{{quoted(v.name)}, {quoted(v.script)}, {quoted(v.shown)}, {quoted(v.purpose)},\n'
            f'    {script_literal(text)},\n'
            f'    k_{v.name}_options, {tables}, {instead}}},'
        )
    out += [
        '};',
        '}  // namespace',
        'const std::span<const ViewInfo> kViews = kAll;',
        '}  // namespace vmrun::d',
        '',
    ]
    return '\n'.join(out)


if __name__ == '__main__':
    table = pathlib.Path(sys.argv[1])
    pathlib.Path(sys.argv[2]).write_text(source(parse(table), table.parent))
