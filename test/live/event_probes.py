# SPDX-License-Identifier: Apache-2.0
"""The probes that no Erlang has: names, modules, tables, binaries, waits for a scheduler. Programs do known
things with each."""
import collections
import pathlib

from harness.results import Test

from . import session
from .attach import expect
from .inside import Counter

HERE = pathlib.Path(__file__).resolve().parent
FAMILIES = ('code', 'name', 'binary', 'ets')

# operation of a lookup, found, examined; or of a write, objects, size of the table then
PROBED = '''insert 1 1, insert 2 3, insert_new 0 3, insert_new 1 4,
    lookup 1 1, lookup 0 0, lookup_element 1 1, member 0 0, member 1 1,
    update_counter 1 4, update_counter 1 4, update_counter 1 5, update_element 1 5, update_element 0 5,
    match_object 1 5, match 1 1, tab2list 5 5, select_count 5 5, select_replace 1 5,
    take 1 4, delete 1 3, delete 0 3, delete_object 0 3, delete_object 1 2, match_delete 1 1,
    delete_all_objects 1 0'''
PROBED_BAG = 'insert 3 3, lookup 2 2, select 2 2, select_delete 1 2, insert 1 3, first 1 1, delete 2 1'
PROBED_LONG = '''insert 30000 30000, first 1 1, next 1 1, last 1 1, prev 0 0, select 2 5, select 2 2, 
    select_count 10 30000, select_delete 29990 10'''


def tests(vmrun, table):
    suite = Suite(vmrun, table)
    return [
        Test('live', 'events: ' + name[5:].replace('_', ' '), getattr(suite, name), in_turn=True)
        for name in dir(suite)
        if name.startswith('test_')
    ]


class Suite:
    def __init__(self, vmrun, table):
        self.vmrun, self.table = vmrun, table
        self.known = self.found = None

    def names(self, *families):
        return [p.name for p in self.table.probes if p.family in families]

    def run(self):
        """Returns the firings of events.act, once for all tests."""
        if not self.known:
            text = session.program(self.table, self.names(*FAMILIES))
            self.known, lines = session.trace(self.vmrun, HERE / 'events.act', text)
            self.found = session.events(lines)
        return self.known, self.found

    def of(self, probe):
        return [e.arguments for e in self.found if e.probe == probe]

    def test_names(self):
        known, _ = self.run()
        gained = [a for a in self.of('name__register') if a[0].startswith('probed_')]
        lost = [a for a in self.of('name__unregister') if a[0].startswith('probed_')]
        expect(len(gained) == len(lost) == 51, f'{len(gained)} registered, {len(lost)} unregistered')
        expect(all(a[2] == known['main'] for a in gained), 'registered by others', *gained)
        expect([a[:2] for a in gained][-1] == ['probed_port', known['port']], 'no name of a port', gained[-1])
        expect(
            sorted(a[:2] for a in gained) == sorted(a[:2] for a in lost),
            'what is lost is not what was gained',
        )
        for name, who, by, ends in lost:
            taken = name in {f'probed_{i}' for i in range(1, 21)}
            expect(ends == ('0' if taken else '1'), f'{name}: ends {ends}')
            expect(
                by == (known['main'] if taken or name == 'probed_port' else who),
                f'{name} of {who} taken by {by}',
            )

    def test_modules(self):
        self.run()
        loads = [a for a in self.of('code__load') if a[0] == 'plain_module']
        purges = [a for a in self.of('code__purge') if a[0] == 'plain_module']
        expect([a[2] for a in loads] == ['0', '1', '1', '1', '1'], 'other loads', *loads)
        expect(len(purges) == 4, 'other purges', *purges)
        expect(
            len({a[1] for a in loads + purges}) == 1 and int(loads[0][1]) > 100,
            'sizes differ',
            *loads,
            *purges,
        )

    def objects(self, table):
        return [
            ' '.join(e.arguments[3:])
            for e in self.found
            if e.probe.startswith('ets__') and e.arguments[1] == table
        ]

    def test_tables(self):
        known, _ = self.run()
        for table, wanted in (('probed', PROBED), ('probed_bag', PROBED_BAG), ('probed_long', PROBED_LONG)):
            wanted = [w.strip() for w in wanted.split(',')]
            expect(
                self.objects(table) == wanted, f'{table}: other firings', *zip(self.objects(table), wanted)
            )
        mine = [e.arguments for e in self.found if e.probe.startswith('ets__') and e.arguments[1] == 'probed']
        expect(
            {(a[0], a[2]) for a in mine} == {(known['main'], known['table'])},
            'another process or table',
            *mine,
        )

    def test_binaries(self):
        known, found = self.run()
        makers = set(known['makers'].split())
        size, maker, balance, resized = {}, {}, collections.Counter(), 0
        for e in found:
            if e.probe == 'binary__alloc':
                pid, name, bytes = e.arguments
                expect(name not in size, f'{e}: is there already')
                size[name], maker[name] = int(bytes), pid
                balance[pid] += int(bytes)
            elif e.probe == 'binary__resize' and e.arguments[2] in size:
                pid, name, old, bytes, before = e.arguments
                expect(size.pop(old) == int(before), f'{e}: had another size')
                maker[name], size[name] = maker.pop(old), int(bytes)
                balance[maker[name]] += int(bytes) - int(before)
                resized += pid in makers
            elif e.probe == 'binary__release' and e.arguments[1] in size:
                pid, name, bytes = e.arguments
                expect(size.pop(name) == int(bytes), f'{e}: had another size')
                balance[maker.pop(name)] -= int(bytes)
        made = collections.Counter(e.arguments[0] for e in found if e.probe == 'binary__alloc')
        for pid in makers:
            expect(made[pid] >= 11, f'{pid} has made {made[pid]}')
            expect(balance[pid] == 0, f'{pid}: {balance[pid]} bytes are left')
        expect(resized >= 50, f'{resized} have been resized')
        received = collections.Counter(
            e.arguments[2]
            for e in found
            if e.probe == 'binary__receive' and e.arguments[0] == known['receiver']
        )
        expect(received == {'1000': 10, '2000': 10}, 'other binaries received', received)

    def test_waits(self):
        """Every process waits and runs in turns; each scheduled process has waited, on the thread where its
        wait ended."""
        text = session.program(self.table, self.names('run-queue') + ['process__scheduled', 'process__spawn'])
        known, lines = session.trace(self.vmrun, HERE / 'waits.act', text, ('+S', '4:4'))
        found = session.events(lines)
        born = {e.arguments[0] for e in found if e.probe == 'process__spawn'}
        waiting, ran, threads = {}, {}, collections.defaultdict(set)
        queues, priorities = collections.defaultdict(set), {}
        moved = 0
        for e in found:
            pid = e.arguments[0]
            if pid not in born:
                continue
            if e.probe == 'process__runnable':
                expect(pid not in waiting, f'{e}: waits already')
                waiting[pid] = e
                queues[pid].add(e.arguments[2])
                priorities[pid] = e.arguments[1]
            elif e.probe == 'process__running':
                began = waiting.pop(pid, None)
                expect(began and began.arguments[2] == e.arguments[2], f'{e}: has not waited there', began)
                expect(0 <= int(e.arguments[1]) < session.LIMIT * 10**9, f'{e}: what a wait')
                moved += began.thread != e.thread
                ran[pid] = e.thread
                threads[pid].add(e.thread)
            elif e.probe == 'process__scheduled':
                expect(pid not in waiting and ran.get(pid) == e.thread, f'{e}: its wait has not ended here')
        expect(not waiting, 'still waiting at the end', *waiting.values())
        expect(moved, 'none has run on another thread than it was made runnable on')
        for pid in known['long'].split():
            expect(queues[pid] == {'0', '1'}, f'what is long: queues {queues[pid]}')
        busy = known['busy'].split()
        expect(all(queues[pid] == {'0'} for pid in busy), 'busy ones on other queues')
        expect(sum(len(threads[pid]) > 1 for pid in busy), 'no busy process has moved', threads)
        levels = {level: priorities[known[level]] for level in ('low', 'normal', 'high', 'max')}
        expect(levels == {'low': '0', 'normal': '1', 'high': '2', 'max': '3'}, f'priorities {levels}')

    def test_inside_and_outside_agree(self):
        session.require_tracer()
        names = [n for n in self.names(*FAMILIES, 'run-queue')]
        text = 'BEGIN { printf("tracing\\n"); }\n' + '\n'.join(
            f'usdt:*:erlang:{n} {{ @{n} = count(); }}' for n in names
        )
        with session.Target(self.vmrun, HERE / 'events.act') as target:
            program = pathlib.Path(self.vmrun).parent / 'test' / 'count_firings'
            shown = [n.replace('__', '-') for n in names]
            tracer = session.Tracer(target.process.pid, text)
            counter = Counter(program, target.process.pid, shown).wait_until_ready()
            target.line('go')
            target.wait_for('done')
            target.finish()
            inside = counter.counts()
            outside = dict(line.strip('@').split(': ') for line in tracer.lines() if line.startswith('@'))
        for name in names:
            ours, theirs = inside[name.replace('__', '-')][0], int(outside.get(name, 0))
            expect(ours and abs(theirs - ours) <= AROUND, f'{name}: {ours} inside, {theirs} by bpftrace')


AROUND = 20  # firings while only one of the two tracers is attached
