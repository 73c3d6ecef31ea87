# SPDX-License-Identifier: Apache-2.0
"""Checks which folder includes which, and which calls upward: what arrows.tab allows, no more and no less."""
import re
from collections import defaultdict

from .results import Failure, Test

ROOTS = ('probes', 'vm', 'drivers', 'runtime')
SUFFIXES = ('.cpp', '.hpp', '.c', '.h', '.inc')
UPWARD = '<-'
# Where interfaces are filled in, and the folders that each of these files connects.
CONNECTED_IN = {'vm/machine.cpp': ('vm/',), 'runtime/connect.cpp': ('runtime/', 'probes/')}
# Folders with an interface that do not lie in vm, and where they lie.
INTERFACES_ELSEWHERE = {'bif': 'runtime', 'attach': 'probes'}


def tests(root):
    return [
        Test('docs', 'folders include each other as arrows.tab says', lambda: arrows(root)),
        Test('docs', 'the arrows go round in no circle', lambda: one_way(allowed(root))),
        Test(
            'docs',
            'upward calls are those of arrows.tab, and connected in one place',
            lambda: upward_calls(root),
        ),
        Test(
            'docs',
            'the table of upward calls in the map is that of arrows.tab',
            lambda: upward_calls_in_map(root),
        ),
    ]


def arrows(root):
    found, table = included(root), allowed(root)
    missing = [f'{folder} has no line' for folder in found if folder not in table]
    against = [
        f'{where} includes {name}'
        for folder, targets in found.items()
        for target, (where, name) in targets.items()
        if folder in table and target not in table[folder]
    ]
    unused = [
        f'{folder} includes nothing of {target}'
        for folder, targets in table.items()
        for target in targets
        if target not in found.get(folder, {})
    ]
    if missing or against or unused:
        raise Failure('test/harness/arrows.tab: ' + '; '.join(missing + against + unused))


def one_way(table):
    """Every line names folders of earlier lines only."""
    seen = set()
    for folder, targets in table.items():
        later = sorted(targets - seen)
        if later:
            raise Failure(
                f'test/harness/arrows.tab: {folder} stands before what it includes: ' + ' '.join(later)
            )
        seen.add(folder)


def lines_of_table(root):
    text = re.sub(r'\\\n *', '', (root / 'test/harness/arrows.tab').read_text())
    lines = (line.split('#')[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def allowed(root):
    table = {}
    for line in lines_of_table(root):
        if UPWARD not in line:
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
            if (
                target != folder
                and name.startswith(ROOTS)
                and (target.endswith('probes') or (root / name).exists())
            ):
                found[folder].setdefault(target, (where, name))
    return found


# ---- Upward calls ----


def upward_calls(root):
    """Members of interfaces are those of the second list, each filled in once, by a higher folder, where all
    of them are."""
    declared, filled, listed = interfaces(root), connected(root), upward_list(root)
    order = list(allowed(root))
    problems = [
        f'{name} of {folder} is filled in nowhere'
        for folder, names in declared.items()
        for name in names
        if not any(name in members for (lower, _), members in filled.items() if lower == folder)
    ]
    problems += [
        f'{lower} does not lie below {higher}'
        for lower, higher in filled
        if order.index(lower) >= order.index(higher)
    ]
    problems += [
        f'{lower} {UPWARD} {higher}: {" ".join(sorted(filled.get(key, set()) ^ listed.get(key, set())))}'
        for key in sorted(filled.keys() | listed.keys())
        if filled.get(key) != listed.get(key)
        for lower, higher in [key]
    ]
    problems += [f'{path} fills {name} in' for path, name in filled_in_elsewhere(root)]
    if problems:
        raise Failure('test/harness/arrows.tab: ' + '; '.join(problems))


def upward_calls_in_map(root):
    """A row for each interface: its header, and who fills it in."""
    rows = re.findall(
        r'^\| `([\w/]+)/\w+\.hpp` \| ([^|]*) \|', (root / 'docs/internals/README.md').read_text(), re.M
    )
    told = {(folder, other) for folder, others in rows for other in re.findall(r'`([^`]+)`', others)}
    listed = set(upward_list(root))
    if told != listed:
        raise Failure(
            'docs/internals/README.md, table of upward calls: '
            + ', '.join(f'{lower} {UPWARD} {higher}' for lower, higher in sorted(told ^ listed))
        )


def upward_list(root):
    """{(lower folder, higher folder): names}"""
    found = {}
    for line in lines_of_table(root):
        if UPWARD in line:
            folders, _, names = line.partition(':')
            found[tuple(folder.strip() for folder in folders.split(UPWARD))] = set(names.split())
    return found


def interfaces(root):
    """For each folder with an interface the names of its members."""
    found = {}
    for path in sorted(p for top in ROOTS for p in (root / top).rglob('*_upcalls.hpp')):
        text = re.sub(r'//.*', '', path.read_text())
        found[str(path.parent.relative_to(root))] = set(
            re.findall(r'>\s+(\w+);', text.partition('Upcalls {')[2])
        )
    return found


def connected(root):
    """{(lower folder, higher folder): names}, as the functions connect_HIGHER() have it."""
    folders, found = allowed(root), defaultdict(set)
    for file, tops in CONNECTED_IN.items():
        for higher, body in re.findall(
            r'^void connect_(\w+)\(\) \{(.*?\}?)\n\n', (root / file).read_text(), re.M | re.S
        ):
            supplier = [f for f in folders if f.startswith(tops) and f.endswith('/' + higher)]
            for lower, name in re.findall(r'(\w+)_upcalls\.(\w+) =', body):
                found[f'{INTERFACES_ELSEWHERE.get(lower, "vm")}/{lower}', supplier[0]].add(name)
            for name in re.findall(r'receivers\.(\w+) =', body):
                found['vm/message', supplier[0]].add(f'receivers.{name}')
            for name in re.findall(r'probe::(\w+) =', body):
                found['probes', supplier[0]].add(name)
    return dict(found)


def filled_in_elsewhere(root):
    return [
        (path.relative_to(root), name)
        for top in ROOTS
        for path in sorted((root / top).rglob('*.cpp'))
        if str(path.relative_to(root)) not in CONNECTED_IN
        for name in re.findall(
            r'(\w+_upcalls\.\w+|receivers\.\w+|probe::(?:fire_inside|counts_of_thread)) = ', path.read_text()
        )
    ]
