# SPDX-License-Identifier: Apache-2.0
"""Each source file says its licence in its first lines, by an SPDX identifier (https://spdx.dev/ids).
REUSE.toml speaks for files that have no room for it, and for those whose bytes or lines are counted
(programs of the tests).

    python3 test/harness/licences.py        adds the line where it is missing; ./dev format does so too"""
import pathlib
import re
import subprocess
import sys

LINE = 'SPDX-License-Identifier: Apache-2.0'
COMMENTS = {
    '.cpp': '// {}',
    '.hpp': '// {}',
    '.c': '/* {} */',
    '.h': '/* {} */',
    '.d': '/* {} */',
    '.bt': '// {}',
    '.stp': '# {}',
    '.py': '# {}',
    '.tab': '# {}',
    '.build': '# {}',
    '.erl': '%% {}',
    '.hrl': '%% {}',
}
BY_NAME = {
    'dev': '# {}',
    'debian/rules': '# {}',
    '.ci/run': '# {}',
    'bench/run': '# {}',
    'test/run': '# {}',
    'test/coverage': '# {}',
    'test/tidy': '# {}',
    'meson_options.txt': '# {}',
}
ELSEWHERE = re.compile(
    r'^test/(golden|native|live|otp|systems|d|nodes|command|files|slow|fairness|guard|fuzz|lib|assembly)/.*'
    r'\.(erl|hrl|act|d|tab)$'
    r'|^test/harness/act_main\.erl$'
    r'|^bench/.*\.(erl|hrl)$|^docs/examples/|^probes/views/.*\.d$|/instructions\.tab$'
)


def comment(name):
    """How the line is written in that file; None: it does not have it."""
    return (
        None if ELSEWHERE.search(name) else BY_NAME.get(name) or COMMENTS.get(pathlib.PurePath(name).suffix)
    )


def missing(root):
    listed = subprocess.run(
        ['git', '-C', root, 'ls-files'], capture_output=True, text=True, check=True
    ).stdout.split('\n')
    for name in listed:
        if comment(name) and (root / name).is_file() and LINE not in (root / name).read_text()[:400]:
            yield name


def add(path, line):
    text = path.read_text()
    first, rest = text.split('\n', 1) if text.startswith('#!') else ('', text)
    path.write_text((first and first + '\n') + line + '\n' + rest)


def tests(root):
    from .results import Failure, Skip, Test

    def check():
        if not (root / '.git').exists():
            raise Skip('not a checkout')
        if names := list(missing(root)):
            raise Failure(
                f'{len(names)} files do not say their licence (./dev format): {" ".join(names[:10])}'
            )

    return [Test('docs', 'each source file says its licence', check)]


if __name__ == '__main__':
    top = pathlib.Path(__file__).resolve().parent.parent.parent
    for file in list(missing(top)):
        add(top / file, comment(file).format(LINE))
        print(file, file=sys.stderr)
