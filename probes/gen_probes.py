#!/usr/bin/env python3
"""Makes everything that depends on the list of probes from probes.tab.

  gen_probes.py TAB provider OUT            the provider file for dtrace -h and -G
  gen_probes.py TAB header MODE OUT         probes.hpp: what firing code includes
  gen_probes.py TAB sites MODE PROVIDER OUT probe_sites.cpp: the one site of each probe, and the table of names
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


class Argument:
    def __init__(self, name, kind, unit, meaning):
        self.name, self.kind, self.unit, self.meaning = name, kind, unit, meaning


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


class Range:
    """Probes PREFIXfirst ... PREFIXlast of one row. Their arguments are the first one's."""

    def __init__(self, prefix, probes):
        self.prefix, self.probes = prefix, probes
        self.first_number = int(probes[0].name[len(prefix):])

    @property
    def function(self):
        return self.prefix.replace('__', '_')

    @property
    def semaphores(self):
        return f'erlang_{self.prefix}_semaphores'


class Table:
    def __init__(self):
        self.families, self.probes = [], []  # families: (name, text); probes: ranges written out
        self.ranges = []
        self.watches = {}                    # name -> names of probes

    @property
    def singles(self):
        """The probes that have a row of their own."""
        in_ranges = {id(p) for r in self.ranges for p in r.probes}
        return [p for p in self.probes if id(p) not in in_ranges]


def parse(path):
    table = Table()
    current = []  # probes the next arg and when lines belong to

    def add(names, stability):
        if stability not in ('stable', 'evolving'):
            raise ValueError(f'unknown stability {stability}')
        current[:] = [Probe(name, table.families[-1][0], stability) for name in names]
        table.probes.extend(current)

    for number, line in enumerate(open(path, encoding='utf-8'), 1):
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
                table.watches[words[1]] = words[2:]
            elif words[0] == 'arg':
                if words[2] not in TYPES:
                    raise ValueError(f'unknown type {words[2]}')
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
    watched = [name for names in table.watches.values() for name in names]
    if len(set(watched)) != len(watched) or not set(watched) <= {p.name for p in table.singles}:
        sys.exit(f'{path}: a watch names what is no probe, or a probe stands in two')


def parameters(probe, style):
    """style 0: C types for the provider, 1: C++ types."""
    return ', '.join((TYPES[a.kind][style] + ' ' + a.name).replace('* ', '*' if style == 0 else '* ')
                     for a in probe.arguments)


def provider(table):
    lines = ['/* Made from probes.tab. */', 'provider erlang {']
    lines += [f'  probe {p.name}({parameters(p, 0)});' for p in table.probes]
    lines += ['};', '']
    common = 'Evolving/Evolving/Common'
    lines += [f'#pragma D attributes {common} provider erlang {part}'
              for part in ('provider', 'module', 'function', 'name', 'args')]
    return '\n'.join(lines) + '\n'


HEADER = '''// Made from probes.tab.
//
// How the machine fires its probes. For each probe NAME there are
//
//   bool probe::NAME_enabled()   whether anyone looks: one comparison with memory and a branch predicted not taken
//   void probe::NAME(arguments)  fires it; all sites of a probe pass through this one function
//   bool probe::X_watched()      whether anyone looks at one of a group of probes that paths taken often share
//
// and a firing point reads `if (probe::x_enabled()) [[unlikely]] { format arguments; probe::x(...); }`: strings are
// made on the stack of the firing thread and only when someone looks. A range of probes has one such pair, which takes
// the number of the probe first. Any thread may call both. Nothing here allocates or blocks. Meaning, units and order of the arguments: docs/probes.md.
#pragma once

#include <cstdint>

'''

HEADER_TEXT = {
    'usdt': ('''// One semaphore per probe; tracers raise it while they are attached. Those of a group lie side by side, to be read
// as whole words. Read plainly: no barrier, and the comparison takes its operand from memory.
{semaphores}
namespace vmrun::probe {{

inline constexpr bool kCompiledIn = true;

{functions}
}}  // namespace vmrun::probe
'''),
    'dtrace': ('''namespace vmrun::probe {{

inline constexpr bool kCompiledIn = true;

{functions}
}}  // namespace vmrun::probe
'''),
    'none': ('''namespace vmrun::probe {{

inline constexpr bool kCompiledIn = false;

{functions}
}}  // namespace vmrun::probe
'''),
}


def header_functions(probe, mode):
    name, types = probe.function, parameters(probe, 1)
    if mode == 'none':
        unnamed = ', '.join(TYPES[a.kind][1] for a in probe.arguments)
        return f'constexpr bool {name}_enabled() {{ return false; }}\ninline void {name}({unnamed}) {{}}\n'
    fire = f'[[gnu::cold, gnu::noinline]] void {name}({types});\n'
    if mode == 'dtrace':  # the platform patches is-enabled tests, so they are sites too and live where the sites are
        return f'bool {name}_enabled();\n' + fire
    return (f'inline bool {name}_enabled() {{\n'
            f'  return __builtin_expect({probe.semaphore} != 0, 0);\n}}\n' + fire)


def watch_words(names):
    return (len(names) + 3) // 4


def watch_function(table, name, mode):
    function = {p.name: p.function for p in table.probes}
    if mode == 'usdt':
        test = ' | '.join(f'erlang_{name}_watch[{i}]' for i in range(watch_words(table.watches[name])))
        return f'inline bool {name}_watched() {{\n  return __builtin_expect(({test}) != 0, 0);\n}}\n'
    test = ' || '.join(function[n] + '_enabled()' for n in table.watches[name])
    return f'{"constexpr" if mode == "none" else "inline"} bool {name}_watched() {{\n  return {test};\n}}\n'


def range_functions(row, mode):
    """The pair of a range, as header_functions for one probe."""
    name, types = row.function, parameters(row.probes[0], 1)
    if mode == 'none':
        unnamed = ', '.join(TYPES[a.kind][1] for a in row.probes[0].arguments)
        return f'constexpr bool {name}_enabled(unsigned) {{ return false; }}\ninline void {name}(unsigned, {unnamed}) {{}}\n'
    fire = f'[[gnu::cold, gnu::noinline]] void {name}(unsigned number, {types});\n'
    if mode == 'dtrace':
        return f'bool {name}_enabled(unsigned number);\n' + fire
    return (f'inline bool {name}_enabled(unsigned number) {{\n'
            f'  return __builtin_expect({row.semaphores}[number - {row.first_number}u] != 0, 0);\n}}\n'
            + fire)


def header(table, mode):
    declare = 'extern "C" [[gnu::visibility("hidden")]]'
    semaphores = ''.join(f'{declare} uint16_t {p.semaphore};\n' for p in table.singles)
    semaphores += ''.join(f'{declare} uint16_t {r.semaphores}[{len(r.probes)}];\n' for r in table.ranges)
    semaphores += ''.join(f'{declare} uint64_t erlang_{name}_watch[{watch_words(names)}];\n'
                          for name, names in table.watches.items())
    functions = '\n'.join([header_functions(p, mode) for p in table.singles] + [range_functions(r, mode) for r in table.ranges] +
                          [watch_function(table, name, mode) for name in table.watches])
    return HEADER + HEADER_TEXT[mode].format(semaphores=semaphores, functions=functions)


def site(probe, mode):
    # The cast is what fixes the width in the note: a consumer sees the same types at every firing point.
    arguments = ', '.join(f'static_cast<{TYPES[a.kind][1]}>({a.name})' for a in probe.arguments)
    if mode == 'dtrace':  # native headers declare char *, not const char *
        arguments = ', '.join(f'const_cast<char*>({a.name})' if a.kind == 'string' else a.name
                              for a in probe.arguments)
    text = ''
    if mode == 'dtrace':
        text += f'bool {probe.function}_enabled() {{ return {probe.macro}_ENABLED(); }}\n'
    return text + f'void {probe.function}({parameters(probe, 1)}) {{ {probe.macro}({arguments}); }}\n'


def range_site(row, mode):
    """All sites of a range in one function: each is a case of a few bytes."""
    cases = ''
    for number, probe in enumerate(row.probes, row.first_number):
        call = site(probe, mode).rstrip('\n').splitlines()[-1].split('{ ', 1)[1].rsplit(' }', 1)[0]
        cases += f'    case {number}: {call} break;\n'
    text = ''
    if mode == 'dtrace':
        tests = ''.join(f'    case {number}: return {probe.macro}_ENABLED();\n'
                        for number, probe in enumerate(row.probes, row.first_number))
        text = f'bool {row.function}_enabled(unsigned number) {{\n  switch (number) {{\n{tests}    default: return false;\n  }}\n}}\n'
    return (text + f'void {row.function}(unsigned number, {parameters(row.probes[0], 1)}) {{\n  switch (number) {{\n{cases}  }}\n}}\n')


def semaphores(table):
    """Their definitions: in the assembler's words, for C++ cannot give the parts of an array names of their own, and notes name each."""
    def define(symbol, size):
        return f'.globl {symbol}\n.hidden {symbol}\n.type {symbol}, %object\n.size {symbol}, {size}\n{symbol}:\n'

    def one(probe):
        return define(probe.semaphore, 2) + '.zero 2\n'

    by_name = {p.name: p for p in table.singles}
    text = '.pushsection .probes, "aw", %progbits\n'
    for name, members in table.watches.items():
        text += '.balign 8\n' + define(f'erlang_{name}_watch', 8 * watch_words(members))
        text += ''.join(one(by_name.pop(n)) for n in members)
    text += '.balign 8\n' + ''.join(one(p) for p in by_name.values())
    for row in table.ranges:
        text += define(row.semaphores, 2 * len(row.probes)) + ''.join(one(p) for p in row.probes)
    return f'asm(R"(\n{text}.popsection\n)");\n'


def row_text(probe, name):
    arguments = ', '.join(f'{{"{a.name}", "{TYPES[a.kind][0].replace(" *", "*")}"}}' for a in probe.arguments)
    return f'{{{name}, "{probe.family}", {{{arguments}}}}}'


def names(table):
    rows = ''.join(f'      {row_text(p, chr(34) + p.name + chr(34))},\n' for p in table.singles)
    ranges = ''.join(f'  for (unsigned i = {r.first_number}; i < {r.first_number + len(r.probes)}; i++) '
                     f'table.push_back({row_text(r.probes[0], f"kept({chr(34)}{r.prefix}{chr(34)} + std::to_string(i))")});\n'
                     for r in table.ranges)
    return ('namespace {\n\nconst char* kept(std::string name) {\n  static std::deque<std::string> all;\n'
            '  return all.emplace_back(std::move(name)).c_str();\n}\n\n'
            'std::vector<ProbeRow> make_rows() {\n  std::vector<ProbeRow> table = {\n'
            + rows + '  };\n' + ranges + '  return table;\n}\n\n}  // namespace\n\n'
            'const std::vector<ProbeRow>& probe_rows() {\n  static const std::vector<ProbeRow> rows = make_rows();\n  return rows;\n}\n')


def sites(table, mode, provider_header):
    text = ('// Made from probes.tab.\n#include <deque>\n#include <string>\n\n'
            '#include "probes/listing.hpp"\n#include "probes/probes.hpp"\n')
    body = ''
    if mode != 'none':
        text += f'#include "{provider_header}"\n'
        body = '\n'.join([site(p, mode) for p in table.singles] + [range_site(r, mode) for r in table.ranges])
    text += '\n'
    if mode == 'usdt':
        text += semaphores(table)
    return (text + '\nnamespace vmrun::probe {\n\n' + body + '\n' + names(table) + '\n}  // namespace vmrun::probe\n')


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
            text.append(f'`erlang:{p.name}`' + (f' … `erlang:{last.name}`' if many else '') + f', {p.stability}. Fires {p.when}\n')
            text.append('| argument | type | unit | meaning |\n|---|---|---|---|')
            for i, a in enumerate(p.arguments):
                kind = TYPES[a.kind][0].replace(' *', ' \\*')
                text.append(f'| arg{i} {a.name} | {kind} | {a.unit} | {a.meaning} |')
            text.append('')
    return '\n'.join(text).rstrip() + '\n'


def main(argv):
    table, what, out = parse(argv[1]), argv[2], argv[-1]
    text = {'provider': lambda: provider(table), 'header': lambda: header(table, argv[3]),
            'sites': lambda: sites(table, argv[3], argv[4]), 'markdown': lambda: markdown(table)}[what]()
    if out == '-':
        sys.stdout.write(text)
    else:
        with open(out, 'w', encoding='utf-8') as file:
            file.write(text)


if __name__ == '__main__':
    main(sys.argv)
