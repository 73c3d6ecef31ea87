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


class Table:
    def __init__(self):
        self.families, self.probes = [], []  # families: (name, text)


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
//   bool probe::NAME_enabled()   whether anyone looks: one load and a branch predicted not taken
//   void probe::NAME(arguments)  fires it; all sites of a probe pass through this one function
//
// and a firing point reads `if (probe::x_enabled()) [[unlikely]] { format arguments; probe::x(...); }`: strings are
// made on the stack of the firing thread and only when someone looks. Any thread may call both. Nothing here allocates
// or blocks. Meaning, units and order of the arguments: docs/probes.md.
#pragma once

#include <cstdint>

'''

HEADER_TEXT = {
    'usdt': ('''// One semaphore per probe; tracers raise it while they are attached.
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
            f'  return __builtin_expect(*static_cast<const volatile uint16_t*>(&{probe.semaphore}), 0);\n}}\n' + fire)


def header(table, mode):
    semaphores = ''.join(f'extern "C" [[gnu::visibility("hidden")]] uint16_t {p.semaphore};\n' for p in table.probes)
    functions = '\n'.join(header_functions(p, mode) for p in table.probes)
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


def names(table):
    rows = ''.join('    {"%s", "%s", {%s}},\n' % (
        p.name, p.family, ', '.join(f'{{"{a.name}", "{TYPES[a.kind][0].replace(" *", "*")}"}}' for a in p.arguments))
        for p in table.probes)
    return ('namespace {\n\nconst std::vector<ProbeRow>& rows() {\n  static const std::vector<ProbeRow> table = {\n'
            + rows + '  };\n  return table;\n}\n\n}  // namespace\n\n'
            'const std::vector<ProbeRow>& probe_rows() { return rows(); }\n')


def sites(table, mode, provider_header):
    text = '// Made from probes.tab.\n#include "probes/listing.hpp"\n#include "probes/probes.hpp"\n'
    body = ''
    if mode != 'none':
        text += f'#include "{provider_header}"\n'
        body = '\n'.join(site(p, mode) for p in table.probes)
    text += '\n'
    if mode == 'usdt':
        text += 'extern "C" {\n' + ''.join(f'[[gnu::section(".probes"), gnu::used]] uint16_t {p.semaphore} = 0;\n'
                                           for p in table.probes) + '}\n'
    return (text + '\nnamespace vmrun::probe {\n\n' + body + '\n' + names(table) + '\n}  // namespace vmrun::probe\n')


def markdown(table):
    text = []
    for family, about in table.families:
        text.append(f'## {family}: {about}\n')
        for p in [p for p in table.probes if p.family == family]:
            text.append(f'### {p.d_name}\n')
            text.append(f'`erlang:{p.name}`, {p.stability}. Fires {p.when}\n')
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
