# SPDX-License-Identifier: Apache-2.0
"""Shows Erlang in gdb: of a running vmrun and of a core file, with or without debug information.

    bt              of a scheduler's thread: Erlang functions stand behind the frame that executes them
    erl-bt          the Erlang stack of the process that the thread runs
    erl-bt <0.9.0>  that of a process, also by its registered name
    erl-bt all      those of all processes
    erl-ps          all processes, and which thread runs them

etp-stacktrace is another name of erl-bt. What gdb knows by itself is the frame that all machine code has (the
machine registers it). Where processes, functions and lines are, the machine says in a table that it exports
(vm/base/debugger_facts.hpp). gdb loads this file by itself when vmrun is installed in the prefix that gdb
loads such files from; elsewhere: source vmrun-gdb.py
"""
import bisect
import re
import struct

import gdb
from gdb.FrameDecorator import FrameDecorator

VERSION = 1  # of the table
MOST_FRAMES = 1000  # of a process that are shown

# Numbers of general registers in the encoding of x86-64's instructions.
X86_REGISTERS = 'rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15'.split()


class Machine:
    """The memory of a machine, and what its table says."""

    def __init__(self):
        self.inferior = gdb.selected_inferior()
        self.facts = self.read_facts()
        self.registers = self.loop_registers = None

    def read_facts(self):
        try:
            table = int(gdb.parse_and_eval('(unsigned long)&vmrun_debugger_facts'))
        except gdb.error:
            raise gdb.GdbError('this program is no vmrun, or one without a table for debuggers') from None
        facts = {}
        while True:
            name, value = self.words(table, 2)
            if not name:
                break
            facts[self.text_at(name)] = value
            table += 16
        if facts.get('version') != VERSION or 'schedulers' not in facts:
            raise gdb.GdbError('the machine has not begun yet, or is of another version than vmrun-gdb.py')
        return facts

    # ---- Memory ----

    def bytes(self, address, size):
        return bytes(self.inferior.read_memory(address, size)) if size else b''

    def words(self, address, count=1):
        return struct.unpack(f'<{count}Q', self.bytes(address, 8 * count))

    def word(self, address):
        return self.words(address)[0]

    def text_at(self, address):
        text = b''
        while b'\0' not in text:
            text += self.bytes(address + len(text), 1)
        return text[:-1].decode()

    def vector(self, address):
        """Where the elements of a std::vector lie, and how many bytes."""
        begin, end = self.words(address, 2)
        return begin, end - begin

    def string(self, address):
        begin, size = self.words(address, 2)
        return self.bytes(begin, size).decode('utf-8', 'replace')

    # ---- Names ----

    def atom(self, index):
        entries = self.facts['atoms.chunk_entries']
        chunk = self.word(self.facts['atoms.chunks'] + index // entries * 8)
        entry = chunk + index % entries * self.facts['Atom.size']
        size = struct.unpack('<I', self.bytes(entry + self.facts['Atom.bytes'], 4))[0]
        return self.bytes(self.word(entry + self.facts['Atom.text']), size).decode('utf-8', 'replace')

    def atom_of_term(self, address):
        return quoted(self.atom(self.word(address) >> 6))

    # ---- Code ----

    def modules(self):
        """(first address, address behind it, module), in order."""
        begin, size = self.vector(self.word(self.facts['code.ranges']))
        modules = []
        for module in self.words(begin, size // 8):
            code, length = self.vector(module + self.facts['Module.code'])
            modules.append((code, code + length, module))
        return modules

    def place(self, address):
        """The function that an address of an instruction lies in, and its line; None: it lies in none."""
        for begin, end, module in self.modules():
            if begin <= address < end:
                return self.place_in(module, begin, (address - begin) // 8)
        return None

    def place_in(self, module, code, word):
        functions = self.numbers(module + self.facts['Module.functions'])
        at = bisect.bisect_right(functions, word)
        if not at:
            return None
        first = functions[at - 1]
        header = code + 8 * first
        arity = struct.unpack('<H', self.bytes(header + self.facts['Function.arity'], 2))[0]
        name = (
            self.atom_of_term(header + self.facts['Function.module'])
            + ':'
            + self.atom_of_term(header + self.facts['Function.function'])
            + f'/{arity}'
        )
        lines = self.numbers(module + self.facts['Module.lines'])
        at = bisect.bisect_right(lines[::3], word)
        if not at or lines[3 * at - 3] < first:
            return name, None, None
        files = self.vector(module + self.facts['Module.files'])[0]
        return name, self.string(files + 32 * lines[3 * at - 2]), lines[3 * at - 1]

    def numbers(self, address, kind='I'):
        begin, size = self.vector(address)
        return struct.unpack(f'<{size // 4}{kind}', self.bytes(begin, size))

    # ---- Machine code ----

    def is_machine_code(self, pc):
        begin = self.facts.get('machine_code.begin')
        return begin is not None and begin <= pc < begin + self.facts['machine_code.bytes']

    def instruction_of(self, pc):
        """The instruction whose machine code lies there, and where the call returns to that has been
        inlined, and that it belongs to, or None; None, None: it is code that all functions share."""
        owners = self.facts['machine_code.owners']
        offset = pc - self.facts['machine_code.begin']
        code = self.word(owners + offset // self.facts['machine_code.piece'] * 8)
        if not code:
            return None, None
        offset = pc - self.word(code + self.facts['Code.code'])
        function = self.word(code + self.facts['Code.function'])

        def words_in(places):
            """Each place counts from its offset on; words from the function's header on, 0: none."""
            places = self.numbers(code + self.facts[places], 'i')
            at = bisect.bisect_right(places[::2], offset)
            return places[2 * at - 1] if at else 0

        at, returns_to = words_in('Code.places'), words_in('Code.inlined_calls')
        instruction = function + (8 * at or self.facts['Function.size'])
        return instruction, (function + 8 * returns_to if returns_to else None)

    def stack_register(self, frame):
        number = self.facts['machine_code.stack_register']
        return f'x{number}' if frame.architecture().name() == 'aarch64' else X86_REGISTERS[number]

    def is_call_of_function(self, frame):
        """Whether the frame is that of code by which machine code calls functions of C++."""
        older = frame.older()
        return (
            older is not None
            and self.is_machine_code(frame.pc())
            and self.is_machine_code(older.pc())
            and self.instruction_of(frame.pc() - 1)[0] is None
        )

    # ---- The interpreter ----

    def is_loop(self, frame):
        begin, end = self.facts.get('loop.begin'), self.facts.get('loop.end')
        if begin:
            return begin <= frame.pc() < end
        return frame.name() is not None and frame.name().startswith('vmrun::interpret(')

    def registers_of_loop(self, architecture):
        """In which registers the loop keeps the address of the instruction and the top of the stack: what
        the cases of two simple instructions read from."""
        if self.loop_registers is None:
            self.loop_registers = (None, None)
            table = self.word(self.facts['loop.cases']) if 'loop.cases' in self.facts else 0
            if table and architecture.name().startswith('i386:x86-64'):
                jump = self.first_read(
                    architecture, self.word(table + 8 * self.facts['loop.jump']), 'movzw', 'movzx'
                )
                move = self.first_read(
                    architecture, self.word(table + 8 * self.facts['loop.move_yx']), 'mov ', 'mov ', ',8)|*8]'
                )
                self.loop_registers = (jump, move)
        return self.loop_registers

    def first_read(self, architecture, pc, att, intel, scaled=None):
        """The base register of the first such instruction that reads memory, in either syntax."""
        for line in architecture.disassemble(pc, count=16):
            text = re.sub(r'\s+', ' ', line['asm'])
            if text.startswith('jmp'):
                break
            if not text.startswith((att, intel)) or (
                scaled and not any(s in text.replace(' ', '') for s in scaled.split('|'))
            ):
                continue
            found = re.search(r'\(%(\w+)[,)].*,%?\w+$', text.replace(', ', ',')) or re.search(
                r', ?\w+ \w+ ptr \[(\w+)', text, re.I
            )
            if found:
                return found[1]
        return None

    # ---- Processes ----

    def schedulers(self):
        begin, size = self.vector(self.facts['schedulers'])
        return self.words(begin, size // 8)

    def running(self):
        """Process to the thread that runs it."""
        found = {}
        for scheduler in self.schedulers():
            process = self.word(scheduler + self.facts['Scheduler.current'])
            if process:
                found[process] = struct.unpack('<i', self.bytes(scheduler + self.facts['Scheduler.tid'], 4))[
                    0
                ]
        return found

    def process_of_thread(self, thread):
        for process, tid in self.running().items():
            if thread and tid == thread.ptid[1]:
                return process
        return None

    def processes(self):
        chunk, limit = self.facts['processes.chunk'], self.facts['processes.limit']
        marks = self.bytes(self.facts['processes.marks'], limit // chunk)
        for n, mark in enumerate(marks):
            if mark:
                for process in self.words(self.facts['processes.places'] + n * chunk * 8, chunk):
                    if process and self.word(process + self.facts['Process.id']):
                        yield process

    def pid(self, process):
        number = self.word(process + self.facts['Process.id']) >> 4
        bits = self.facts['pid.number_bits']
        return f'<0.{number & (1 << bits) - 1}.{number >> bits}>'

    def name(self, process):
        index = struct.unpack('<I', self.bytes(process + self.facts['Process.registered_name'], 4))[0]
        return quoted(self.atom(index - 1)) if index else None

    def find(self, text):
        text = text.strip().strip('\'"')
        for process in self.processes():
            if text in (self.pid(process), self.pid(process)[1:-1]) or text == self.name(process):
                return process
        raise gdb.GdbError(f'no process {text}')

    def stack(self, process, top=None, instruction=None):
        """The places of a process's stack, the innermost first."""
        facts = self.facts
        end = self.word(process + facts['Process.stack_end'])
        if top is None:
            top = self.word(process + facts['Process.stack_top'])
        if instruction is None:
            instruction = self.word(process + facts['Process.ip'])
        places = [self.place(instruction)] if instruction else []
        if not 0 <= end - top < 1 << 40 or (end - top) % 8:
            return [p for p in places if p]
        # A return address has the tag of a header: two low bits that are zero.
        for word in self.words(top, (end - top) // 8):
            if word & 3 == 0 and word and word != facts['code.ends_of_calls']:
                places.append(self.place(word - 1))
                if len(places) > MOST_FRAMES:
                    break
        return [p for p in places if p]

    def stack_in_frame(self, frame, process):
        """That of the process whose code the frame executes, machine code or the interpreter's loop."""
        end = self.word(process + self.facts['Process.stack_end'])
        is_top = frame.newer() is None
        pc = frame.pc() - (not is_top)
        if self.is_machine_code(frame.pc()):
            instruction, returns_to = self.instruction_of(pc)
            if instruction is None:  # between a function and the interpreter
                return self.stack(process)
            places = self.stack(process, value_of(frame, self.stack_register(frame)), instruction)
            return places[:1] + ([self.place(returns_to - 1)] if returns_to else []) + places[1:]
        at, stack = self.registers_of_loop(frame.architecture())
        top = value_of(frame, stack) if stack and is_top else None
        stored = self.word(process + self.facts['Process.stack_top'])
        if top is None or top % 8 or not stored - (1 << 20) < top <= end:
            top = None
        instruction = value_of(frame, at) if at else None
        if instruction is not None and (instruction % 8 or not self.place(instruction)):
            instruction = None
        return self.stack(process, top, instruction)


def value_of(frame, register):
    try:
        return int(frame.read_register(register)) & 0xFFFFFFFFFFFFFFFF
    except (gdb.error, ValueError):
        return None


def quoted(atom):
    return atom if re.fullmatch(r'[a-z][a-zA-Z0-9_@]*', atom) else "'" + atom.replace("'", "\\'") + "'"


def shown(place):
    name, file, line = place
    return name + (f' at {file}:{line}' if file else '')


class ErlangFrame(FrameDecorator):
    """A frame of a process, behind the one that executes it."""

    def __init__(self, frame, place):
        super().__init__(frame)
        self.place = place

    def function(self):
        return self.place[0]

    def address(self):
        return None

    def filename(self):
        return self.place[1]

    def line(self):
        return self.place[2]

    def frame_args(self):
        return None

    def frame_locals(self):
        return None


class MachineCodeFrame(FrameDecorator):
    """Machine code of a function: that is its name. Code that all functions share has its own."""

    def __init__(self, frame, place):
        super().__init__(frame)
        self.place = place

    def function(self):
        return self.place[0] if self.place else super().function()

    def filename(self):
        return self.place[1] if self.place else super().filename()

    def line(self):
        return self.place[2] if self.place else super().line()


class Filter:
    """Puts a process's frames where the thread executes them."""

    def __init__(self):
        self.name, self.priority, self.enabled = 'vmrun', 100, True
        gdb.current_progspace().frame_filters[self.name] = self

    def filter(self, frames):
        try:
            machine = Machine()
            process = machine.process_of_thread(gdb.selected_thread())
        except (gdb.GdbError, gdb.error):
            return frames
        return self.with_erlang(machine, process, frames) if process else frames

    def with_erlang(self, machine, process, frames):
        is_shown = False
        for decorated in frames:
            frame = decorated.inferior_frame()
            is_code = machine.is_machine_code(frame.pc())
            if is_shown or not (is_code or machine.is_loop(frame)) or machine.is_call_of_function(frame):
                yield decorated
                continue
            is_shown = True
            stack = machine.stack_in_frame(frame, process)
            if is_code and machine.instruction_of(frame.pc() - 1)[0] is not None:
                yield MachineCodeFrame(frame, stack[0] if stack else None)
                stack = stack[1:]
            else:
                yield decorated
            for place in stack:
                yield ErlangFrame(frame, place)


class Backtrace(gdb.Command):
    """Shows the Erlang stack of a process: erl-bt [PID | NAME | all].
    Without an argument: of the process that the selected thread runs."""

    def __init__(self, name):
        super().__init__(name, gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        machine = Machine()
        if argument.strip() == 'all':
            for process in machine.processes():
                self.show(machine, process)
        elif argument.strip():
            self.show(machine, machine.find(argument))
        else:
            process = machine.process_of_thread(gdb.selected_thread())
            if process is None:
                raise gdb.GdbError('this thread runs no process; erl-ps shows all')
            self.show(machine, process)

    def show(self, machine, process):
        name = machine.name(process)
        gdb.write(machine.pid(process) + (f' {name}' if name else '') + '\n')
        for n, place in enumerate(stack_now(machine, process)):
            gdb.write(f'#{n:<3} {shown(place)}\n')


def stack_now(machine, process):
    """The stack of a process, which a thread may be running."""
    tid = machine.running().get(process)
    thread = next((t for t in machine.inferior.threads() if t.ptid[1] == tid), None) if tid else None
    if thread is None:
        return machine.stack(process)
    before, selected = gdb.selected_thread(), gdb.selected_frame()
    try:
        thread.switch()
        frame = gdb.newest_frame()
        while frame is not None:
            if machine.is_machine_code(frame.pc()) or machine.is_loop(frame):
                if not machine.is_call_of_function(frame):
                    return machine.stack_in_frame(frame, process)
            frame = frame.older()
    finally:
        if before:
            before.switch()
            selected.select()
    return machine.stack(process)


class Processes(gdb.Command):
    """Shows all processes: their names, where they are, and which threads run them."""

    def __init__(self):
        super().__init__('erl-ps', gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        machine = Machine()
        running = machine.running()
        for process in machine.processes():
            places = stack_now(machine, process)
            columns = [
                f'{machine.pid(process):<12}',
                f'{machine.name(process) or "":<28}',
                f'{"runs in " + str(running[process]) if process in running else "":<14}',
                shown(places[0]) if places else '',
            ]
            gdb.write(' '.join(columns).rstrip() + '\n')


Filter()
Backtrace('erl-bt')
Backtrace('etp-stacktrace')
Processes()
