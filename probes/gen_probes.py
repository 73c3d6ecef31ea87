#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes everything that depends on the list of probes from probes.tab.

  gen_probes.py TAB provider OUT            the provider file for dtrace -h and -G
  gen_probes.py TAB header MODE OUT         probes.hpp: whether probes are enabled
  gen_probes.py TAB site-header MODE OUT    sites.hpp: the sites, which take what tracers get
  gen_probes.py TAB sites MODE PROVIDER OUT probe_sites.cpp: the one site of each probe, and the table of
  names
  gen_probes.py TAB fire-header MODE OUT    vm/probes/fire.hpp: firing from terms and numbers
  gen_probes.py TAB fire-source MODE OUT    vm/probes/fire.cpp: where those are made into texts
  gen_probes.py TAB markdown OUT            the tables of docs/probes.md (`-`: standard output)

MODE is usdt, dtrace or none. `parse` is also what the tests and the script checker read the table with.
"""
import re
import sys

TYPES = {  # in the table: in the provider file, as a C++ parameter, the cast of the one site
    'string': ('char *', 'const char*'),
    'int': ('int', 'int'),
    'uint32': ('uint32_t', 'uint32_t'),
    'int64': ('int64_t', 'int64_t'),
}
MAX_ARGUMENTS = 12  # what an SDT note can carry
MOST_IN_GROUP = 7  # what kCountingInside leaves room for
LINE_BYTES = 64  # of the cache
ALL_GROUPS = 'erlang_paths_watch'

KINDS = {  # in the table: what a tracer gets, what the machine hands over, how the one becomes the other
    'pid': ('string', 'Term', 'PidText({name}, "")'),
    'caller': ('string', 'Term', 'PidText({name}, "-raw-")'),
    'port': ('string', 'Term', 'PidText({name}, "")'),
    'function': ('string', 'FunctionArgument', 'FunctionText({name})'),
    'term': ('string', 'Term', 'TermText<{bytes}>({name})'),
    'iolist': ('string', 'Term', 'IolistText({name})'),
    'text': ('string', 'const char*', '{name}'),
    'node': ('string', 'Term', 'NodeText({name}, {most})'),
    'int': ('int', 'std::int64_t', 'saturated<int>({name})'),
    'uint32': ('uint32', 'std::uint64_t', 'saturated<std::uint32_t>({name})'),
    'int64': ('int64', 'std::int64_t', '{name}'),
}
TERM_BYTES = 255  # longest visible text of a term, unless the table says another
# where it is left out
UNITS = {
    'pid': 'pid',
    'caller': 'pid',
    'port': 'port',
    'function': 'function',
    'term': 'term',
    'node': 'node',
}


class Argument:
    """`kind` is what a tracer gets, a key of TYPES; `given` is what the machine hands over, a key of
    KINDS."""

    def __init__(self, name, given, unit, meaning):
        given, _, bytes = given.partition('/')
        if given not in KINDS:
            raise ValueError(f'unknown kind {given}')
        self.name, self.given, self.meaning = name, given, meaning
        self.unit = UNITS[given] if unit == ':' and given in UNITS else unit
        self.kind = KINDS[given][0]
        self.bytes = int(bytes or TERM_BYTES)

    @property
    def parameter(self):
        return f'{KINDS[self.given][1]} {self.name}'

    @property
    def converted(self):
        return KINDS[self.given][2].format(name=self.name, bytes=self.bytes + 1, most=self.bytes)

    @property
    def word(self):
        """The argument as a consumer in the machine gets it."""
        if self.kind != 'string':
            return f'word_of({self.converted})'
        return f'word_of({"&" if self.given == "function" else ""}{self.name})'


class Probe:
    def __init__(self, name, family, stability):
        self.name, self.family, self.stability = name, family, stability
        self.arguments, self.when = [], ''

    @property
    def d_name(self):
        return self.name.replace('__', '-')

    @property
    def function(self):
        """message__send -> message_send"""
        return self.name.replace('__', '_')

    @property
    def macro(self):
        """The name dtrace -h gives: message__send -> ERLANG_MESSAGE_SEND"""
        return 'ERLANG_' + self.function.upper()

    @property
    def semaphore(self):
        return f'erlang_{self.name}_semaphore'

    @property
    def watch(self):
        return f'erlang_{self.name}_watch'

    @property
    def inside(self):
        return f'erlang_{self.name}_inside'


class Range:
    """Probes PREFIXfirst ... PREFIXlast of one row. Their arguments are the first one's."""

    def __init__(self, prefix, probes):
        self.prefix, self.probes = prefix, probes
        self.first_number = int(probes[0].name[len(prefix) :])

    @property
    def function(self):
        return self.prefix.replace('__', '_')

    @property
    def watches(self):
        return f'erlang_{self.prefix}_watches'


class Group:
    """Probes for which one test tells whether any of them is enabled.

    Each probe has a half word for the tracers, and the group has one that the engine raises for any of its
    probes. All of them lie side by side, to be read as a whole. The group's own half word stands before its
    last probe, so that a second group can begin with that probe and share both. All groups lie side by side
    in one strip, so a word of one group may end in half words of the next one. A test may then succeed for
    nothing; the exact test that follows corrects this."""

    def __init__(self, name, names):
        self.name, self.names, self.before = name, names, None
        self.first = 0  # half word of the strip where it begins

    @property
    def symbol(self):
        return f'erlang_{self.name}_watch'

    @property
    def inside(self):
        return f'erlang_{self.name}_inside'

    @property
    def words(self):
        return (len(self.names) + 1 + bool(self.before) + 3) // 4

    def strip(self):
        """Symbols of the half words: its own, and those of earlier groups with which it shares probes."""
        rest = [f'erlang_{n}_semaphore' for n in self.names]
        rest.insert(len(rest) - 1, self.inside)
        return self.before.strip() + rest[1:] if self.before else rest


class Table:
    def __init__(self):
        self.families, self.probes = [], []  # families: (name, text); probes: ranges written out
        self.ranges = []
        self.groups = []

    @property
    def singles(self):
        """The probes that have a row of their own."""
        in_ranges = {id(p) for r in self.ranges for p in r.probes}
        return [p for p in self.probes if id(p) not in in_ranges]

    @property
    def numbered(self):
        """All probes in the order of their numbers, which is that of probe_rows()."""
        return self.singles + [p for r in self.ranges for p in r.probes]

    def watch(self, name, names):
        group = Group(name, names)
        if self.groups and self.groups[-1].names[-1] == names[0]:
            group.before = self.groups[-1]
            group.first = len(self.strip()) - 2
        else:
            group.first = len(self.strip())
        self.groups.append(group)

    def strip(self):
        """Symbols of the half words of all groups, one group after the other."""
        last = [g for g in self.groups if not any(other.before is g for other in self.groups)]
        return [symbol for g in last for symbol in g.strip()]

    @property
    def strip_words(self):
        return max(
            [(len(self.strip()) + 3) // 4] + [g.first // 4 + g.words + bool(g.first % 4) for g in self.groups]
        )

    def group_of(self, probe):
        """The first group of the probe; None when its word is its own."""
        return next((g for g in self.groups if probe.name in g.names), None)


def parse(path):
    table = Table()
    current = []  # probes the next arg and when lines belong to

    def add(names, stability):
        if stability not in ('stable', 'evolving'):
            raise ValueError(f'unknown stability {stability}')
        current[:] = [Probe(name, table.families[-1][0], stability) for name in names]
        table.probes.extend(current)

    with open(path, encoding='utf-8') as file:  # a line that ends in a backslash goes on in the next one
        lines = re.sub(r'\\\n *', '', file.read()).splitlines()
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith('#'):
            continue
        try:
            if words[0] == 'family':
                table.families.append((words[1], line.split(':', 1)[1].strip()))
            elif words[0] == 'probe':
                add([words[1]], words[2])
            elif words[0] == 'range':
                add([words[1] + str(n) for n in range(int(words[2]), int(words[3]) + 1)], words[4])
                table.ranges.append(Range(words[1], list(current)))
            elif words[0] == 'watch':
                table.watch(words[1], words[2:])
            elif words[0] == 'arg':
                argument = Argument(words[1], words[2], words[3], line.split(':', 1)[1].strip())
                for probe in current:
                    probe.arguments.append(argument)
            elif words[0] == 'when':
                for probe in current:
                    probe.when = (probe.when + ' ' + line.strip()[5:]).strip()
            else:
                raise ValueError(f'unknown word {words[0]}')
        except (IndexError, ValueError) as error:
            sys.exit(f'{path}:{number}: {error}: {line.strip()}')
    check(path, table)
    return table


def check(path, table):
    seen = set()
    for probe in table.probes:
        if not re.fullmatch(r'[a-z][a-z0-9_]*', probe.name) or probe.function in seen:
            sys.exit(f'{path}: {probe.name}: not a name, or there twice')
        seen.add(probe.function)
        if not probe.when or len(probe.arguments) > MAX_ARGUMENTS:
            sys.exit(f'{path}: {probe.name}: says not when it fires, or has too many arguments')
    watched = [name for g in table.groups for name in (g.names[1:] if g.before else g.names)]
    if len(set(watched)) != len(watched) or not set(watched) <= {p.name for p in table.singles}:
        sys.exit(f'{path}: a watch names what is no probe, or a probe that stands in another one')
    if any(len(g.names) > MOST_IN_GROUP for g in table.groups):
        sys.exit(f'{path}: a watch has more than {MOST_IN_GROUP} probes')


def parameters(probe, style):
    """style 0: C types for the provider, 1: C++ types."""
    return ', '.join(
        (TYPES[a.kind][style] + ' ' + a.name).replace('* ', '*' if style == 0 else '* ')
        for a in probe.arguments
    )


def provider(table):
    lines = ['/* Made from probes.tab. */', 'provider erlang {']
    lines += [f'  probe {p.name}({parameters(p, 0)});' for p in table.probes]
    lines += ['};', '']
    common = 'Evolving/Evolving/Common'
    lines += [
        f'#pragma D attributes {common} provider erlang {part}'
        for part in ('provider', 'module', 'function', 'name', 'args')
    ]
    return '\n'.join(lines) + '\n'


HEADER = '''// Made from probes.tab.
//
// Whether anyone looks at a probe: a tracer, or a consumer in the machine (inside.hpp). For each probe NAME
// there is
//
//   bool probe::NAME_enabled()   one comparison with memory and a branch predicted not taken
//   bool probe::NAME_in_full()   whether anyone wants more of a firing than to count it
//   void probe::count_NAME()     counts one, if anybody counts them: in place of a firing that nobody
//                                wants in full
//   bool probe::X_enabled()      whether anyone looks at any of a group of probes that paths taken often
//                                share; it may also say so when somebody looks at one of the next group
//   bool probe::paths_enabled()  whether anyone looks at any probe of any group
//
// and a firing point reads `if (probe::x_enabled()) [[unlikely]] probe::fire_x(terms and numbers);`, with the
// function of vm/probes/fire.hpp, which counts too. Where the terms and numbers cost something to have, it
// asks first: `if (!probe::x_in_full()) return probe::count_x();`. Those of a range of probes take the number
// of the probe. Any thread may call them.
#pragma once

#include <cstdint>

#include "probes/inside.hpp"

'''

SITE_HEADER = '''// Made from probes.tab.
//
// The one site of each probe, which takes what tracers get. Only vm/probes/fire.cpp calls them. Any thread;
// they neither allocate nor block. Meaning, units and order of the arguments: docs/probes.md.
#pragma once

#include <cstdint>

namespace vmrun::probe::site {{

{functions}
}}  // namespace vmrun::probe::site
'''

FIRE_HEADER = '''// Made from probes.tab.
//
// How the machine fires its probes: `if (probe::x_enabled()) [[unlikely]] probe::fire_x(...)`. Firing points
// hand over terms and numbers; what becomes of them is decided here, below the test: texts for tracers
// outside are made on the stack of the firing thread. A consumer in the machine gets the words as they are
// (probes/inside.hpp). Any thread; nothing here allocates or blocks or changes a term. Meaning, units and
// order of the arguments: docs/probes.md.
#pragma once

#include "probes/probes.hpp"
#include "vm/probes/arguments.hpp"

namespace vmrun::probe {{

{functions}
}}  // namespace vmrun::probe
'''

FIRE_SOURCE = '''// Made from probes.tab.
#include "vm/probes/fire.hpp"

#include <iterator>

#include "probes/inside.hpp"
#include "probes/sites.hpp"
#include "vm/probes/texts.hpp"

namespace vmrun::probe {{

namespace {{

[[maybe_unused]] std::uint64_t word_of(Term t) {{ return t.raw(); }}
[[maybe_unused]] std::uint64_t word_of(std::int64_t n) {{ return static_cast<std::uint64_t>(n); }}
[[maybe_unused]] std::uint64_t word_of(const void* at) {{ return reinterpret_cast<std::uintptr_t>(at); }}

}}  // namespace

{functions}
}}  // namespace vmrun::probe
'''

HEADER_TEXT = {
    'usdt': (
        '''// A probe that is tested by itself has a word of 32 bits: the low half is the semaphore of the
// tracers outside, who add to it without caring for anyone else (the Linux kernel's addition is not atomic),
// the high half that of the consumers in the machine. The probes of a group have half words that lie side by
// side with one that stands for the consumers of them all, to be read as one; the consumers' count of each is
// elsewhere. What is in a consumers' half: kAskingInside. Read plainly: no barrier, and the comparison takes
// its operand from memory.
#if defined(__SANITIZE_THREAD__)
#define VMRUN_LOOK(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#else
#define VMRUN_LOOK(word) (word)
#endif
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

{semaphores}
namespace vmrun::probe {{

inline constexpr bool kCompiledIn = true;

{functions}
}}  // namespace vmrun::probe
'''
    ),
    'dtrace': (
        '''namespace vmrun::probe {{

inline constexpr bool kCompiledIn = true;

/// The consumers in the machine, by the number of the probe.
extern std::uint16_t inside_counts[];

{functions}
}}  // namespace vmrun::probe
'''
    ),
    'none': (
        '''namespace vmrun::probe {{

inline constexpr bool kCompiledIn = false;

{functions}
}}  // namespace vmrun::probe
'''
    ),
}


class Firing:
    """What a probe and a range of probes have in common. A range's functions take the number of the probe
    first."""

    def __init__(self, table, probe, row=None):
        self.function = row.function if row else probe.function
        self.arguments = probe.arguments
        self.number = 'unsigned number' if row else ''
        self.group = table.group_of(probe)
        self.probe = probe
        self.word = (
            f'VMRUN_LOOK({row.watches}[number - {row.first_number}u])'
            if row
            else f'VMRUN_LOOK({probe.watch})'
        )
        self.index = str(table.numbered.index(probe)) + 'u'
        if row:
            self.index += f' + number - {row.first_number}u'

    def list(self, *rest):
        return ', '.join([self.number] * bool(self.number) + list(rest))

    @property
    def call(self):
        return f'({"number" if self.number else ""})'

    def traced(self, mode):
        """The test whether a tracer has enabled the probe."""
        if mode == 'dtrace':
            return f'{self.function}_traced{self.call}'
        return f'VMRUN_LOOK({self.probe.semaphore}) != 0' if self.group else f'({self.word} & 0xFFFFu) != 0'

    def inside(self, mode):
        """The half word for consumers in the machine."""
        if mode == 'dtrace':
            return f'inside_counts[{self.index}]'
        return f'VMRUN_LOOK({self.probe.inside})' if self.group else f'({self.word} >> 16)'

    def enabled(self, mode):
        head = f'bool {self.function}_enabled({self.number})'
        if mode == 'none':
            return (
                f'constexpr bool {self.function}_enabled({self.number.split(" ")[0]}) {{ return false; }}\n'
            )
        traced, inside = self.traced(mode), self.inside(mode)
        # the platform patches is-enabled tests, so they are sites too and live where the sites are
        if mode == 'dtrace':
            return (
                f'bool {self.function}_traced({self.number});\n'
                f'inline {head} {{\n  return {inside} != 0 || {traced};\n}}\n'
            )
        if self.group:  # one comparison that may succeed for nothing, then the exact one
            return (
                f'inline {head} {{\n'
                f'  return {group_test(self.group.symbol, self.group.words)} && ({traced} || {inside} != '
                f'0);\n}}\n'
            )
        return f'inline {head} {{\n  return __builtin_expect({self.word} != 0, 0);\n}}\n'

    def counting(self, mode):
        in_full, count = (
            f'bool {self.function}_in_full({self.number})',
            f'void count_{self.function}({self.number})',
        )
        if mode == 'none':
            kind = self.number.split(' ')[0]
            return (
                f'constexpr bool {self.function}_in_full({kind}) {{ return false; }}\n'
                f'inline void count_{self.function}({kind}) {{}}\n'
            )
        inside = self.inside(mode)
        return (
            f'inline {in_full} {{\n  return {self.traced(mode)} || ({inside} & kAskingInside) != 0;\n}}\n'
            f'inline {count} {{\n  if ({inside} > kAskingInside) count_firing({self.index});\n}}\n'
        )

    def site(self):
        parameters = self.list(*(TYPES[a.kind][1] + " " + a.name for a in self.arguments))
        return f'void {self.function}({parameters});\n'

    def fire_head(self):
        return f'void fire_{self.function}({self.list(*(a.parameter for a in self.arguments))})'

    def fire_declaration(self, mode):
        if mode == 'none':
            kinds = [KINDS[a.given][1] for a in self.arguments]
            return (
                'inline void '
                f'fire_{self.function}({", ".join(["unsigned"] * bool(self.number) + kinds)}) {{}}\n'
            )
        return f'[[gnu::cold, gnu::noinline]] {self.fire_head()};\n'

    def fire_definition(self, mode):
        values = ['number'] * bool(self.number) + [a.converted for a in self.arguments]
        words = ', '.join(a.word for a in self.arguments)
        return (
            f'{self.fire_head()} {{\n  count_{self.function}{self.call};\n'
            f'  if (({self.inside(mode)} & kAskingInside) != 0) {{\n'
            f'    const std::uint64_t words[] = {{{words}}};\n'
            f'    fire_inside({self.index}, std::size(words), words);\n  }}\n'
            f'  if ({self.traced(mode)}) site::{self.function}({", ".join(values)});\n}}\n'
        )


def firings(table):
    return [Firing(table, p) for p in table.singles] + [Firing(table, r.probes[0], r) for r in table.ranges]


def group_test(symbol, words):
    test = ' | '.join(f'VMRUN_LOOK({symbol}[{i}])' for i in range(words))
    return f'__builtin_expect(({test}) != 0, 0)'


def watch_function(table, group, mode):
    function = {p.name: p.function for p in table.probes}
    if mode == 'usdt':
        return (
            f'inline bool {group.name}_enabled() {{\n  return {group_test(group.symbol, group.words)};\n}}\n'
        )
    test = ' || '.join(function[n] + '_enabled()' for n in group.names)
    return (
        f'{"constexpr" if mode == "none" else "inline"} bool {group.name}_enabled() {{\n'
        f'  return {test};\n}}\n'
    )


def paths_enabled(table, mode):
    if mode == 'usdt':
        test = group_test(ALL_GROUPS, table.strip_words)
    else:
        test = ' || '.join(f'{g.name}_enabled()' for g in table.groups)
    return f'{"constexpr" if mode == "none" else "inline"} bool paths_enabled() {{\n  return {test};\n}}\n'


def header(table, mode):
    def declare(kind, name):
        return f'extern "C" [[gnu::visibility("hidden")]] {kind} {name};\n'

    semaphores = ''
    for p in table.singles:
        kinds = (
            [('uint16_t', p.semaphore), ('uint16_t', p.inside)]
            if table.group_of(p)
            else [('uint32_t', p.watch)]
        )
        semaphores += ''.join(declare(*k) for k in kinds)
    semaphores += ''.join(declare('uint32_t', f'{r.watches}[{len(r.probes)}]') for r in table.ranges)
    semaphores += 'typedef uint64_t erlang_halves [[gnu::may_alias, gnu::aligned(2)]];\n'
    semaphores += ''.join(declare('erlang_halves', f'{g.symbol}[{g.words}]') for g in table.groups)
    semaphores += declare('erlang_halves', f'{ALL_GROUPS}[{table.strip_words}]')
    functions = '\n'.join(
        [f.enabled(mode) + f.counting(mode) for f in firings(table)]
        + [watch_function(table, g, mode) for g in table.groups]
        + [paths_enabled(table, mode)]
    )
    return HEADER + HEADER_TEXT[mode].format(semaphores=semaphores, functions=functions)


def site_header(table, mode):
    return SITE_HEADER.format(functions='' if mode == 'none' else '\n'.join(f.site() for f in firings(table)))


def fire_header(table, mode):
    return FIRE_HEADER.format(functions='\n'.join(f.fire_declaration(mode) for f in firings(table)))


def fire_source(table, mode):
    return FIRE_SOURCE.format(
        functions='' if mode == 'none' else '\n'.join(f.fire_definition(mode) for f in firings(table))
    )


def site(probe, mode):
    # The cast is what fixes the width in the note: a consumer sees the same types at every firing point.
    arguments = ', '.join(f'static_cast<{TYPES[a.kind][1]}>({a.name})' for a in probe.arguments)
    if mode == 'dtrace':  # native headers declare char *, not const char *
        arguments = ', '.join(
            f'const_cast<char*>({a.name})' if a.kind == 'string' else a.name for a in probe.arguments
        )
    return f'void {probe.function}({parameters(probe, 1)}) {{ {probe.macro}({arguments}); }}\n'


def enabled_site(probe):
    return f'bool {probe.function}_traced() {{ return {probe.macro}_ENABLED(); }}\n'


def range_site(row, mode):
    """All sites of a range in one function. Each site is a case of a few bytes."""
    cases = ''
    for number, probe in enumerate(row.probes, row.first_number):
        call = site(probe, mode).rstrip('\n').splitlines()[-1].split('{ ', 1)[1].rsplit(' }', 1)[0]
        cases += f'    case {number}: {call} break;\n'
    return (
        f'void {row.function}(unsigned number, {parameters(row.probes[0], 1)}) {{\n'
        f'  switch (number) {{\n{cases}  }}\n}}\n'
    )


def enabled_range_site(row):
    tests = ''.join(
        f'    case {number}: return {probe.macro}_ENABLED();\n'
        for number, probe in enumerate(row.probes, row.first_number)
    )
    return (
        f'bool {row.function}_traced(unsigned number) {{\n  switch (number) {{\n'
        f'{tests}    default: return false;\n  }}\n}}\n'
    )


def semaphores(table):
    """Definitions of the half words, in assembler: notes name each part of a word, and C++ cannot name
    them."""

    def define(symbol, size):
        return (
            f'.globl {symbol}\n.hidden {symbol}\n.type {symbol}, %object\n.size {symbol}, {size}\n{symbol}:\n'
        )

    def half(symbol):
        return define(symbol, 2) + '.zero 2\n'

    def word(probe):
        return define(probe.watch, 4) + half(probe.semaphore) + half(probe.inside)

    text = '.pushsection .probes, "aw", %progbits\n'
    strip = table.strip()
    text += f'.balign {LINE_BYTES}\n'  # all in one line of the cache
    for i in range(4 * table.strip_words):
        text += define(ALL_GROUPS, 8 * table.strip_words) if i == 0 else ''
        text += ''.join(define(g.symbol, 8 * g.words) for g in table.groups if g.first == i)
        text += half(strip[i]) if i < len(strip) else '.zero 2\n'
    text += '.balign 8\n'
    text += ''.join(half(p.inside) if table.group_of(p) else '' for p in table.singles) + '.balign 8\n'
    text += ''.join('' if table.group_of(p) else word(p) for p in table.singles)
    for row in table.ranges:
        text += define(row.watches, 4 * len(row.probes)) + ''.join(word(p) for p in row.probes)
    return f'asm(R"(\n{text}.popsection\n)");\n'


RAISING = '''namespace {{

[[maybe_unused]] void add(std::uint16_t* half, unsigned n) {{
  __atomic_fetch_add(half, static_cast<std::uint16_t>(n), __ATOMIC_SEQ_CST);
}}
{table}
[[maybe_unused]] void change(unsigned probe, unsigned n) {{
{change}}}
void change_watch([[maybe_unused]] const char* group, [[maybe_unused]] unsigned n) {{
{change_watch}}}

}}  // namespace

constinit FireInside fire_inside = [](unsigned, unsigned, const std::uint64_t*) {{}};
constinit thread_local std::uint64_t* firing_counts = nullptr;
constinit CountsOfThread counts_of_thread = nullptr;

unsigned inside_count(unsigned probe) {{
{count}}}
void raise_inside(unsigned probe) {{ change(probe, 1); }}
void lower_inside(unsigned probe) {{ change(probe, 0u - 1); }}
void count_inside(unsigned probe) {{ change(probe, kCountingInside); }}
void stop_counting_inside(unsigned probe) {{ change(probe, 0u - kCountingInside); }}

void raise_watch(const char* group) {{ change_watch(group, 1); }}
void lower_watch(const char* group) {{ change_watch(group, 0u - 1); }}
'''


def raising(table, mode):
    """The half words for consumers, by the number of the probe."""
    if mode == 'none':
        return RAISING.format(
            table='',
            count='  (void)probe;\n  return 0;\n',
            change='  (void)probe, (void)n;\n',
            change_watch='',
        )
    if mode == 'dtrace':
        return f'std::uint16_t inside_counts[{len(table.numbered)}];\n' + RAISING.format(
            table='',
            count='  return inside_counts[probe] & kAskingInside;\n',
            change='  add(&inside_counts[probe], n);\n',
            change_watch='',
        )
    rows = ranges = ''
    for p in table.singles:
        group = table.group_of(p)
        rows += f'    {{&{p.inside}, {"&" + group.inside if group else "nullptr"}}},\n'
    first = len(table.singles)
    for r in table.ranges:
        ranges += (
            f'  if (probe - {first}u < {len(r.probes)}u)\n'
            f'    return {{reinterpret_cast<std::uint16_t*>(&{r.watches}[probe - {first}u]) + 1, nullptr}};\n'
        )
        first += len(r.probes)
    halves = (
        f'struct Halves {{\n  std::uint16_t *own, *of_group;\n}};\nconst Halves kHalves[] = {{\n{rows}}};\n'
        f'Halves halves(unsigned probe) {{\n{ranges}  return kHalves[probe];\n}}\n'
    )
    watches = ''.join(
        f'  if (std::strcmp(group, "{g.name}") == 0) add(&{g.inside}, n);\n' for g in table.groups
    )
    return RAISING.format(
        table=halves,
        count='  return __atomic_load_n(halves(probe).own, __ATOMIC_RELAXED) & kAskingInside;\n',
        change='  const Halves h = halves(probe);\n  add(h.own, n);\n  if (h.of_group) add(h.of_group, n);\n',
        change_watch=watches,
    )


def row_text(probe, name):
    arguments = ', '.join(
        f'{{"{a.name}", "{TYPES[a.kind][0].replace(" *", "*")}", {list(KINDS).index(a.given)}, {a.bytes}}}'
        for a in probe.arguments
    )
    return f'{{{name}, "{probe.family}", {{{arguments}}}}}'


def names(table):
    rows = ''.join(f'      {row_text(p, chr(34) + p.name + chr(34))},\n' for p in table.singles)
    ranges = ''.join(
        f'  for (unsigned i = {r.first_number}; i < {r.first_number + len(r.probes)}; i++) '
        f'table.push_back({row_text(r.probes[0], f"kept({chr(34)}{r.prefix}{chr(34)} + std::to_string(i))")}'
        ');\n'
        for r in table.ranges
    )
    return (
        'namespace {\n\nconst char* kept(std::string name) {\n  static std::deque<std::string> all;\n'
        '  return all.emplace_back(std::move(name)).c_str();\n}\n\n'
        'std::vector<ProbeRow> make_rows() {\n  std::vector<ProbeRow> table = {\n'
        + rows
        + '  };\n'
        + ranges
        + '  return table;\n}\n\n}  // namespace\n\n'
        'const std::vector<ProbeRow>& probe_rows() {\n'
        '  static const std::vector<ProbeRow> rows = make_rows();\n  return rows;\n}\n'
    )


SITE_INSTRUCTION = '''
// In place of the one byte of sys/sdt.h: `nopl 0(%rax,%rax,1)`, the very form that Linux looks for.
#ifdef VMRUN_SITE_NOP5
#undef _SDT_NOP
#define _SDT_NOP .byte 0x0f; .byte 0x1f; .byte 0x44; .byte 0; .byte 0
#endif
'''


def sites(table, mode, provider_header):
    text = (
        '// Made from probes.tab.\n#include <cstring>\n#include <deque>\n#include <string>\n\n'
        '#include "probes/inside.hpp"\n#include "probes/probe_notes.hpp"\n#include "probes/probes.hpp"\n'
        '#include "probes/sites.hpp"\n'
    )
    body = tests = ''
    if mode != 'none':
        # The header declares each semaphore anew, with the section that the assembly below puts it in.
        text += (
            '#pragma GCC diagnostic push\n'
            '#ifdef __clang__\n#pragma GCC diagnostic ignored "-Wsection"\n#endif\n'
            f'#include "{provider_header}"\n#pragma GCC diagnostic pop\n'
        )
    if mode == 'usdt':
        text += SITE_INSTRUCTION
        body = '\n'.join([site(p, mode) for p in table.singles] + [range_site(r, mode) for r in table.ranges])
    if mode == 'dtrace':
        tests = '\n'.join(
            [enabled_site(p) for p in table.singles] + [enabled_range_site(r) for r in table.ranges]
        )
    text += '\n'
    if mode == 'usdt':
        text += semaphores(table)
        for p in table.singles:
            if not table.group_of(p):
                text += f'extern "C" [[gnu::visibility("hidden")]] uint16_t {p.inside};\n'
        for g in table.groups:
            text += f'extern "C" [[gnu::visibility("hidden")]] uint16_t {g.inside};\n'
    return (
        text
        + '\nnamespace vmrun::probe::site {\n\n'
        + body
        + '\n}  // namespace vmrun::probe::site\n'
        + '\nnamespace vmrun::probe {\n\n'
        + tests
        + '\n'
        + raising(table, mode)
        + '\n'
        + names(table)
        + '\n}  // namespace vmrun::probe\n'
    )


def markdown(table):
    text = []
    firsts = {id(r.probes[0]): r for r in table.ranges}
    shown = table.singles + [r.probes[0] for r in table.ranges]
    for family, about in table.families:
        text.append(f'## {family}: {about}\n')
        for p in [p for p in table.probes if p.family == family and p in shown]:
            many = firsts.get(id(p))
            last = many.probes[-1] if many else None
            text.append(f'### {p.d_name}' + (f' … {last.d_name}' if many else '') + '\n')
            text.append(
                f'`erlang:{p.name}`'
                + (f' … `erlang:{last.name}`' if many else '')
                + f', {p.stability}. Fires {p.when}\n'
            )
            text.append('| argument | type | unit | meaning |\n|---|---|---|---|')
            for i, a in enumerate(p.arguments):
                kind = TYPES[a.kind][0].replace(' *', ' \\*')
                text.append(f'| arg{i} {a.name} | {kind} | {a.unit} | {a.meaning} |')
            text.append('')
    return '\n'.join(text).rstrip() + '\n'


def main(argv):
    table, what, out = parse(argv[1]), argv[2], argv[-1]
    text = {
        'provider': lambda: provider(table),
        'header': lambda: header(table, argv[3]),
        'site-header': lambda: site_header(table, argv[3]),
        'sites': lambda: sites(table, argv[3], argv[4]),
        'fire-header': lambda: fire_header(table, argv[3]),
        'fire-source': lambda: fire_source(table, argv[3]),
        'markdown': lambda: markdown(table),
    }[what]()
    if out == '-':
        sys.stdout.write(text)
    else:
        with open(out, 'w', encoding='utf-8') as file:
            file.write(text)


if __name__ == '__main__':
    main(sys.argv)
