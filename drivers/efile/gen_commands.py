#!/usr/bin/env python3
"""Makes code from the table of the file driver's commands. Usage: gen_commands.py commands.tab OUT.inc
OUT.hrl

OUT.inc: COMMAND(constant, name, number, level, needs, flushes, rewinds, function) for each. OUT.hrl:
prim_file's definitions.
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


def main(tab, inc, hrl):
    rows = parse(tab)
    with open(inc, "w", encoding="utf-8") as f:
        f.write("// Made by gen_commands.py from commands.tab.\n")
        for name, code, level, needs, flushes, rewinds, function in rows:
            f.write(
                f'COMMAND({constant(name)}, "{name}", {code}, {level}, kNeeds{needs.capitalize()}, '
                f"{str(flushes).lower()}, {str(rewinds).lower()}, {function})\n"
            )
    with open(hrl, "w", encoding="utf-8") as f:
        f.write("%% Made by gen_commands.py from commands.tab.\n")
        for name, code, *_ in rows:
            f.write(f"-define({name}, {code}).\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
