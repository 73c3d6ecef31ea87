#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes code from the table of built-in functions. Usage: gen_bifs.py WHAT bif.tab OUT...

rows         OUT.hpp OUT.cpp release.tab: declarations, and the registration table
builtins     OUT.inc: rows of compile::Builtin
bif_info     OUT.inc: rows of ir::BifInfo
erl_internal OUT.erl: the module of that name
"""
import os
import re
import sys

MARKS = {
    "auto",
    "guard",
    "inline",
    "safe",
    "bool",
    "swap",
    "never",
    "ref",
    "located",
    "heavy",
    "reason",
    "signals",
    "unlisted",
}
VALUES = {
    "since": r"\d+",
    "inline": "gc",
    "test": r"[A-Z]\w*",
    "long": r"yields|elsewhere|holds",
    "cause": r"[a-z]\w*",
}
OF_ALL = {"guard", "located", "heavy", "long", "cause", "reason", "signals", "unlisted"}
ROW_FLAGS = {"guard": "kGuard", "located": "kLocated", "heavy": "kHeavy", "unlisted": "kUnlisted"}


class Row:
    """A line of bif.tab. has: maps each of its columns to its value, or to an empty string."""

    def __init__(self, where, fields):
        if len(fields) < 3 or not fields[2].isdigit():
            sys.exit(f"{where}: expected MODULE NAME ARITY [columns] [= c_name], got '{' '.join(fields)}'")
        self.module, self.name, self.arity = fields[0], fields[1], int(fields[2])
        columns = fields[3:]
        self.c_name = f"bif_{self.module}_{self.name}_{self.arity}"
        if "=" in columns:
            at = columns.index("=")
            self.c_name = " ".join(columns[at + 1 :])
            columns = columns[:at]
        self.has = {}
        for column in columns:
            key, _, value = column.partition("=")
            good = re.fullmatch(VALUES.get(key, "-"), value) if value else key in MARKS
            if not good or key in self.has:
                sys.exit(f"{where}: bad column '{column}'")
            self.has[key] = value
        if not re.fullmatch(r"\w+", self.c_name):
            sys.exit(f"{where}: bad C++ name '{self.c_name}'")
        of_erlang = self.has.keys() - OF_ALL
        if of_erlang and self.module != "erlang":
            sys.exit(f"{where}: {sorted(of_erlang)} are for functions of module erlang")
        for key, needs in {
            "since": "auto",
            "test": "inline",
            "swap": "test",
            "safe": "inline",
            "bool": "inline",
        }.items():
            if key in self.has and needs not in self.has:
                sys.exit(f"{where}: {key} needs {needs}")

    @property
    def key(self):
        return self.module, self.name, self.arity

    @property
    def built_in(self):
        return self.c_name != "none"


def read_rows(path):
    rows = {}
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        fields = line.split("#")[0].split()
        if not fields:
            continue
        row = Row(f"{path}:{number}", fields)
        if row.key in rows:
            sys.exit(f"{path}:{number}: {row.module}:{row.name}/{row.arity} is listed twice")
        rows[row.key] = row
    return [rows[key] for key in sorted(rows)]


def read_releases(path, rows):
    """By their keys, the releases from which on functions exist that have not always been there, those from
    which on functions are gone, and those from which on system_info(snifs) says the contrary of the column
    unlisted."""
    sys.path.insert(0, os.path.dirname(path))
    sys.dont_write_bytecode = True
    from gen_release import Table

    table = Table(path)
    known = table.built_ins | table.removed | table.relisted
    for module, name, arity in known.keys() - {row.key for row in rows}:
        sys.exit(f"{path}: bif.tab has no {module}:{name}/{arity}")
    return table.built_ins, table.removed, table.relisted


def write_rows(rows, header, source, release_tab):
    rows = [row for row in rows if row.built_in]
    since, removed, relisted = read_releases(release_tab, rows)
    with open(header, "w", encoding="utf-8") as f:
        f.write(
            "// Made by gen_bifs.py from bif.tab.\n#pragma once\n#include \"vm/process/bif.hpp\"\n"
            "namespace vmrun {\n"
        )
        for c_name in sorted({row.c_name for row in rows}):
            f.write(f"Term {c_name}(Process& p, const Term* args);\n")
        for cause in sorted({row.has["cause"] for row in rows if "cause" in row.has}):
            f.write(f"Term {cause}(Process& p, unsigned arity, const Term* args);\n")
        f.write(
            "extern const BifRow kBifRows[];\nextern const std::size_t kBifRowCount;\n}  // namespace vmrun\n"
        )
    with open(source, "w", encoding="utf-8") as f:
        f.write(
            "// Made by gen_bifs.py from bif.tab.\n#include \"runtime/bif/bifs_generated.hpp\"\n"
            "#include \"runtime/bif/or_reason.hpp\"\n#include \"vm/process/bif.hpp\"\n"
            "namespace vmrun {\n"
        )
        f.write("const BifRow kBifRows[] = {\n")
        for row in rows:
            flags = (
                " | ".join(f"BifRow::{flag}" for column, flag in ROW_FLAGS.items() if column in row.has)
                or "0"
            )
            function = f"gives_reason<{row.c_name}>" if "reason" in row.has else row.c_name
            if "signals" in row.has:
                function = f"waits_when_sent<{function}>"
            cause = row.has.get("cause", "nullptr")
            removed_in = removed.get(row.key, "BifRow::kNever")
            f.write(
                f'    {{"{row.module}", "{row.name}", {row.arity}, {flags}, {since.get(row.key, 0)}, '
                f'{removed_in}, {relisted.get(row.key, "BifRow::kNever")}, {function}, {cause}}},\n'
            )
        f.write(
            "    {nullptr, nullptr, 0, 0, 0, 0, 0, nullptr, nullptr}};\n"
            "const std::size_t kBifRowCount = sizeof kBifRows / sizeof kBifRows[0] - 1;\n"
            "}  // namespace vmrun\n"
        )


def initializer(row, marks, more=""):
    return (
        f'{{.name = "{row.name}", .arity = {row.arity}'
        + "".join(f", .{name} = true" for name, true in marks.items() if true)
        + more
        + "},\n"
    )


def write_builtins(rows, out):
    rows = [row for row in rows if row.module == "erlang"]
    with open(out, "w", encoding="utf-8") as f:
        f.write("// Made by gen_bifs.py from bif.tab: rows of compile::Builtin.\n")
        for row in rows:
            auto, guard = "auto" in row.has, "guard" in row.has
            if auto or guard:
                f.write(initializer(row, {"auto_imported": auto, "guard": guard}))


def write_bif_info(rows, out):
    rows = [row for row in rows if row.module == "erlang"]
    with open(out, "w", encoding="utf-8") as f:
        f.write("// Made by gen_bifs.py from bif.tab: rows of ir::BifInfo.\n")
        for row in rows:
            marks = {
                "inlined": "inline" in row.has,
                "gc": row.has.get("inline") == "gc",
                "safe": "safe" in row.has,
                "boolean": "bool" in row.has,
                "swap": "swap" in row.has,
                "never_returns": "never" in row.has,
                "makes_reference": "ref" in row.has,
            }
            if any(marks.values()):
                test = (
                    f", .test = static_cast<std::int8_t>(Test::k{row.has['test']})"
                    if "test" in row.has
                    else ""
                )
                f.write(initializer(row, marks, test))


def write_erl_internal(rows, out):
    rows = [row for row in rows if row.module == "erlang"]

    def is_operator(row):
        return not row.name[0].isalpha() or ("guard" in row.has and "auto" not in row.has)

    def operator_type(row):
        if row.name in ("++", "--"):
            return "list"
        if row.name == "!":
            return "send"
        return "comp" if "test" in row.has else "bool" if "bool" in row.has else "arith"

    def is_type_test(row):
        return row.name.startswith("is_") and row.name != "is_map_key"

    operators = [row for row in rows if is_operator(row)]

    def clause(name, row, value="true"):
        quoted = f"'{row.name}'" if row in operators else row.name
        return f"{name}({quoted}, {row.arity}) -> {value};\n"

    def predicate(name, chosen):
        return (
            f"{name}(Name, Arity) when is_atom(Name), is_integer(Arity) -> is_{name}(Name, Arity).\n\n"
            + "".join(clause(f"is_{name}", row) for row in chosen)
            + f"is_{name}(_, _) -> false.\n\n"
        )

    named = [row for row in rows if "auto" in row.has]
    kinds = ["arith", "bool", "comp", "list", "send"]
    with open(out, "w", encoding="utf-8") as f:
        f.write(
            "%% Made by gen_bifs.py from bif.tab: what the compiler knows of the functions of module "
            "erlang.\n"
            "-module(erl_internal).\n\n-export([bif/2, bif/3, old_bif/2, guard_bif/2, op_type/2]).\n"
            "-export([type_test/2, new_type_test/2, old_type_test/2, is_type/2, "
            "add_predefined_functions/1]).\n"
            "-export([" + ", ".join(f"{kind}_op/2" for kind in kinds) + "]).\n\n"
            "%% Called without the name of its module.\n"
            "bif(erlang, Name, Arity) -> bif(Name, Arity);\nbif(_, _, _) -> false.\n\n"
        )
        f.write(predicate("bif", named))
        f.write(
            "%% So already before R14.\n"
            + predicate("old_bif", [row for row in named if "since" not in row.has])
        )
        f.write(predicate("guard_bif", [row for row in named if "guard" in row.has]))
        f.write(
            predicate("new_type_test", [row for row in named if "guard" in row.has and is_type_test(row)])
        )
        f.write(
            "type_test(Name, Arity) -> new_type_test(Name, Arity) orelse old_type_test(Name, Arity).\n\n"
            "old_type_test(Name, Arity) -> erl_predefined:old_type_test(Name, Arity).\n\n"
            "is_type(Name, Arity) -> erl_predefined:type(Name, Arity).\n\n"
            "add_predefined_functions(Forms) -> Forms ++ erl_predefined:functions(Forms).\n\n"
        )
        f.write("%% What kind of operator it is; fails if it is none.\n")
        f.write("".join(clause("op_type", row, operator_type(row)) for row in operators)[:-2] + ".\n")
        for kind in kinds:
            f.write(
                "\n"
                + "".join(clause(f"{kind}_op", row) for row in operators if operator_type(row) == kind)
                + f"{kind}_op(Name, Arity) when is_atom(Name), is_integer(Arity) -> false.\n"
            )


def main(what, tab, *outputs):
    writers = {
        "rows": write_rows,
        "builtins": write_builtins,
        "bif_info": write_bif_info,
        "erl_internal": write_erl_internal,
    }
    writers[what](read_rows(tab), *outputs)


main(*sys.argv[1:])
