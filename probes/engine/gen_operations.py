#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes operations.hpp and a reference from operations.tab, builtins.tab and subroutines.tab.

  gen_operations.py OPERATIONS BUILTINS SUBROUTINES OUT   the header
  gen_operations.py markdown                              the tables of docs/internals/d-engine.md

The header has the numbers of operations, built-ins and subroutines, and a table of each: what the
verifier checks, what the disassembler prints, what the compiler looks names up in.
"""
import pathlib
import re
import sys

OPERANDS = {
    'd': 'kWritten',
    'r': 'kRead',
    'T': 'kTermWritten',
    't': 'kTermRead',
    'n': 'kNumber',
    '.': 'kNone',
    '#': 'kNumber',
    '@': 'kJump',
    'k': 'kConstant',
    '"': 'kText',
    '$': 'kVariable',
    '&': 'kAggregation',
    '*': 'kAction',
    '?': 'kArgument',
    '%': 'kBuiltin',
    '!': 'kSubroutine',
    '+': 'kFrame',
}


def rows(path):
    with open(path, encoding='utf-8') as file:  # a line that ends in a backslash goes on in the next one
        for line in re.sub(r'\\\n *', '', file.read()).splitlines():
            if line.strip() and not line.startswith('#'):
                head, meaning = line.split(' : ', 1)
                yield head.split(), meaning.strip()


def constant(name):
    return 'k' + ''.join(part[:1].upper() + part[1:] for part in name.split('_'))


def enumeration(name, rows_of):
    return (
        f'enum class {name} : std::uint8_t {{ '
        + ', '.join(constant(row[0][0]) for row in rows_of)
        + f' }};\ninline constexpr unsigned k{name}Count = {len(rows_of)};\n'
    )


def text(meaning):
    return '"' + re.sub(r'(["\\])', r'\\\1', meaning) + '"'


def table(kind, name, entries):
    return (
        f'inline constexpr {kind} {name}[] = {{\n'
        + ''.join(f'    {{{entry}}},\n' for entry in entries)
        + '};\n'
    )


def markdown(folder):
    """The operations, with operands as in the table: d r written and read registers, T t those for terms."""
    folder = pathlib.Path(folder)
    out = ['| number | operation | operands | meaning |', '|---|---|---|---|']
    for number, ((name, operands), meaning) in enumerate(rows(folder / 'operations.tab')):
        meaning = meaning.replace('|', '\\|')
        out.append(f'| {number} | {name} | `{operands}` | {meaning} |')
    return '\n'.join(out) + '\n'


def main():
    if sys.argv[1:] == ['markdown']:
        sys.stdout.write(markdown(pathlib.Path(__file__).parent))
        return
    operations, builtins, subroutines = (list(rows(path)) for path in sys.argv[1:4])
    out = [
        '// Made by gen_operations.py from the tables beside it.\n#pragma once\n\n#include <cstdint>\n\n'
        'namespace vmrun::d {\n\n'
    ]
    out.append(enumeration('Operation', operations))
    out.append(enumeration('Builtin', builtins))
    out.append(enumeration('Subroutine', subroutines))
    out.append(
        '// X(name) for each operation, in order.\n#define VMRUN_D_OPERATIONS(X)'
        + ''.join(f' \\\n  X({constant(row[0][0])})' for row in operations)
        + '\n\n'
    )
    kinds = list(dict.fromkeys(OPERANDS.values()))
    out.append(
        'enum class Operand : std::uint8_t { ' + ', '.join(kinds) + ' };\n'
        'struct OperationInfo {\n  const char* name;\n  Operand operands[4];  // a, b, c, imm\n'
        '  const char* meaning;\n};\n'
    )
    out.append(
        table(
            'OperationInfo',
            'kOperations',
            (
                f'"{name}", {{'
                + ', '.join('Operand::' + OPERANDS[o] for o in operands)
                + '}, '
                + text(meaning)
                for (name, operands), meaning in operations
            ),
        )
    )
    out.append(
        'enum class ValueType : std::uint8_t { kInt32, kUint32, kInt64, kUint64, kString, kPid, kTerm };\n'
        'struct BuiltinInfo {\n  const char* name;\n  ValueType type;\n  bool host;\n'
        '  const char* probes;  // where alone it is there, with commas between; empty: anywhere\n'
        '  const char* meaning;\n};\n'
    )
    out.append(
        table(
            'BuiltinInfo',
            'kBuiltins',
            (
                f'"{name}", ValueType::{constant(kind)}, {"true" if who == "host" else "false"}, '
                f'{text(",".join(probes))}, {text(meaning)}'
                for (name, kind, who, *probes), meaning in builtins
            ),
        )
    )
    out.append(
        'enum class ParameterType : std::uint8_t { kInt, kString, kTerm, kBytes };\n'
        'struct SubroutineInfo {\n  const char* name;\n  ParameterType result;\n  unsigned parameter_count;\n'
        '  ParameterType parameters[3];\n  bool of_term;  // the first one is: tcall, tint\n'
        '  const char* meaning;\n};\n'
    )
    entries = []
    for row, meaning in subroutines:
        name, result = row[:2]
        parameters = row[2].split(',') if len(row) > 2 else []
        of_term = 'true' if parameters[:1] == ['term'] else 'false'
        entries.append(
            f'"{name}", ParameterType::{constant(result)}, {len(parameters)}, {{'
            + ', '.join('ParameterType::' + constant(p) for p in parameters)
            + f'}}, {of_term}, {text(meaning)}'
        )
    out.append(table('SubroutineInfo', 'kSubroutines', entries))
    out.append('\n}  // namespace vmrun::d\n')
    with open(sys.argv[4], 'w', encoding='utf-8') as file:
        file.write(''.join(out))


if __name__ == '__main__':
    main()
