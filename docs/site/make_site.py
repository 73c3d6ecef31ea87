#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the documents as a site, with mkdocs: python3 docs/site/make_site.py OUT. `./dev site` does so into
build-site/.

The documents stay as they are, readable in a checkout and on a forge. A copy is made whose links lead within
the site: README.md is its first page, the other documents of the root and of other folders lie beside those
of docs/, and what is no document (a source file) is a name without a link."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ELSEWHERE = {
    'README.md': 'index.md',
    'CHANGELOG.md': 'changelog.md',
    'SECURITY.md': 'security.md',
    'THIRD-PARTY.md': 'third-party.md',
    'runtime/lib/README.md': 'internals/library-source.md',
}
NOT_SHOWN = ('site', '*.[15]', '*.py')


def place(path):
    """Where a file of the checkout lies in the site's source; None: it does not."""
    if path.is_dir():
        path = path / 'README.md'
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ''
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    return (
        name[len('docs/') :]
        if name.startswith('docs/') and path.is_file() and not name.endswith(('.py', '.1', '.5'))
        else None
    )


def title(document):
    """A reader of the site knows pages by their titles, not by names of files."""
    return re.search(r'^# (.*)', document.read_text(), re.M)[1]


def within(text, source, target):
    """The text of the document `source`, which lies at `target` in the site, with links that lead within the
    site."""

    def link(found):
        shown, to = found.groups()
        if re.match(r'[a-z]+:|#', to):
            return found[0]
        name, mark, anchor = to.partition('#')
        there = place((source.parent / name).resolve())
        if there is None:
            return shown if shown.startswith('`') or '![' in found[0] else f'`{shown}`'
        if shown.endswith('.md') and there.endswith('.md'):
            shown = title(source.parent / name)
        up = '../' * target.count('/')
        return f'[{shown}]({up}{there}{mark}{anchor})'

    pieces = re.split(r'(^```.*?^```$|^(?: {4}).*?$|`[^`\n]*`(?!\]))', text, flags=re.M | re.S)
    return ''.join(
        piece if i % 2 else re.sub(r'\[([^\]]*)\]\(([^)\s]+)\)', link, piece)
        for i, piece in enumerate(pieces)
    )


def make_source(folder):
    shutil.copytree(ROOT / 'docs', folder, ignore=shutil.ignore_patterns(*NOT_SHOWN))
    for name, target in ELSEWHERE.items():
        shutil.copy(ROOT / name, folder / target)
    origin = {target: ROOT / name for name, target in ELSEWHERE.items()}
    for path in folder.rglob('*.md'):
        target = path.relative_to(folder).as_posix()
        source = origin.get(target, ROOT / 'docs' / target)
        path.write_text(within(path.read_text(), source, target))


def main(out):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'docs'
        make_source(source)
        shutil.copy(ROOT / 'docs/site/site.css', source / 'site.css')
        config = pathlib.Path(folder) / 'mkdocs.yml'
        shutil.copy(ROOT / 'docs/site/mkdocs.yml', config)
        subprocess.run(
            [
                'mkdocs',
                'build',
                '--strict',
                '--config-file',
                config,
                '--site-dir',
                pathlib.Path(out).resolve(),
            ],
            check=True,
            env={**os.environ, 'PYTHONWARNINGS': 'ignore'},
        )
    print(f'{out}/index.html')


if __name__ == '__main__':
    main(*sys.argv[1:])
