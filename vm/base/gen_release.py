#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes code from the table of what differs by release. Usage: gen_release.py release.tab OUT.hpp
CODE.hpp: what holds for the machine, and what holds for compiled code."""
import sys


class Table:
    """The rows of release.tab. built_ins, removed, relisted: {(module, name, arity): release}."""

    def __init__(self, path):
        self.newest, self.traits, self.code_traits, self.defaults = None, {}, {}, {}
        self.flags, self.built_ins, self.removed, self.relisted = {}, {}, {}, {}
        self.socket_names = {}
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            fields = line.split("#")[0].split()
            try:
                if fields:
                    getattr(self, f"read_{fields[0]}")(*fields[1:])
            except (AttributeError, TypeError, ValueError) as error:
                sys.exit(f"{path}:{number}: bad line '{line.strip()}': {error}")

    def read_newest(self, release, erts):
        self.newest = int(release), erts

    def read_trait(self, name, release, only=None):
        if name in self.traits or only not in (None, "system"):
            raise ValueError("listed twice" if name in self.traits else only)
        self.traits[name] = int(release), only == "system"

    def read_code_trait(self, name, release):
        if name in self.code_traits:
            raise ValueError("listed twice")
        self.code_traits[name] = int(release)

    def read_default(self, kind, name, first, *more):
        if name in self.defaults or len(more) % 2:
            raise ValueError("listed twice" if name in self.defaults else "a release without a value")
        self.defaults[name] = kind, first, list(zip(map(int, more[::2]), more[1::2]))

    def read_flag(self, name, release):
        if name in self.flags:
            raise ValueError("listed twice")
        self.flags[name] = int(release)

    def read_built_in(self, *row):
        enter(self.built_ins, *row)

    def read_removed(self, *row):
        enter(self.removed, *row)

    def read_relisted(self, *row):
        enter(self.relisted, *row)

    def read_socket_name(self, group, name, release, listed=None):
        if (group, name) in self.socket_names or listed not in (None, "listed"):
            raise ValueError("listed twice" if (group, name) in self.socket_names else listed)
        self.socket_names[group, name] = int(release), listed == "listed"


def enter(functions, module, name, arity, release):
    key = module, name, int(arity)
    if key in functions:
        raise ValueError("listed twice")
    functions[key] = int(release)


def camel(name):
    return "k" + name.title().replace("_", "")


def write_header(table, path):
    release, erts = table.newest
    with open(path, "w", encoding="utf-8") as f:
        f.write(
            "// Made by gen_release.py from release.tab.\n#pragma once\n"
            '#include <string_view>\n#include "vm/base/time_offset.hpp"\nnamespace vmrun {\n'
        )
        f.write(f'inline constexpr int kNewestRelease = {release};\n')
        f.write(f'inline constexpr const char* kNewestErts = "{erts}";\n')
        names = ", ".join(map(camel, table.traits))
        f.write(f"enum class Trait : unsigned char {{ {names} }};\n")
        f.write("inline constexpr struct { int since; bool system_only; } kTraits[] = {\n")
        for since, only in table.traits.values():
            f.write(f"    {{{since}, {str(only).lower()}}},\n")
        f.write("};\n")
        f.write("inline constexpr struct { std::string_view name; int since; } kLaterFlags[] = {\n")
        for name, since in table.flags.items():
            f.write(f'    {{"{name}", {since}}},\n')
        f.write("};\n")
        f.write(
            "inline constexpr struct { std::string_view group, name; int since; bool is_listed; } "
            "kLaterSocketNames[] = {\n"
        )
        for (group, name), (since, listed) in table.socket_names.items():
            f.write(f'    {{"{group}", "{name}", {since}, {str(listed).lower()}}},\n')
        f.write("};\n")
        for name, (kind, first, later) in table.defaults.items():
            scope = "" if kind in ("unsigned", "bool") else f"{kind}::"
            chosen = scope + first
            for since, value in later:
                chosen = f"release >= {since} ? {scope}{value} : {chosen}"
            f.write(f"constexpr {kind} default_{name}(int release) {{ return {chosen}; }}\n")
        f.write("}  // namespace vmrun\n")


def write_code_header(table, path):
    with open(path, "w", encoding="utf-8") as f:
        names = ", ".join(map(camel, table.code_traits))
        releases = ", ".join(map(str, table.code_traits.values()))
        f.write(
            "// Made by gen_release.py from release.tab.\n#pragma once\nnamespace vmrun {\n"
            f"enum class CodeTrait : unsigned char {{ {names} }};\n"
            f"inline constexpr int kCodeTraits[] = {{{releases}}};\n"
            "/// Tells whether code that is compiled for a release of OTP is so.\n"
            "constexpr bool code_has(CodeTrait trait, int release) {\n"
            "  return release >= kCodeTraits[static_cast<int>(trait)];\n"
            "}\n}  // namespace vmrun\n"
        )


if __name__ == "__main__":
    made = Table(sys.argv[1])
    write_header(made, sys.argv[2])
    write_code_header(made, sys.argv[3])
