#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the smallest program that it finds, made of that of a seed, which vmrun with the flags runs unlike
vmrun that interprets it: `reduce.py VMRUN SEED FLAG...`. Expressions are replaced by parts of them and by
literals, and clauses and lines are left out, as long as it still differs."""
import pathlib
import re
import sys
import tempfile

if __name__ == '__main__':
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from jit import programs, suite  # noqa: E402

AT_A_TIME = 60


def differing(vmrun, flags, texts):
    """Those of the texts, by their numbers, that are run unlike."""
    with tempfile.TemporaryDirectory(prefix='vmrun-jit-') as folder:
        sources = {
            f'k{n}': re.sub(r'^-module\(k\d+\)', f'-module(k{n})', text) for n, text in enumerate(texts)
        }
        made = suite.Programs(folder, sources)
        wanted = made.run(suite.script(vmrun, suite.INTERPRETED))
        printed = made.run(suite.script(vmrun, flags))
        return [
            int(name[1:])
            for name in made.names
            if wanted[name] != printed[name] and not suite.is_end(wanted[name])
        ]


def end_of(text, at):
    """Behind the bracket that closes what is opened there, or None."""
    pairs, depth = {'(': ')', '[': ']', '{': '}'}, 0
    for n in range(at, len(text)):
        depth += (text[n] in pairs) - (text[n] in pairs.values())
        if depth == 0:
            return n + 1
    return None


def smaller(text):
    """Shorter texts, those first that lack most. Many are no programs."""
    found = set()
    forms = re.findall(r'.*?\.\n+', text, re.S)
    for form in forms:
        found.add(text.replace(form, '', 1))
        clauses = re.split(r';\n(?=\w)', form)
        for n in range(len(clauses)):
            rest = ';\n'.join(clauses[:n] + clauses[n + 1 :])
            found.add(text.replace(form, rest if rest.endswith('.\n') else rest + '.\n', 1))
    name_and_arity = re.compile(r', f\d+/\d+')
    for match in name_and_arity.finditer(text):
        found.add(text[: match.start()] + text[match.end() :])
    lines = text.splitlines(True)
    many = len(lines)
    while many > 1:
        many //= 2
        for n in range(0, len(lines), many):
            found.add(''.join(lines[:n] + lines[n + many :]))
    for at, character in enumerate(text):
        if character not in '([{' or not (end := end_of(text, at)):
            continue
        inside = text[at + 1 : end - 1]
        parts = [
            inside[a:b] for a in range(len(inside)) if inside[a] in '([{' for b in [end_of(inside, a)] if b
        ]
        for other in ['0', 'a', '[]', inside.strip(), *parts[:6]]:
            found.add(text[:at] + other + text[end:])
    for match in re.finditer(r' when [^;]*? ->', text):
        found.add(text[: match.start()] + ' ->' + text[match.end() :])
    for match in re.finditer(r'\b(\d{2,}|[\d.]+e-?\d+)\b', text):
        found.add(text[: match.start()] + '1' + text[match.end() :])
    return sorted((other for other in found if len(other) < len(text)), key=len)


def reduced(vmrun, flags, text):
    if not differing(vmrun, flags, [text]):
        sys.exit('it does not differ')
    while True:
        for first in range(0, len(others := smaller(text)), AT_A_TIME):
            some = others[first : first + AT_A_TIME]
            if found := differing(vmrun, flags, some):
                text = min((some[n] for n in found), key=len)
                print(len(text), 'characters', file=sys.stderr)
                break
        else:
            return text


if __name__ == '__main__':
    print(reduced(sys.argv[1], sys.argv[3:], programs.program(int(sys.argv[2]))[1]))
