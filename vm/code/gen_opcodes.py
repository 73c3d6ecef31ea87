#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the table of generic instructions from opcodes.tab. Usage: gen_opcodes.py opcodes.tab out.hpp"""
import re
import sys


def rows(path):
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.startswith("#") or not line.strip():
            continue
        m = re.fullmatch(r"(\d+) (\w+) (\S+) : (.*)", line.strip())
        if not m:
            sys.exit(f"{path}:{number}: expected NUMBER NAME SIGNATURE : meaning, got '{line.strip()}'")
        signature = "" if m[3] == "-" else m[3]
        yield int(m[1]), m[2], signature, m[4]


def main(tab, out):
    table = list(rows(tab))
    if [r[0] for r in table] != list(range(1, len(table) + 1)):
        sys.exit(f"{tab}: numbers must run from 1 without gaps")
    with open(out, "w", encoding="utf-8") as f:
        f.write(
            "// Made by gen_opcodes.py from opcodes.tab.\n#pragma once\n#include <cstdint>\n"
            "#include <string_view>\nnamespace vmrun::generic {\n\n"
        )
        f.write("enum Opcode : std::uint8_t {\n")
        for number, name, _, _ in table:
            f.write(f"  k_{name} = {number},\n")
        f.write(
            "};\n\nstruct OpcodeRow {\n  const char* name;\n"
            "  std::string_view signature;  // a letter per operand, see opcodes.tab\n"
            "  bool old;               // no compiler since OTP 22 writes it\n};\n"
        )
        f.write(f"inline constexpr unsigned kOpcodeCount = {len(table) + 1};\n")
        f.write("inline constexpr OpcodeRow kOpcodes[kOpcodeCount] = {\n    {nullptr, {}, true},\n")
        for _, name, signature, meaning in table:
            f.write(f'    {{"{name}", "{signature}", {"true" if meaning == "old" else "false"}}},\n')
        f.write("};\n\n}  // namespace vmrun::generic\n")


main(*sys.argv[1:3])
