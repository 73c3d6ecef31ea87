# SPDX-License-Identifier: Apache-2.0
"""Paragraphs of documents are one line each: editors and forges wrap them, and a difference shows the
sentence that changed.

    python3 test/harness/paragraphs.py    joins the lines of paragraphs and of items; ./dev format does so too
"""
import pathlib
import re
import subprocess
import sys

MADE = ('<!-- table -->',)  # what follows is made from a table
MADE_WHOLE = ('docs/otp-suites.md',)
BEGINS = re.compile(r'\s*([-*+]|\d+[.)])\s|#|\||```|<|>|\s*$|\[[^\]]+\]: |(-{3,}|\*{3,})$')


def joined(text):
    out, fenced, in_list, open_paragraph = [], False, False, False
    for number, line in enumerate(text.split('\n')):
        if line.strip() in MADE:
            return '\n'.join(out + text.split('\n')[number:])
        # Four blanks after an empty line, or after such a line, are code, unless they belong to a list.
        before = out[-1] if out else ''
        indented = line.startswith('    ') and not in_list and (not before or before.startswith('    '))
        if line.lstrip().startswith('```'):
            fenced, open_paragraph = not fenced, False
            out.append(line)
        elif fenced or indented or not line.strip():
            open_paragraph = False
            out.append(line)
        elif BEGINS.match(line):
            out.append(line)
            open_paragraph = in_list = bool(re.match(r'\s*([-*+]|\d+[.)])\s', line))
        elif open_paragraph and not before.endswith(('  ', '\\')):
            out[-1] += ' ' + line.strip()
        else:
            out.append(line)
            open_paragraph, in_list = True, in_list and line.startswith(' ')
    return '\n'.join(out)


def documents(root):
    listed = subprocess.run(
        ['git', '-C', root, 'ls-files', '*.md'], capture_output=True, text=True
    ).stdout.split()
    names = listed or [
        str(path.relative_to(root)) for path in [*root.glob('*.md'), *(root / 'docs').rglob('*.md')]
    ]
    return [root / name for name in names if (root / name).is_file() and name not in MADE_WHOLE]


def tests(root):
    from .results import Failure, Test

    def check():
        if wrapped := [
            str(path.relative_to(root))
            for path in documents(root)
            if joined(path.read_text()) != path.read_text()
        ]:
            raise Failure(f'paragraphs of several lines (./dev format): {" ".join(wrapped)}')

    return [Test('docs', 'paragraphs of documents are one line each', check)]


if __name__ == '__main__':
    for file in documents(pathlib.Path(__file__).resolve().parent.parent.parent):
        if (text := joined(file.read_text())) != file.read_text():
            file.write_text(text)
            print(file, file=sys.stderr)
