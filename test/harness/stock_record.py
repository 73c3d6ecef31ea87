# SPDX-License-Identifier: Apache-2.0
"""Records which golden scripts a stock erl has run in their present form. A stock erl does not change, so it
need not run them again each time."""
import hashlib

HEADING = (
    '# Written by ./dev test --suite erl --record: scripts that Erlang/OTP {} has run with the '
    'output they expect,\n# and digests of what it ran.'
)


class StockRecord:
    """Any thread may use it."""

    def __init__(self, file, harness, release):
        self.file, self.heading = file, HEADING.format(release)
        self.begin = hashlib.sha256((harness / 'act_main.erl').read_bytes())
        text = file.read_text() if file.exists() else ''
        lines = text.removeprefix(self.heading).splitlines() if text.startswith(self.heading) else []
        self.digests = dict(line.split() for line in lines if line)

    def digest(self, script):
        """Returns a digest of the script with its expectations, and of the other files in its folder."""
        digest = self.begin.copy()
        others = [
            file
            for file in script.path.parent.rglob('*')
            if file.is_file() and file.suffix not in ('.act', '.beam')
        ]
        for file in [script.path, *sorted(others)]:
            digest.update(file.read_bytes())
        return digest.hexdigest()[:16]

    def has(self, script):
        return self.digests.get(script.name) == self.digest(script)

    def add(self, script):
        self.digests[script.name] = self.digest(script)

    def write(self, names):
        """Writes only these scripts, because others do not exist any more."""
        lines = [f'{name} {self.digests[name]}' for name in sorted(names) if name in self.digests]
        self.file.write_text('\n'.join([self.heading, *lines, '']))
