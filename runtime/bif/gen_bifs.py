#!/usr/bin/env python3
"""Makes the declarations and the registration table of the built-in functions. Usage: gen_bifs.py bif.tab out.hpp out.cpp"""
import re
import sys


def rows(path):
    seen = set()
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        fields = line.split("#")[0].split()
        if not fields:
            continue
        where = f"{path}:{number}"
        if len(fields) < 3 or not fields[2].isdigit():
            sys.exit(f"{where}: expected MODULE NAME ARITY [guard] [= c_name], got '{line.strip()}'")
        module, name, arity = fields[0], fields[1], int(fields[2])
        rest = fields[3:]
        c_name = f"bif_{module}_{name}_{arity}"
        if "=" in rest:
            c_name = rest[rest.index("=") + 1]
            rest = rest[: rest.index("=")]
        unknown = set(rest) - {"guard"}
        if unknown or not re.fullmatch(r"[a-z_0-9A-Z]+", c_name):
            sys.exit(f"{where}: bad flags or C++ name in '{line.strip()}'")
        if (module, name, arity) in seen:
            sys.exit(f"{where}: {module}:{name}/{arity} is listed twice")
        seen.add((module, name, arity))
        yield module, name, arity, "BifRow::kGuard" if "guard" in rest else "0", c_name


def main(tab, header, source):
    table = sorted(rows(tab))
    with open(header, "w", encoding="utf-8") as f:
        f.write("// Made by gen_bifs.py from bif.tab.\n#pragma once\n#include \"vm/bif.hpp\"\nnamespace vmrun {\n")
        for c_name in sorted({row[4] for row in table}):
            f.write(f"Term {c_name}(Process& p, const Term* args);\n")
        f.write("extern const BifRow kBifRows[];\nextern const std::size_t kBifRowCount;\n}  // namespace vmrun\n")
    with open(source, "w", encoding="utf-8") as f:
        f.write("// Made by gen_bifs.py from bif.tab.\n#include \"runtime/bif/bifs_generated.hpp\"\nnamespace vmrun {\nconst BifRow kBifRows[] = {\n")
        for module, name, arity, flags, c_name in table:
            f.write(f'    {{"{module}", "{name}", {arity}, {flags}, {c_name}}},\n')
        f.write("    {nullptr, nullptr, 0, 0, nullptr}};\nconst std::size_t kBifRowCount = sizeof kBifRows / sizeof kBifRows[0] - 1;\n}  // namespace vmrun\n")


main(*sys.argv[1:4])
