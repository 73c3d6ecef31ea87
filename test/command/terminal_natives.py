# SPDX-License-Identifier: Apache-2.0
"""The native functions of OTP's prim_tty (of OTP 27 and of OTP 29), called by a module of that name: on a
terminal, on pipes, and what is left of a terminal's modes when a program ends."""
import fcntl
import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import termios

from harness.golden import ENVIRONMENT
from harness.results import Failure, Skip, Test

from .suite import PATIENCE_S
from .terminal import Session

HERE = pathlib.Path(__file__).resolve().parent / 'natives'


def command(vmrun, *arguments):
    return [os.path.abspath(vmrun), '-pa', str(HERE), str(HERE / 'terminal_natives.act'), *arguments]


def environment(**more):
    return dict(ENVIRONMENT, TERM='xterm', LC_ALL='C.UTF-8', **more)


def output(vmrun, *arguments):
    done = subprocess.run(
        command(vmrun, *arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environment(),
    )
    if done.returncode or done.stderr:
        raise Failure(f'status {done.returncode}, {done.stderr!r}, after {done.stdout!r}')
    if done.stdout == 'no library\n':
        raise Skip('built without libtinfo')
    return done.stdout.splitlines()


def expect(seen, wanted):
    if seen != wanted:
        raise Failure(f'{seen!r}, expected {wanted!r}')


def characters(vmrun):
    expect(
        output(vmrun, 'characters'),
        [
            'true utf8',
            '[true,false,false,false]',
            '[1,2,0,{error,not_printable}]',
            '4 {ok,5}',
            '[false,false,false]',
            '{error,enotsup}',
            '[true,true,true,true,true,true,true,true,true]',
        ],
    )


def capabilities(vmrun):
    expect(
        output(vmrun, 'capabilities'),
        [
            '{80,-1}',
            '{true,false}',
            '<<"\\e[A">> false',
            '{ok,<<"\\e[3;5H">>}',
            '{80,true}',
            '{ok,<<"\\e[7D">>}',
            'true',
            'true',
            '[true,true,true]',
        ],
    )


class Modes(Session):
    """A session whose modes can be asked for at any time: the pair of descriptors has one set of them."""

    def now(self):
        return termios.tcgetattr(self.fd)


def is_raw(modes):
    return not modes[3] & (termios.ICANON | termios.ECHO) and not modes[1] & termios.OPOST


def modes_restored(vmrun):
    """Whether the process that set them ends, or the machine, by itself or by a crash."""
    shell = 'exec 3<&0; {}; printf "status %d\\n" $?; read line'
    for how, end in (
        (['modes', 'owner'], None),
        (['modes', 'halt'], None),
        (['modes', 'waits'], signal.SIGTERM),
        (['modes', 'waits'], signal.SIGSEGV),
        (['modes', 'waits'], signal.SIGABRT),
        (['modes of OTP 29'], None),
    ):
        with tempfile.TemporaryDirectory(prefix='vmrun-terminal-') as folder:
            line = ' '.join(f"'{word}'" for word in command(vmrun, *how))
            if end is not None:
                # The machine is the first child; it is raw when it says so.
                line = f'{line} <&3 & wait $!'
            with Modes(
                ['bash', '-c', shell.format(line)], folder, environment(ERL_CRASH_DUMP='/dev/null')
            ) as session:
                before = session.now()
                if end is not None:
                    session.until('raw|no library')
                    if 'no library' in session.screen.text():
                        raise Skip('built without libtinfo')
                    if not is_raw(session.now()):
                        raise Failure(f'{how}: the terminal is not raw')
                    os.kill(child_of(session.program), end)
                session.until(r'status \d+')
                if session.now() != before:
                    raise Failure(f'{how}, signal {end}: the modes are {session.now()}, were {before}')


def child_of(process):
    return int(pathlib.Path(f'/proc/{process}/task/{process}/children').read_text().split()[0])


def resize(descriptor, columns, rows):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))


def input_and_signals(vmrun):
    with tempfile.TemporaryDirectory(prefix='vmrun-terminal-') as folder:
        with Session(command(vmrun, 'input'), folder, environment()) as session:
            session.until('ready')
            session.press('one\n')
            session.until('<<"one\\\\n">>')
            resize(session.fd, 50, 10)
            session.until(r'winch \{ok,\{50,10\}\}')
            os.kill(session.program, signal.SIGCONT)
            session.until(r'cont \{ok,\{50,10\}\}')
            session.press('two\n')
            session.until('<<"two\\\\n">>')
            session.press('\x04')
            session.until('closed')
            expect(session.until(None), 0)
        with Session(command(vmrun, 'input of OTP 29'), folder, environment()) as session:
            session.until('ready')
            session.press('seven..\n')
            session.until('<<"sev">>\n<<"en.">>\n<<".\\\\n">>')
            session.press('\x04')
            session.until('closed')
            expect(session.until(None), 0)


def other_inputs(vmrun):
    """Files and /dev/null, which epoll does not watch."""
    with tempfile.TemporaryDirectory(prefix='vmrun-terminal-') as folder:
        file = pathlib.Path(folder) / 'file'
        for text, lines in (('', []), ('abcd', ['<<"abc">>', '<<"d">>'])):
            file.write_text(text)
            for source in [file] if text else [file, '/dev/null']:
                with open(source) as descriptor:
                    done = subprocess.run(
                        command(vmrun, 'input of OTP 29'),
                        stdin=descriptor,
                        capture_output=True,
                        text=True,
                        timeout=PATIENCE_S,
                        env=environment(),
                    )
                expect(done.stdout.splitlines(), ['ready', *lines, 'closed'])


def slow_output(vmrun, blocks):
    """A pipe that nobody reads from holds up the writer only. It need not be one that blocks."""
    size = 4 << 20
    reading, writing = os.pipe()
    os.set_blocking(writing, blocks)
    with subprocess.Popen(
        command(vmrun, 'output', str(size)),
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as program:
        os.close(writing)
        first = program.stderr.readline()  # it has computed while the pipe was full
        with open(reading, 'rb') as pipe:
            written = pipe.read()
        rest = program.stderr.read()
    expect((first, rest, program.returncode), (b'5000050000\n', b'ok\n', 0))
    expect(written == b'0123456789abcdef' * (size // 16), True)


def tests(vmrun):
    cases = [
        ('characters', characters),
        ('what the terminal can do', capabilities),
        ('modes are restored', modes_restored),
        ('input and signals', input_and_signals),
        ('input that is no terminal', other_inputs),
        ('output that is slow', lambda v: slow_output(v, True)),
        ('output that does not block', lambda v: slow_output(v, False)),
    ]
    return [Test('command', f"prim_tty's natives: {name}", lambda run=run: run(vmrun)) for name, run in cases]
