# SPDX-License-Identifier: Apache-2.0
"""A journal of what has been measured, one line of JSON each, so that a run that was broken off can go on.

The first line says what is measured: machines, commit, options. Each other line is one result under its key.
A run that resumes takes results it finds in the journal, and measures only the others; a journal of something
else is refused. The last line may be cut short, where the machine went down while it was written: it does not
count.
"""
import json
import time


class OtherJournal(Exception):
    """The journal is not of what is to be measured; the text says in what they differ."""


class Journal:
    def __init__(self, path, header, resume=False):
        self.path, self.results, self.found = path, {}, 0
        lines = read_lines(path) if resume and path.exists() else []
        if lines:
            self.check(lines[0], header)
            self.results = {key_text(line['key']): line['value'] for line in lines[1:]}
            self.found = len(self.results)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
        # Written anew, so that a line cut short is gone and what follows begins a line.
        self.file = path.open('w', encoding='utf-8')
        self.write({'measured': header})
        for line in lines[1:]:
            self.write(line)

    def check(self, first, header):
        before = first.get('measured', {})
        differing = [
            name for name in sorted(before.keys() | header.keys()) if before.get(name) != header.get(name)
        ]
        if differing:
            shown = ', '.join(
                f'{name}: {before.get(name)!r} then, {header.get(name)!r} now' for name in differing
            )
            raise OtherJournal(
                f'{self.path} is of another run and cannot be resumed ({shown}); without --resume a new one '
                'begins'
            )

    def write(self, line):
        self.file.write(json.dumps(line) + '\n')
        self.file.flush()

    def __contains__(self, key):
        return key_text(key) in self.results

    def once(self, key, measure):
        """What has been measured under this key, now or before the run was broken off."""
        text = key_text(key)
        if text in self.results:
            return self.results[text]
        start = time.monotonic()
        value = measure()
        self.results[text] = value
        self.write({'key': list(key), 'value': value, 'seconds': round(time.monotonic() - start, 3)})
        return value


def key_text(key):
    return json.dumps(list(key))


def read_lines(path):
    """Whole lines only."""
    lines = []
    for text in path.read_text(encoding='utf-8').split('\n'):
        try:
            lines.append(json.loads(text))
        except ValueError:
            break
    return lines
