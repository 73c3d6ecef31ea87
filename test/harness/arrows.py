"""Checks which folder includes which: what arrows.tab allows, no more and no less."""
import re
from collections import defaultdict

from .results import Failure, Test

ROOTS = ('probes', 'vm', 'drivers', 'runtime')
SUFFIXES = ('.cpp', '.hpp', '.c', '.h', '.inc')


def tests(root):
    return [Test('docs', 'folders include each other as arrows.tab says', lambda: arrows(root)),
            Test('docs', 'the arrows go round in no circle', lambda: one_way(allowed(root)))]


def arrows(root):
    found, table = included(root), allowed(root)
    missing = [f'{folder} has no line' for folder in found if folder not in table]
    against = [f'{where} includes {name}' for folder, targets in found.items() for target, (where, name) in targets.items()
               if folder in table and target not in table[folder]]
    unused = [f'{folder} includes nothing of {target}' for folder, targets in table.items() for target in targets
              if target not in found.get(folder, {})]
    if missing or against or unused:
        raise Failure('test/harness/arrows.tab: ' + '; '.join(missing + against + unused))


def one_way(table):
    """Every line names folders of earlier lines only."""
    seen = set()
    for folder, targets in table.items():
        later = sorted(targets - seen)
        if later:
            raise Failure(f'test/harness/arrows.tab: {folder} stands before what it includes: ' + ' '.join(later))
        seen.add(folder)


def allowed(root):
    table = {}
    for line in (root / 'test/harness/arrows.tab').read_text().splitlines():
        line = line.split('#')[0].strip()
        if line:
            folder, _, targets = line.partition(':')
            if folder.strip() in table:
                raise Failure(f'test/harness/arrows.tab: {folder.strip()} has two lines')
            table[folder.strip()] = set(targets.split())
    return table


def included(root):
    """Returns for each folder the folders it includes, each with a place where it does."""
    found = defaultdict(dict)
    for path in sorted(p for top in ROOTS for p in (root / top).rglob('*') if p.suffix in SUFFIXES):
        where = path.relative_to(root)
        folder = str(where.parent)
        found[folder]
        for name in re.findall(r'#\s*include\s+["<]([^"<>]+/[^"<>]+)[">]', path.read_text()):
            target = name.rpartition('/')[0]
            # Generated files count as part of the folder that includes them, except for the probes' headers.
            if target != folder and name.startswith(ROOTS) and (target.endswith('probes') or (root / name).exists()):
                found[folder].setdefault(target, (where, name))
    return found
