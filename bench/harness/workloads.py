# SPDX-License-Identifier: Apache-2.0
"""The workloads: finds them and reads what they say of themselves.

A workload is a program bench/KIND/NAME.act with a main function. The comment it begins with says what it is,
attributes say the rest:

  -size([10000, 60]).        the size it has unless its command line says another
  -quick([1000, 10]).        the size of --quick: 100 to 200 ms, or what the whole size takes if that is less
  -small([100, 10]).         the size where each event or instruction costs much: under tracers of the kernel
  and under
                             callgrind; some ten milliseconds
  -parallel(yes).            it gains from several schedulers
  -source("Savina, ...").    where it is from, and why it differs from that if it does

It prints one line, MICROSECONDS RESULT, or fails. bench/common/bench.erl does that.
"""
import dataclasses
import pathlib
import re

from . import BENCH

# Folders whose programs are measured in ways of their own.
OTHERWISE_MEASURED = {'nodes', 'latency', 'memory', 'micro'}


class HeaderError(Exception):
    """An attribute that is not of the form above; the text names file, line and form."""


@dataclasses.dataclass(frozen=True)
class Workload:
    path: pathlib.Path
    kind: str
    text: str
    size: tuple = None
    quick: tuple = None
    small: tuple = None
    parallel: bool = False
    source: str = None

    @property
    def name(self):
        return f'{self.kind}/{self.path.stem}'

    def size_named(self, name):
        """whole, quick or small. One that has no such size runs at the next larger one."""
        sizes = {
            'whole': self.size,
            'quick': self.quick or self.size,
            'small': self.small or self.quick or self.size,
        }
        return sizes[name]

    def arguments(self, name):
        """Returns the words of its command line, for a size by name."""
        size = self.size_named(name)
        return [str(number) for number in size] if size and size != self.size else []

    def row(self, name='whole'):
        size = self.size_named(name)
        return {
            'name': self.name,
            'kind': self.kind,
            'size': ' '.join(map(str, size)) if size else '',
            'text': self.text,
            'from': self.source,
            'parallel': self.parallel,
        }


def leading_comment(lines):
    comment = []
    for line in lines:
        if line.startswith('%'):
            comment.append(line.lstrip('% ').rstrip())
        elif comment or not line.startswith('#!'):
            break
    return ' '.join(comment).strip()


def integers(value):
    match = re.fullmatch(r'\[\s*(\d[\d_]*(?:\s*,\s*\d[\d_]*)*)\s*\]', value)
    return tuple(int(number.replace('_', '')) for number in match[1].split(',')) if match else None


def yes(value):
    return True if value == 'yes' else None


def words(value):
    """Texts that follow each other are one, as in Erlang."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', value)
    return ''.join(parts) if parts and not re.sub(r'"(?:[^"\\]|\\.)*"|\s', '', value) else None


ATTRIBUTES = {
    'size': (integers, '[1000, 10]'),
    'quick': (integers, '[1000, 10]'),
    'small': (integers, '[100, 10]'),
    'parallel': (yes, 'yes'),
    'source': (words, '"..."'),
}


def attributes(path, text):
    found = {}
    for match in re.finditer(r'^-(\w+)\((.*?)\)\.[ \t]*(?:%[^\n]*)?$', text, re.M | re.S):
        name, value = match[1], match[2].strip()
        if name not in ATTRIBUTES:
            continue
        read, form = ATTRIBUTES[name]
        place = f'{path}:{text.count(chr(10), 0, match.start()) + 1}'
        if name in found:
            raise HeaderError(f'{place}: a second -{name}')
        found[name] = read(value)
        if found[name] is None:
            raise HeaderError(f'{place}: -{name}({value}) is not of the form -{name}({form})')
    for name in ('quick', 'small'):
        if found.get(name) and len(found[name]) != len(found.get('size') or ()):
            raise HeaderError(f'{path}: -{name} has as many numbers as -size')
    return found


def read(path):
    text = path.read_text(encoding='utf-8')
    return Workload(path, path.parent.name, leading_comment(text.split('\n')), **attributes(path, text))


def find(bench=BENCH):
    """All workloads, sorted by name."""
    paths = [
        path
        for path in sorted(bench.glob('*/*.act'))
        if path.parent.name not in OTHERWISE_MEASURED
        and re.search(r'^main\(', path.read_text(encoding='utf-8'), re.M)
    ]
    return [read(path) for path in paths]


def chosen(workloads, names):
    """Those that the names mean: kinds, KIND/NAME, or names alone."""
    return [w for w in workloads if names & {w.kind, w.name, w.path.stem}]
