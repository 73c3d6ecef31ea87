#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes atoms_generated.hpp (names with indexes) from atoms.tab. Usage: gen_atoms.py atoms.tab out.hpp"""
import sys


def rows(path):
    seen = set()
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        name, _, text = line.partition(" ")
        text = text.strip() or name
        text = "" if text == "<empty>" else text
        if name in seen or ("text", text) in seen:
            sys.exit(f"{path}:{number}: '{line}' is listed twice")
        seen |= {name, ("text", text)}
        yield name, text


def main(tab, out):
    table = sorted(rows(tab), key=lambda row: row[1])  # in the order of OTP's own table
    with open(out, "w", encoding="utf-8") as f:
        f.write("// Made by gen_atoms.py from atoms.tab.\n#pragma once\nnamespace vmrun::atoms {\n")
        for index, (name, _) in enumerate(table):
            f.write(f"inline constexpr Term {name} = Term::atom({index});\n")
        f.write(f"inline constexpr std::size_t kWellKnownCount = {len(table)};\n")
        f.write("inline constexpr const char* kWellKnownTexts[] = {\n")
        for _, text in table:
            f.write('    "%s",\n' % text.replace("\\", "\\\\").replace('"', '\\"'))
        f.write("};\n}  // namespace vmrun::atoms\n")


main(*sys.argv[1:3])
