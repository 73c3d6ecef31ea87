#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes code from the tables of the file driver. Usage: gen_commands.py commands.tab codes.tab INC HPP HRL

INC: COMMAND(constant, name, number, level, needs, flushes, rewinds, function) for each. HPP: codes of replies
and flags of OPEN. HRL: prim_file's definitions.
"""

import sys

NEEDS = {"nothing", "file", "readable", "writable"}


def parse(path):
    """[(name, number, level, needs, flushes, rewinds, function)], by number."""
    rows = []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        fields = line.split("#")[0].split()
        if not fields:
            continue
        name, code, level, needs, *marks, function = fields
        if (
            needs not in NEEDS
            or set(marks) - {"flushes", "rewinds"}
            or any(int(code) == row[1] for row in rows)
        ):
            sys.exit(f"{path}:{number}: bad row '{line.strip()}'")
        rows.append((name, int(code), int(level), needs, "flushes" in marks, "rewinds" in marks, function))
    return sorted(rows, key=lambda row: row[1])


def constant(name):
    return "k" + "".join(part.capitalize() for part in name.split("_"))


def parse_codes(path):
    """[(kind, name, number)], where kind is REPLY or MODE."""
    lines = [line.split("#")[0].split() for line in open(path, encoding="utf-8")]
    return [(kind, name, int(number)) for kind, name, number in filter(None, lines)]


def main(tab, codes_tab, inc, hpp, hrl):
    rows, codes = parse(tab), parse_codes(codes_tab)
    with open(inc, "w", encoding="utf-8") as f:
        f.write("// Made by gen_commands.py from commands.tab.\n")
        for name, code, level, needs, flushes, rewinds, function in rows:
            f.write(
                f'COMMAND({constant(name)}, "{name}", {code}, {level}, kNeeds{needs.capitalize()}, '
                f"{str(flushes).lower()}, {str(rewinds).lower()}, {function})\n"
            )
    with open(hpp, "w", encoding="utf-8") as f:
        replies = "".join(f" {constant(name)} = {number}," for kind, name, number in codes if kind == "REPLY")
        f.write(
            "// Made by gen_commands.py from codes.tab.\n#pragma once\nnamespace vmrun::efile {\n"
            f"enum class Reply : char {{{replies} }};\n"
        )
        for kind, name, number in codes:
            if kind == "MODE":
                f.write(f"inline constexpr unsigned kMode{constant(name)[1:]} = {number};\n")
        f.write("}\n")
    with open(hrl, "w", encoding="utf-8") as f:
        f.write("%% Made by gen_commands.py from commands.tab and codes.tab.\n")
        for name, code, *_ in rows:
            f.write(f"-define({name}, {code}).\n")
        for kind, name, number in codes:
            f.write(f"-define({kind}_{name}, {number}).\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
