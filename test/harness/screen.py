# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of its own, whose screen a test reads: as much of a terminal as ncurses needs with
TERM=vt100 and TERM=xterm-256color. Sequences that are not known here are failures."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from .results import Failure

PATIENCE_S = 60
SEQUENCE = re.compile(r'\x1b(?:\[([?>]?)([0-9;]*)([@-~])|[()]([0AB])|([=>78cM]))')


class Screen:
    """The characters of a screen, whose columns are characters; and which of them are not plain."""

    def __init__(self, columns, rows):
        self.rest, self.saved, self.alternate = '', (0, 0), False
        self.resize(columns, rows)

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [[' '] * columns for _ in range(rows)]
        self.looks = [[''] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.region = 0, rows - 1  # that scrolls
        self.look = ''

    def lines(self):
        return [''.join(row).rstrip() for row in self.cells]

    def text(self):
        return '\n'.join(self.lines()).rstrip('\n')

    def look_of(self, text):
        """Returns the parameters of SGR of the first place where the text stands, or None."""
        for row, line in enumerate(self.cells):
            at = ''.join(line).find(text)
            if at >= 0:
                return self.looks[row][at]
        return None

    def feed(self, text):
        text = self.rest + text
        at = 0
        while at < len(text):
            if text[at] != '\x1b':
                self.show(text[at])
                at += 1
                continue
            found = SEQUENCE.match(text, at)
            if not found:
                if len(text) - at > 30:
                    raise Failure(f'an unknown sequence: {text[at:at + 30]!r}')
                break
            if found[3]:
                self.control(found[1], found[2], found[3])
            elif found[5]:
                self.simple(found[5])
            at = found.end()
        self.rest = text[at:]

    def simple(self, command):
        if command == '7':
            self.saved = self.row, self.column
        elif command == '8':
            self.row, self.column = self.saved
        elif command == 'M' and self.row == self.region[0]:
            self.scroll(-1)
        elif command == 'M':
            self.row -= 1

    def control(self, private, parameters, command):
        numbers = [int(n or 0) for n in parameters.split(';')]
        count = max(numbers[0], 1)
        if private:
            if private == '?' and command in 'hl' and 1049 in numbers:
                self.alternate = command == 'h'
        elif command in 'Hf':
            self.row = min(count, self.rows) - 1
            self.column = min(max(numbers[1] if len(numbers) > 1 else 1, 1), self.columns) - 1
        elif command in 'ABCD':
            self.row += {'A': -count, 'B': count}.get(command, 0)
            self.column += {'C': count, 'D': -count}.get(command, 0)
        elif command == 'G':
            self.column = count - 1
        elif command == 'd':
            self.row = count - 1
        elif command == 'J':
            self.erase(self.row, self.column if numbers[0] == 0 else 0)
            for row in range(0 if numbers[0] else self.row + 1, self.rows):
                self.erase(row, 0)
        elif command == 'K':
            if numbers[0] == 1:
                self.erase(self.row, 0, self.column + 1)
            else:
                self.erase(self.row, 0 if numbers[0] else self.column)
        elif command == 'X':
            self.erase(self.row, self.column, self.column + count)
        elif command == 'b':
            last = self.cells[self.row][self.column - 1]
            for _ in range(count):
                self.show(last)
        elif command == 'P':
            for rows, blank in (self.cells, ' '), (self.looks, ''):
                del rows[self.row][self.column : self.column + count]
                rows[self.row].extend([blank] * (self.columns - len(rows[self.row])))
        elif command == '@':
            for rows, blank in (self.cells, ' '), (self.looks, ''):
                rows[self.row][self.column : self.column] = [blank] * count
                del rows[self.row][self.columns :]
        elif command == 'r':
            self.region = count - 1, (numbers[1] if len(numbers) > 1 else self.rows) - 1
            self.row = self.column = 0
        elif command in 'ST':
            self.scroll(count if command == 'S' else -count)
        elif command in 'LM':
            self.scroll(count if command == 'M' else -count, self.row)
        elif command == 'm':
            self.look = '' if parameters in ('', '0') else (self.look + ';' + parameters).strip(';')
            self.look = self.look.rpartition('0;')[2] if parameters.startswith('0;') else self.look
        elif command not in 'hlt':
            raise Failure(f'an unknown sequence: CSI {parameters} {command}')

    def erase(self, row, first, last=None):
        for column in range(first, self.columns if last is None else min(last, self.columns)):
            self.cells[row][column], self.looks[row][column] = ' ', ''

    def show(self, character):
        if character == '\r':
            self.column = 0
        elif character == '\n':
            self.down()
        elif character == '\b':
            self.column = max(self.column - 1, 0)
        elif character >= ' ':
            if self.column >= self.columns:  # the cursor waits behind the last column
                self.column = 0
                self.down()
            self.cells[self.row][self.column] = character
            self.looks[self.row][self.column] = self.look
            self.column += 1

    def down(self):
        if self.row == self.region[1]:
            self.scroll(1)
        elif self.row + 1 < self.rows:
            self.row += 1

    def scroll(self, lines, first=None):
        """Moves the rows of the region up; from `first` on if it is given. Lines below 0 move them down."""
        first, last = self.region[0] if first is None else first, self.region[1]
        for rows, blank in (self.cells, ' '), (self.looks, ''):
            for _ in range(abs(lines)):
                del rows[first if lines > 0 else last]
                rows.insert(last if lines > 0 else first, [blank] * self.columns)


class OnTerminal:
    """A program that runs on a terminal: keys are pressed, and what the screen must show is waited for."""

    def __init__(self, command, environment, columns=80, rows=24):
        self.screen = Screen(columns, rows)
        self.program, self.fd = pty.fork()
        if self.program == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
            os.execvpe(command[0], command, environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)
        if self.program is None:
            return
        os.kill(self.program, signal.SIGKILL)
        os.waitpid(self.program, 0)

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def resize(self, columns, rows):
        self.screen.resize(columns, rows)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self, end):
        """Returns False when the program has closed the terminal."""
        if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
            raise Failure(f'nothing comes to the screen for {PATIENCE_S} s:\n{self.screen.text()}')
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:
            return False
        self.screen.feed(data.decode(errors='replace'))
        return bool(data)

    def until(self, shown):
        """Waits until the screen shows it: a pattern, or a function of the screen that is true then. Returns
        what that returns: the match."""
        test = shown if callable(shown) else lambda screen: re.search(shown, screen.text(), re.M)
        end = time.monotonic() + PATIENCE_S
        while not (found := test(self.screen)):
            if time.monotonic() > end:
                raise Failure(f'after {PATIENCE_S} s no {shown!r} on the screen:\n{self.screen.text()}')
            if not self.read(end):
                raise Failure(f'it has ended without {shown!r} on the screen:\n{self.screen.text()}')
        return found

    def end(self):
        """Reads until the program has ended. Returns its status."""
        end = time.monotonic() + PATIENCE_S
        while self.read(end):
            pass
        _, status = os.waitpid(self.program, 0)
        self.program = None
        return os.waitstatus_to_exitcode(status)
