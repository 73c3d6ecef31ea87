# SPDX-License-Identifier: Apache-2.0
"""Views that are screens, on terminals of their own: a key is pressed, and the screen shows what it does."""
import re
import subprocess

from .golden import ENVIRONMENT
from .results import Failure, Test
from .sanitizers import need_signals_at_once
from .screen import OnTerminal
from .views import running

COUNTS = {'process_count': 'processes', 'port_count': 'ports', 'atom_count': 'atoms', 'ets_count': 'tables'}


def tests(root, build, vmrun):
    vmtrace = build / 'vmtrace'

    def cases():
        yield 'keys', keys
        yield 'totals', totals
        yield 'sizes', sizes
        yield 'colours', colours
        yield 'a machine that ends', machine_ends
        yield '-b prints', prints

    return [
        Test('d', f'screen of top: {name}', lambda test=test: test(root, vmtrace, vmrun))
        for name, test in cases()
    ]


def top(vmtrace, pid, *options, columns=80, rows=24, terminal='vt100', **environment):
    return OnTerminal(
        [str(vmtrace), 'top', '-i', '200ms', '-p', str(pid), *options],
        dict(ENVIRONMENT, TERM=terminal, **environment),
        columns,
        rows,
    )


def first_row(screen):
    """The row below the headings, when there is one."""
    lines = screen.lines()
    for at, line in enumerate(lines):
        if 'PROCESS' in line:
            return lines[at + 1]
    return ''


def keys(root, vmtrace, vmrun):
    with running(vmrun, root / 'docs/examples/mailbox.act') as machine, top(vmtrace, machine.pid) as view:
        view.until(rf'^top  pid {machine.pid} .* up \d+:\d\d:\d\d')
        view.until(r'^messages [\d.]+k?/s  collections ')
        view.until(r'^ *TIME +CPU +WAITED +IN/S +OUT/S +QUEUE +MEMORY PROCESS')
        view.press('>' * 5)
        view.until(lambda screen: first_row(screen).endswith(' logger_disk'))  # by QUEUE
        view.press('r')
        view.until(lambda screen: '<0.' in first_row(screen))
        view.press('/LOGGER')
        view.until(r'^/LOGGER')
        view.press('\r')
        view.until(r'^/LOGGER: 1 of \d+ ')
        view.until(lambda screen: first_row(screen).endswith(' logger_disk') and '<0.' not in screen.text())
        view.press('\x1b')
        view.until(lambda screen: '/LOGGER' not in screen.text() and '<0.' in screen.text())
        view.press('?')
        view.until(r'^q +ends the view')
        view.press(' ')
        view.until('PROCESS')
        view.press('q')
        if view.end() != 0:
            raise Failure('status of q')
        if view.screen.alternate or not re.search(r'^top: .* in all', view.screen.text(), re.M):
            raise Failure(f'the terminal after q:\n{view.screen.text()}')


def totals(root, vmtrace, vmrun):
    """Checks the head against what the machine says of itself."""
    need_signals_at_once(vmrun)
    with subprocess.Popen(
        [str(vmrun), str(root / 'test/d/views/known_totals.act')],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as machine:
        machine.stdout.readline()
        try:
            with top(vmtrace, machine.pid, columns=120) as view:
                view.until('ticker$')
                machine.stdin.write('tell\n')
                machine.stdin.flush()
                said = dict(machine.stdout.readline().split() for _ in range(len(COUNTS) + 1))
                for item, shown in COUNTS.items():
                    view.until(rf'(^|  ){shown} {said[item]}( of |  |$)')
                view.until(rf'^memory .*  tables {int(said["memory"]) / 1024:.3g} KB  ')
                view.until(r'^schedulers \d+  use +[\d.]+%  run queue \d')
        finally:
            machine.kill()


def sizes(root, vmtrace, vmrun):
    with running(vmrun, root / 'docs/examples/mailbox.act') as machine:
        with top(vmtrace, machine.pid, '-k', 'queue', columns=40, terminal='xterm-256color') as view:
            view.until(r'^ *TIME .* QUEUE .*PROCESS')
            view.until(lambda screen: ' logger_disk' in first_row(screen))
            view.resize(100, 12)
            view.until(r'^ *TIME +CPU +WAITED +IN/S +OUT/S +QUEUE +MEMORY PROCESS')
            view.until(lambda screen: screen.lines()[11].startswith('q quit'))
            view.resize(20, 5)
            view.until(lambda screen: screen.lines()[4].startswith('q quit'))
            view.press('q')
            view.end()


def colours(root, vmtrace, vmrun):
    with running(vmrun, root / 'docs/examples/mailbox.act') as machine:
        for environment, has_colours in (
            ({}, True),
            ({'NO_COLOR': '1'}, False),
            ({'terminal': 'vt100'}, False),
        ):
            with top(vmtrace, machine.pid, **{'terminal': 'xterm-256color', **environment}) as view:
                view.until('PROCESS')
                look = view.screen.look_of('PROCESS')
                if bool(re.search(r'\b[34][0-7]\b', look)) != has_colours or not look:
                    raise Failure(f'{environment}: {look!r}')


def machine_ends(root, vmtrace, vmrun):
    with running(vmrun, root / 'docs/examples/mailbox.act') as machine, top(vmtrace, machine.pid) as view:
        view.until('logger_disk')
        machine.kill()
        if view.end() != 0:
            raise Failure('status')
        text = view.screen.text()
        if view.screen.alternate or f'pid {machine.pid} has exited' not in text or ' in all' not in text:
            raise Failure(text)


def prints(root, vmtrace, vmrun):
    with running(vmrun, root / 'docs/examples/mailbox.act') as machine:
        with top(vmtrace, machine.pid, '-b', '-d', '1s') as view:
            view.end()
            if view.screen.alternate:
                raise Failure(view.screen.text())
            if not re.search(r'^top: .* in all', view.screen.text(), re.M):
                raise Failure(view.screen.text())
