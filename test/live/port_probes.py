# SPDX-License-Identifier: Apache-2.0
"""The probes of ports and drivers: traces G7 and G13, and every probe of both families with its arguments."""
import pathlib
import tempfile

from harness import native
from harness.results import Test

from . import session
from .attach import expect

HERE = pathlib.Path(__file__).resolve().parent


def tests(root, vmrun, table):
    suite = Suite(root, vmrun, table)
    return [
        Test('live', name, run, in_turn=True)
        for name, run in (
            ('G7 port cat', suite.g7),
            ('G13 busy port', suite.g13),
            ('port and driver, every probe', suite.every),
            ('script port.bt', lambda: suite.script('port', 'all')),
            ('script driver.bt', lambda: suite.script('driver', 'all')),
            (
                'script process.bt, busy ports',
                lambda: suite.script('process', 'busy', ['process__port_unblocked']),
            ),
        )
    ]


def shown(event):
    return ' '.join([event.probe.replace('__', '-'), *event.arguments])


def same(got, wanted):
    expect(
        [shown(e) for e in got] == wanted,
        'another trace',
        'expected:',
        *['  ' + w for w in wanted],
        'got:',
        *['  ' + shown(e) for e in got],
    )


class Suite:
    def __init__(self, root, vmrun, table):
        self.root, self.vmrun, self.table = root, vmrun, table

    def run(self, text, argument):
        session.require_tracer()
        with tempfile.TemporaryDirectory(prefix='vmrun-live-') as folder:
            libraries = native.Libraries(self.root, folder, pathlib.Path(self.vmrun).parent).get('own')
            return session.trace(
                self.vmrun,
                HERE / 'ports.act',
                text,
                arguments=[argument],
                environment={'NATIVE_DIR': str(libraries)},
            )

    def traced(self, families, argument):
        names = [p.name for p in self.table.probes if p.family in families]
        known, lines = self.run(session.program(self.table, names), argument)
        return known, session.events(lines)

    def script(self, name, argument, probes=None):
        """Checks that a shipped script prints each of its probes."""
        _, lines = self.run(self.root / 'scripts/bpftrace' / f'{name}.bt', argument)
        for probe in probes or [p.name for p in self.table.probes if p.family == name]:
            expect(
                any(line.startswith(probe.replace('__', '-') + ' ') for line in lines),
                f'{probe} does not show',
                *lines[-40:],
            )

    @staticmethod
    def of_port(found, port, owner):
        """Returns events from the start of the port to its end: those that name it, and messages of the owner
        in between."""
        mine = [i for i, e in enumerate(found) if port in e.arguments]
        return [
            e
            for e in found[mine[0] : mine[-1] + 1]
            if port in e.arguments or (e.probe.startswith('message') and e.arguments[0] == owner)
        ]

    def g7(self):
        known, found = self.traced(['port', 'driver', 'message'], 'cat')
        a = known['main']

        def life(p, command, reason, end):
            started = [f'driver-start {a} spawn {p}', f'port-open {a} cat {p}']
            echoed = [
                f'port-command {a} {p} cat command',
                f'driver-{command} {a} {p} cat 3',
                f'driver-ready_input {a} {p} cat',
                f'message-queued {a} 12 1 0 0 0',
                f'message-receive {a} 12 0 0 0 0',
            ]
            return (
                started
                + (echoed if command else [])
                + [f'port-exit {a} {p} cat {reason}', f'driver-stop {a} spawn {p}']
                + end
            )

        outputs = {e.probe for e in found if e.probe in ('driver__output', 'driver__outputv')}
        expect(len(outputs) == 1, 'output and outputv of one driver', outputs)
        command = outputs.pop().removeprefix('driver__')
        same(self.of_port(found, known['closed'], a), life(known['closed'], command, 'normal', []))
        closing = [f'port-command {a} {known["message"]} cat close']
        by_message = [e for e in self.of_port(found, known['message'], a)]
        at = next(i for i, e in enumerate(by_message) if e.probe == 'driver__stop')
        same(by_message[: at + 1], life(known['message'], command, 'normal', []))
        after = [e for e in by_message[at + 1 :] if e.probe != 'message__receive']
        same(after, [f'message-queued {a} 3 1 0 0 0', *closing])
        killed = [e for e in found if known['killed'] in e.arguments]
        same(killed, life(known['killed'], None, 'killed', []))
        ended = [e for e in found if known['ended'] in e.arguments and e.probe == 'port__exit']
        same(ended, [f'port-exit {known["ended"]} {known["ended"]} true normal'])
        stops = [e for e in found if e.probe == 'driver__stop_select']
        expect(len(stops) >= 4 and {e.arguments[0] for e in stops} == {'spawn'}, 'driver-stop_select', *stops)
        sends = [
            e
            for e in found
            if e.probe == 'message__send' and e.arguments[0] in (known['closed'], known['message'])
        ]
        expect(not sends, 'message-send of a port', *sends)

    def g13(self):
        known, found = self.traced(['port', 'driver', 'process'], 'busy')
        a, p = known['main'], known['port']
        mine = [e for e in found if e.arguments[0] in (a, p) or p in e.arguments]
        start = next(i for i, e in enumerate(mine) if e.probe == 'port__command')
        got = mine[start : start + 11]
        scheduled = next((e.arguments[1] for e in got if e.probe == 'process__scheduled'), '?')
        command = [f'port-command {a} {p} echo_drv command']
        same(
            got,
            command
            + [
                f'driver-output {a} {p} echo_drv 3',
                f'port-busy {p}',
                f'process-unscheduled {a}',
                f'driver-timeout {a} {p} echo_drv',
                f'port-not_busy {p}',
                f'process-port_unblocked {a} {p}',
                f'process-scheduled {a} {scheduled}',
            ]
            + command
            + [f'driver-output {a} {p} echo_drv 5']
            + [shown(got[-1])],
        )

    def every(self):
        known, found = self.traced(['port', 'driver'], 'all')
        a, p, v, c = known['main'], known['echo'], known['vector'], known['counter']
        name = 'echo_drv with args'
        loads = [shown(e) for e in found if e.probe in ('driver__init', 'driver__finish')]
        expect(
            loads[:3]
            == [
                'driver-init counter_drv 3 3 1',
                'driver-init echo_drv 3 3 3',
                'driver-init echo_v_drv 3 3 3',
            ],
            'driver-init',
            *loads,
        )
        # counter_drv and event_drv have neither callback
        expect(loads[3] == 'driver-finish echo_v_drv', 'driver-finish', *loads)
        e = known['event']
        same([x for x in found if x.probe == 'driver__event'], [f'driver-event {a} {e} event_drv'])
        same(
            [e for e in found if p in e.arguments],
            [
                f'driver-start {a} echo_drv {p}',
                f'port-open {a} {name} {p}',
                f'port-command {a} {p} {name} command',
                f'driver-output {a} {p} {name} 3',
                f'driver-call {a} {p} {name} 5 8',
                f'port-control {a} {p} {name} {ord("t")}',
                f'driver-control {a} {p} {name} {ord("t")} 1',
                f'driver-timeout {a} {p} {name}',
                f'port-control {a} {p} {name} {ord("a")}',
                f'driver-control {a} {p} {name} {ord("a")} 5',
                f'driver-ready_async {a} {p} {name}',
                f'port-control {known["watched"]} {p} {name} {ord("m")}',
                f'driver-control {known["watched"]} {p} {name} {ord("m")} 0',
                f'driver-process_exit {a} {p} {name}',
                f'port-control {a} {p} {name} {ord("b")}',
                f'driver-control {a} {p} {name} {ord("b")} 1',
                f'port-busy {p}',
                f'port-control {a} {p} {name} {ord("b")}',
                f'driver-control {a} {p} {name} {ord("b")} 1',
                f'port-not_busy {p}',
                f'port-connect {a} {p} {name} {known["other"]}',
                f'port-command {known["other"]} {p} {name} connect',
                f'port-control {a} {p} {name} {ord("q")}',
                f'driver-control {a} {p} {name} {ord("q")} 0',
                f'port-command {a} {p} {name} command',
                f'driver-output {a} {p} {name} 7',
                f'port-exit {a} {p} {name} normal',
                f'driver-flush {a} {p} {name}',
                f'port-command {a} {p} {name} close',
                *[f'driver-timeout {a} {p} {name}'] * 3,
                f'driver-stop {a} echo_drv {p}',
            ],
        )
        same(
            [e for e in found if v in e.arguments],
            [
                f'driver-start {a} echo_v_drv {v}',
                f'port-open {a} echo_v_drv {v}',
                f'port-command {a} {v} echo_v_drv command',
                f'driver-outputv {a} {v} echo_v_drv 101',
                f'port-control {a} {v} echo_v_drv {ord("f")}',
                f'driver-control {a} {v} echo_v_drv {ord("f")} 7',
                f"port-exit {v} {v} echo_v_drv '{{broken'",
                f'driver-stop {a} echo_v_drv {v}',
            ],
        )
        counter = [e for e in found if c in e.arguments or e.arguments == ['counter_drv']]
        ready = {shown(e) for e in counter if 'ready' in e.probe}
        expect(
            ready == {f'driver-ready_input {a} {c} counter_drv', f'driver-ready_output {a} {c} counter_drv'},
            'ready probes',
            *ready,
        )
        same(
            [e for e in counter if e.probe != 'driver__stop_select' and 'ready' not in e.probe],
            [
                f'driver-start {a} counter_drv {c}',
                f'port-open {a} counter_drv {c}',
                f'port-control {a} {c} counter_drv 4',
                f'driver-control {a} {c} counter_drv 4 0',
                f'port-command {a} {c} counter_drv command',
                f'driver-output {a} {c} counter_drv 220000',
                f'port-exit {a} {c} counter_drv normal',
                f'driver-stop {a} counter_drv {c}',
            ],
        )
        expect(
            len([e for e in counter if e.probe == 'driver__stop_select']) == 2, 'driver-stop_select', *counter
        )
