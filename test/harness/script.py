# SPDX-License-Identifier: Apache-2.0
"""A golden script: an .act file and what its comments expect of it.

  % expect: TEXT            a line of standard output; all of them, in order, are the whole output
  % expect-err: TEXT        part of a line of standard error; in order
  % status: N               exit status (default 0)
  % args: A B ...           arguments, split as a shell would
  % flags: +F V ...         flags of vmrun; {folder} is the script's own. Stock erl runs without them
  % stdin: TEXT             a line of standard input
  % requires: otp26         the language of that release: stock erl runs the script only if it is at least
  that new
  % requires: until26       what it expects of the installed OTP's modules holds up to that release
  % requires: probes        skipped in a build without (-Dprobes=none)
  % requires: allocator     skipped in a build with a sanitizer, which keeps what is freed
  % requires: machine_code  skipped where there is none: on other processors
  % erl: skip WHY           stock erl cannot run it, or rightly prints something else
  % erl: until26 WHY        the same of a stock erl of later releases
  % modes: skip MODE WHY    not under that mode
  % timeout: SECONDS        instead of the default

Text ends at the end of the line; blanks at its end do not count.
"""
import re
import shlex

DIRECTIVE = re.compile(
    r'%+ ?(expect-err|expect|status|args|flags|stdin|requires|erl|modes|timeout):(?: (.*))?$'
)


class Expectations:
    """What files of every language say in the same words: how they are run, and what the result must be."""

    def __init__(self):
        self.output, self.errors, self.status = [], [], 0
        self.arguments, self.flags, self.stdin = [], [], ''

    def directive(self, number, word, value):
        if word == 'expect':
            self.output.append((number, value))
        elif word == 'expect-err':
            self.errors.append((number, value))
        elif word == 'status':
            self.status = int(value)
        elif word == 'args':
            self.arguments = shlex.split(value)
        elif word == 'flags':
            self.flags = shlex.split(value)
        elif word == 'stdin':
            self.stdin += value + '\n'

    def differences(self, status, out, err):
        """Returns text that says how a run differs from what is expected; empty if it does not."""
        text = []
        got = [line.rstrip() for line in out.split('\n')]
        if got and got[-1] == '':
            got.pop()
        want = self.output
        for i in range(max(len(got), len(want))):
            if i < len(got) and i < len(want) and got[i] == want[i][1]:
                continue
            if i < len(want):
                text.append(f'{self.path}:{want[i][0]}: expected  {want[i][1]}')
            text.append(f'    output line {i + 1}: got  {got[i]}' if i < len(got) else '    output ended')
            if len(text) > 12:
                text.append('    ...')
                break
        lines, at = err.split('\n'), 0
        for number, value in self.errors:
            while at < len(lines) and value not in lines[at]:
                at += 1
            if at == len(lines):
                text.append(f'{self.path}:{number}: not in standard error: {value}')
                break
        if status != self.status:
            text.append(f'exit status {status}, expected {self.status}')
        if text and err.strip():
            text.append('standard error:')
            text += ['  ' + line for line in err.strip().split('\n')[:25]]
        return '\n'.join(text)

    def first_difference(self, out):
        """Returns the first line that is not as expected, for a run that its time limit ended; empty if all
        are."""
        got = [line.rstrip() for line in out.split('\n')[:-1]]
        for line, (number, value) in zip(got, self.output):
            if line != value:
                return f'{self.path}:{number}: expected  {value}\n    got  {line}'
        return ''


class Script(Expectations):
    def __init__(self, path, root):
        self.path = path
        self.name = str(path.relative_to(root).with_suffix(''))
        self.text = path.read_text(encoding='utf-8', errors='surrogateescape')
        super().__init__()
        self.requires, self.erl_skip, self.mode_skips, self.timeout = [], None, {}, 60
        self.erl_until = None  # (last release of a stock erl that agrees, why)
        for number, line in enumerate(self.text.split('\n'), 1):
            match = DIRECTIVE.search(line)
            if match:
                self.directive(number, match[1], (match[2] or '').rstrip())

    def directive(self, number, word, value):
        if word == 'flags':
            value = value.replace('{folder}', str(self.path.parent))
        super().directive(number, word, value)
        if word == 'requires':
            self.requires += value.split()
        elif word == 'timeout':
            self.timeout = int(value)
        elif word == 'erl':
            if until := re.match(r'until(\d+) (.+)', value):
                self.erl_until = int(until[1]), until[2]
            else:
                self.erl_skip = self.reason(number, value, 'skip ')
        elif word == 'modes':
            mode, _, why = self.reason(number, value, 'skip ').partition(' ')
            self.mode_skips[mode] = why

    def reason(self, number, value, prefix):
        if not value.startswith(prefix):
            raise ValueError(f'{self.path}:{number}: expected "{prefix}..."')
        return value[len(prefix) :]


def load_all(folders):
    """Returns scripts of all folders, sorted by name. folders: (path, root of the names)."""
    scripts = []
    for folder, root in folders:
        scripts += [Script(path, root) for path in sorted(folder.rglob('*.act'))]
    return scripts
