# SPDX-License-Identifier: Apache-2.0
"""Writes what a stock erl prints for a script into its comments, each line beside the call that printed it.

For use while writing a script: read what it wrote, every line of it, before keeping it.
"""
import re

from .results import Failure

MARK = '\x01'
HELPERS = r"""
fmt__(L, F) -> fmt__mark(L), io:format(F).
fmt__(L, F, A) -> fmt__mark(L), io:format(F, A).
fmt__(_, D, F, A) -> io:format(D, F, A).
fmt__mark(L) -> io:put_chars([1, integer_to_list(L), 2]).
"""


def instrument(text):
    return re.sub(r'\bio:format\(', 'fmt__(?LINE, ', text) + HELPERS


def strip_expectations(text):
    lines = []
    for line in text.split('\n'):
        if re.match(r'\s*%+ ?expect: ?', line) or line == '%% Output, not in the order of the lines above:':
            continue
        lines.append(re.sub(r'\s*%+ ?expect:( .*)?$', '', line))
    return '\n'.join(lines)


def split_output(out):
    """Returns output lines with the source line of the call that began or continued them last."""
    result, line = [], 0
    for piece in out.split('\n'):
        marks = re.findall(MARK + r'(\d+)\x02', piece)
        if marks:
            line = int(marks[0])
        result.append((line, re.sub(MARK + r'\d+\x02', '', piece)))
        if marks:
            line = int(marks[-1])
    if result and result[-1][1] == '':
        result.pop()
    return result


def frozen(text, printed):
    lines = text.rstrip('\n').split('\n')
    if all(a[0] <= b[0] for a, b in zip(printed, printed[1:])) and all(n > 0 for n, _ in printed):
        by_line = {}
        for number, value in printed:
            by_line.setdefault(number, []).append(value)
        out = []
        for number, line in enumerate(lines, 1):
            values = by_line.get(number, [])
            indent = re.match(r'\s*', line)[0]
            if values and len(line) + len(values[0]) < 108:
                line += '  % expect: ' + values.pop(0)
            out.append(line.rstrip())
            out += [(indent + '% expect: ' + value).rstrip() for value in values]
        return '\n'.join(out) + '\n'
    block = ['', '%% Output, not in the order of the lines above:']
    return '\n'.join(lines + block + [('% expect: ' + value).rstrip() for _, value in printed]) + '\n'


def freeze(erl, script):
    """Returns a complaint or None."""
    why = erl.unable(script)
    if why:
        return f'{script.name}: not frozen: {why}'
    script.text = strip_expectations(script.text)
    folder, module, (status, out, err) = erl.compile(script, instrument)
    if status != 0:
        return f'{script.name}: erlc: {out}{err}'
    try:
        status, out, err = erl.run(script, folder, module)
    except Failure as failure:
        return f'{script.name}: {failure}'
    if status != script.status:
        return f'{script.name}: status {status}: {out}{err}'
    script.path.write_text(frozen(script.text, split_output(out)), encoding='utf-8', errors='surrogateescape')
    return None
