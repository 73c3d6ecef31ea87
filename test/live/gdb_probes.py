# SPDX-License-Identifier: Apache-2.0
"""Runs inside gdb (source gdb_probes.py): prints each firing of some probes with all of its arguments,
however many, as

    firing|number of the thread|probe|argument|argument...

NULL strings are shown as NULL. $probes (set by the caller) names them, with a letter per argument: s string,
i integer.
"""
import gdb

STRING_LIMIT = 1100


def text(value):
    address = int(value)
    if address == 0:
        return 'NULL'
    memory = gdb.selected_inferior()
    found = bytearray()
    while len(found) < STRING_LIMIT:
        byte = bytes(memory.read_memory(address + len(found), 1))
        if byte == b'\0':
            break
        found += byte
    return found.decode('utf-8', 'replace').replace('\n', '\\n')


class Firing(gdb.Breakpoint):
    def __init__(self, name, kinds):
        super().__init__(f'-probe-stap erlang:{name}')
        self.silent = True
        self.name, self.kinds = name, kinds

    def stop(self):
        values = [gdb.parse_and_eval(f'$_probe_arg{i}') for i in range(len(self.kinds))]
        shown = [text(v) if kind == 's' else str(int(v)) for v, kind in zip(values, self.kinds)]
        gdb.write('|'.join(['firing', str(gdb.selected_thread().ptid[1]), self.name, *shown]) + '\n')
        gdb.flush()
        return False


for item in gdb.convenience_variable('probes').string().split():
    Firing(*item.split(':'))
gdb.write('tracing\n')
gdb.flush()
