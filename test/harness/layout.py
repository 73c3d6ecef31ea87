# SPDX-License-Identifier: Apache-2.0
"""Checks the layout of the code: the rules of clang-format, black and pyflakes, and widths."""
import pathlib
import re
import shutil
import subprocess
from collections import defaultdict

from .results import Failure, Skip, Test
from .script import DIRECTIVE

CODE_COLUMNS, COMMENT_COLUMNS = 110, 100
# Words that this project once had of its own, each with the field's word in docs/glossary.md, and turns of
# phrase that a reader has to take apart. vm/hot and its note speak the old language until they are replaced.
DIALECT = {
    # a comment begins with a subject
    'beginning': r'(Of|The same|For who(ever)?|By who(ever)?)\b',
    # in comments and documents
    'prose': r'\b(that|it|what|which) is none\b(?! (of|the))|\bno rare\b|\b([Ff]or|[Bb]y) who(ever)?\b'
    r'|\b(standstill|tidying|middle form|shaped arguments?|far target|far nodes?)\b'
    r'|\bway to (the side|a node)\b|\blet down\b|\b(held back|lifted) (messages?|process(es)?)\b',
    # identifiers of C and C++
    'identifier': r'\b\w*(_told|told_|_watched|watched_|_announced|announced_)\w*\b|\bTold[A-Z]\w*'
    r'|\b(\w*Elsewhere|BeginAgain|GiveUp|own_lines|look_in_turn|at_work|[Rr]obbed\w*|\w*[Ss]tandstill\w*)\b',
}
OLD_LANGUAGE = ('vm/hot/', 'docs/internals/hot-code.md', 'test/unit/hot/', 'test/golden/', 'CHANGELOG.md')
OTHER_CODE = ('*.erl', '*.hrl', '*.act', '*.escript', '*.tab', '*meson.build', 'meson_options.txt')
# Lines that are wide on purpose: their columns, their numbers or their bytes are what is tested.
WIDE = (
    'test/golden/bits/tails_asked_for_sizes.act',
    'test/golden/comprehensions/waiting_line.act',
    'test/golden/errors/did_you_mean.act',
    'test/golden/errors/not_utf8.act',
    'test/golden/errors/wide_characters.act',
    'test/golden/expressions/latin1_source.act',
    'test/golden/preprocessor/assertions.act',
)

LAID_OUT_BY = {'clang-format': 14, 'black': 23}


def tests(root):
    return [
        Test('docs', 'C and C++ are laid out as .clang-format says', lambda: formatted(root)),
        Test('docs', 'Python is laid out as pyproject.toml says', lambda: python_formatted(root)),
        Test('docs', 'Python names what is there, and imports what it names', lambda: python_names(root)),
        Test('docs', 'code keeps within 110 columns, comments within 100', lambda: columns(root)),
        Test('docs', 'words of the old dialect stay away', lambda: dialect(root)),
        Test('docs', 'no two headers share a name', lambda: header_names(root)),
        Test('docs', 'flags of distribution are those of an installed OTP', lambda: distribution_flags(root)),
    ]


def tracked(root, *patterns):
    """Returns files of the checkout or, in a copy without git, of the folders."""
    listed = subprocess.run(['git', '-C', root, 'ls-files', *patterns], capture_output=True, text=True)
    names = listed.stdout.split() or [
        p
        for f in ('vm', 'runtime', 'drivers', 'probes', 'bench', 'docs', 'test')
        for p in (root / f).rglob('*')
        if any(p.match(pattern) for pattern in patterns)
    ]
    return [root / name for name in names if (root / name).is_file()]


def sources(root):
    return tracked(root, '*.cpp', '*.hpp', '*.c', '*.h')


def python_sources(root):
    """Returns Python files. Those without a suffix are known by their first line."""
    bare = [p for p in tracked(root, '*') if not p.suffix and p.read_bytes()[:40].startswith(b'#!')]
    return tracked(root, '*.py') + [p for p in bare if b'python3' in p.read_bytes().split(b'\n', 1)[0]]


def dialect(root):
    """Checks comments, documents and identifiers for the words of DIALECT."""
    wrong = []
    for path in tracked(root, '*.cpp', '*.hpp', '*.c', '*.h', '*.py', '*.tab', '*.md', '*meson.build'):
        name = str(path.relative_to(root))
        if name.startswith(OLD_LANGUAGE) or path == pathlib.Path(__file__):
            continue
        is_c, is_document = path.suffix in ('.cpp', '.hpp', '.c', '.h'), path.suffix == '.md'
        was_comment = False
        for number, line in enumerate(path.read_text(encoding='utf-8').split('\n'), 1):
            code, mark, comment = line.partition('//' if is_c else '#') if not is_document else ('', '', line)
            comment = comment.lstrip('/!#<*- ')
            begins = bool(mark) and not (was_comment and not code.strip())
            if path.suffix == '.py' and code.lstrip().startswith('"""'):
                begins, comment = True, code.strip().strip('"')
            found = re.search(DIALECT['prose'], comment) or begins and re.match(DIALECT['beginning'], comment)
            if not found and is_c:
                found = re.search(DIALECT['identifier'], re.sub(r'"(\\.|[^"\\])*"', '', code))
            if found:
                wrong.append(f'{name}:{number}: {found[0]}')
            was_comment = bool(mark) and not code.strip()
    if wrong:
        raise Failure(f'{len(wrong)} words that docs/glossary.md has others for: ' + '; '.join(wrong[:40]))


def header_names(root):
    """A header's name says what is inside without its folder: in an editor's tab, in a compiler's message."""
    by_name = defaultdict(list)
    for path in tracked(root, '*.hpp', '*.h'):
        name = str(path.relative_to(root))
        if name.startswith(('vm/', 'runtime/', 'drivers/', 'probes/')):
            by_name[path.name].append(name)
    twice = [' '.join(names) for names in by_name.values() if len(names) > 1]
    if twice:
        raise Failure('headers of one name; say which is which: ' + '; '.join(twice))


def distribution_flags(root):
    """Compares the machine's table with the one that an installed OTP's modules include."""
    table = re.findall(
        r'X\(k\w+, "(\w+)", (\d+), (ours_since)?', (root / 'vm/dist/wire/distribution_flags.hpp').read_text()
    )
    installed = sorted(pathlib.Path('/usr/lib/erlang/lib').glob('kernel-*/include/dist.hrl'))
    if not installed:
        raise Skip("no kernel of OTP's in /usr/lib/erlang")
    header = installed[-1].read_text()
    values = {
        name: eval(value.replace('16#', '0x').replace('bsl', '<<'))
        for name, value in re.findall(r'define\(DFLAG_(\w+), *(16#\w+|\(.+?\))\)\.', header)
    }
    unlike = [
        name
        for name, bit, is_newer in table
        if values.get(name, 1 << int(bit) if is_newer else None) != 1 << int(bit)
    ]
    if unlike:
        raise Failure(f'distribution_flags.hpp and {installed[-1]} differ: {unlike}')


def need_formatter(name):
    """Other versions lay the same text out in another way, and Debian 12's are those that are followed."""
    if not shutil.which(name):
        raise Skip(f'{name} is not installed')
    said = subprocess.run([name, '--version'], capture_output=True, text=True).stdout
    version = int(re.search(r'\d+', said)[0])
    if version != LAID_OUT_BY[name]:
        raise Skip(f'code is laid out by {name} {LAID_OUT_BY[name]}, and here is {version}')


def formatted(root):
    need_formatter('clang-format')
    told = subprocess.run(
        ['clang-format', '--dry-run', '-Werror', *sources(root)], capture_output=True, text=True, cwd=root
    )
    places = sorted(set(re.findall(r'^(\S+?:\d+):\d+: error', told.stderr, re.M)))
    if places:
        raise Failure(f'./dev format would change {len(places)} places: ' + ' '.join(places[:10]))


def python_formatted(root):
    need_formatter('black')
    told = subprocess.run(
        ['black', '--check', *python_sources(root)], capture_output=True, text=True, cwd=root
    )
    names = re.findall(r'^would reformat (\S+)', told.stderr, re.M)
    if told.returncode:
        raise Failure(f'./dev format would change {" ".join(names[:10]) or told.stderr}')


def python_names(root):
    """pyflakes finds names that are not defined, which a run finds only where it comes to them."""
    if not shutil.which('pyflakes3'):
        raise Skip('pyflakes3 is not installed')
    told = subprocess.run(['pyflakes3', *python_sources(root)], capture_output=True, text=True, cwd=root)
    if told.returncode:
        raise Failure(told.stdout + told.stderr)


def width(path, line):
    """Returns how far a line goes, without the output of a golden script: that is as long as it is."""
    if path.suffix in ('.act', '.escript'):
        line = DIRECTIVE.sub('', line).rstrip()
    return len(line)


def columns(root):
    """Code within 110 columns, comments of C++ within 100."""
    gone = [name for name in WIDE if not (root / name).is_file()]
    if gone:
        raise Failure(f'WIDE names files that are not there: {gone}')
    wide = []
    for path in sources(root) + python_sources(root) + tracked(root, *OTHER_CODE):
        name = str(path.relative_to(root))
        if name in WIDE:
            continue
        cpp = path.suffix in ('.cpp', '.hpp', '.c', '.h')
        for number, line in enumerate(path.read_text().split('\n'), 1):
            limit = COMMENT_COLUMNS if cpp and re.match(r'\s*(//|/\*)', line) else CODE_COLUMNS
            if width(path, line) > limit:
                wide.append(f'{name}:{number}')
    if wide:
        raise Failure(f'{len(wide)} lines are too wide: ' + ' '.join(wide[:10]))
