#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Expands the machine's own instructions from instructions.tab. Usage: gen_instructions.py instructions.tab
OUTDIR

Writes  instructions_generated.hpp   enumerators
        instruction_tables.cpp      operand layouts, the loader's selection and fusion tables
        instruction_labels.inc       label lists of the dispatch tables (normal, counting returns, traced)
        instruction_bodies.inc       the cases of the interpreter loop

The format is explained at the top of instructions.tab.
"""
import bisect
import fnmatch
import itertools
import re
import sys

# kind: (bytes, C++ expression for reading or assigning, with the byte offset as {o})
KINDS = {
    "x": (2, "VM_X({o})"),
    "y": (2, "VM_Y({o})"),
    "k": (4, "VM_K({o})"),
    "c": (8, "VM_C({o})"),
    "i": (4, "VM_I({o})"),
    "S": (8, "VM_ANY_SOURCE({o})"),
    "D": (2, "VM_ANY_DEST({o})"),
    "l": (2, "VM_FLOAT({o})"),
    "f": (4, "VM_LABEL({o})"),
    "u": (2, "VM_U({o})"),
    "q": (4, "VM_Q({o})"),
    "w": (8, "VM_W({o})"),
}
NAMED = "xykciSDl"  # letters that go into an instruction's name


# Copies of an instruction: normal, counting returns, traced.
COPIES = {"L": "kNormal", "C": "kCounting", "T": "kTraced"}


# Bodies that leave the interpreter so that the whole instruction begins again.
BEGINS_AGAIN = r"VM_(YIELD_HERE|LEAVE_FOR_ELSEWHERE)\b"

# Flags of InstructionRow that probes of functions by name have to find.
HOOK_FLAGS = {"again": "again"}


def is_in(hook, copy):
    return copy == "T" or (copy == "C" and hook.startswith("@counted"))


class Family:
    def __init__(self, name, operands, flags, body, line):
        self.name, self.operands, self.flags, self.body, self.line = name, operands, flags, body, line

    def written(self):
        """A bit for each operand that the body assigns to."""
        assigned = r"\$%s(?:\s*=(?!=)|\)\s*;)"  # or hands to a macro that does, as the last argument
        return sum(
            1 << n
            for n, (name, kinds) in enumerate(self.operands)
            if set(kinds) & set("xyDl") and re.search(assigned % name, self.macros_only())
        )

    def live(self):
        """The bit of the operand that says how many x registers are live, if there is one."""
        return sum(1 << n for n, (name, _) in enumerate(self.operands) if name == "live")

    def macros_only(self):
        """The body without calls whose last argument is only read."""
        return re.sub(r"(?<!VM_ARITH)(?<!VM_FLOAT_ARITH)(?<!VM_SLOW_ABS)\(([^();]*)\)\s*;", ";", self.body)

    def read(self):
        """A bit for each operand that the body uses in another way."""
        return sum(
            1 << n
            for n, (name, _) in enumerate(self.operands)
            if not self.written() >> n & 1 or re.search(r"= \$%s;" % name, self.body)
        )


class Instruction:
    """One specialised instruction: parts are (family, kinds); more than one when fused."""

    def __init__(self, parts):
        self.parts = parts
        names = []
        for family, kinds in parts:
            letters = "".join(k for k in kinds if k in NAMED)
            names.append(family.name + ("_" + letters if letters else ""))
        self.name = "__".join(names)
        self.layout()

    def layout(self):
        used, self.fields, self.has_list = {0, 1}, [], False
        self.list_field = None
        for family, kinds in self.parts:
            for kind in kinds:
                if kind == "*":
                    self.has_list = True
                    kind = "q"
                size = KINDS[kind][0]
                at = 0
                while any(b in used for b in range(at, at + size)):
                    at += size
                used |= set(range(at, at + size))
                self.fields.append(at)
        self.words = max(used) // 8 + 1
        if "entry" in self.parts[-1][0].flags:  # that word belongs to the next instruction
            if self.has_list:
                raise SystemExit(f"{self.name}: no word for an entry behind a list")
            self.words += 1
        if self.has_list and self.parts[-1][1][-1] != "*":
            raise SystemExit(f"{self.name}: a list must be the last operand")

    @property
    def kinds(self):
        return "".join(k for _, kinds in self.parts for k in kinds)

    @property
    def flags(self):
        return set().union(
            *(family.flags for family, _ in self.parts),
            (HOOK_FLAGS[h] for h in self.hooks if h in HOOK_FLAGS),
        )

    @property
    def hooks(self):
        return {hook for family, _ in self.parts for hook in re.findall(r"@(\w+)", family.body)}

    @property
    def built_in(self):
        """Byte offset of the export of the built-in function that it calls; 0: it calls none."""
        fields = iter(self.fields)
        for family, kinds in self.parts:
            offsets = {name: next(fields) for name, _ in family.operands}
            if re.search(r"@(body_)?bif_entry", family.body):
                return offsets["target"]
        return 0

    @property
    def collects(self):
        """Which part may have a collection on a dirty scheduler, with others before it; else None."""
        parts = [n for n, (family, _) in enumerate(self.parts) if re.search(r"VM_NEED_HERE\b", family.body)]
        if len(parts) > 1 or any(re.search(BEGINS_AGAIN, family.body) for family, _ in self.parts[1:]):
            raise SystemExit(
                f"{self.name}: a part behind others may not have all of it begun again, and only one may "
                "have a collection"
            )
        return parts[0] if parts and parts[0] else None

    def has(self, copy):
        return copy == "L" or any(
            is_in(hook, copy) for family, _ in self.parts for hook in re.findall(r"@\w+", family.body)
        )

    def body(self, copy):
        out, index = [], 0
        tag = f"{copy}_{self.name}"
        for n, (family, kinds) in enumerate(self.parts):
            last = n == len(self.parts) - 1
            names = {}
            for (name, _), kind in zip(family.operands, kinds):
                offset = self.fields[index]
                index += 1
                if kind == "*":
                    names[name] = f"(I + {self.words})"
                    names[name + "_count"] = f"VM_Q({offset})"
                else:
                    names[name] = KINDS[kind][1].format(o=offset)
            length = (
                f"({self.words} + {names[family.operands[-1][0] + '_count']})"
                if self.has_list and last
                else str(self.words)
            )
            names["next"] = f"(I + {length})"
            names["done"] = f"VM_NEXT({length})" if last else f"goto {tag}_{n}"
            text = re.sub(r"\$(\w+)", lambda m: names[m[1]], family.body)
            text = re.sub(
                r"@(\w+)\(([^;]*)\);",
                lambda m: f"VM_TRACE_{m[1].upper()}({m[2]});" if is_in(m[0], copy) else "",
                text,
            )
            if n == self.collects:
                out.append(f"{tag}_collected:")
            out.append("{\n" + text + "\n}")
            if last:
                if "ends" not in family.flags:
                    out.append(f"VM_NEXT({length});")
            elif "$done" in family.body:
                out.append(f"{tag}_{n}:")
        return f"{tag}: " + "\n".join(out) + "\n"


def parse(path):
    families, fusions, header = [], [], None
    for number, raw in enumerate(open(path, encoding="utf-8"), 1):
        line = raw.rstrip()
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] == " ":
            if header is None:
                sys.exit(f"{path}:{number}: body line before any instruction")
            header.body += line + "\n"
            continue
        head, _, flags = line.partition("|")
        words = head.split()
        flags = set(flags.split())
        unknown = flags - {"ends", "raises", "entry"}
        if unknown:
            sys.exit(f"{path}:{number}: unknown flags {unknown}")
        if words[0] == "fuse":
            fusions.append((number, words[1:]))
            header = None
            continue
        operands = []
        for word in words[1:]:
            name, _, kinds = word.partition(":")
            if not kinds or any(k not in KINDS and k != "*" for k in kinds):
                sys.exit(f"{path}:{number}: bad operand {word}")
            operands.append((name, kinds))
        header = Family(words[0], operands, flags, "", number)
        families.append(header)
    return families, fusions


def expand(families):
    table, by_family = {}, {}
    for family in families:
        for kinds in itertools.product(*(k for _, k in family.operands)):
            instruction = Instruction([(family, kinds)])
            if instruction.name in table:
                if table[instruction.name].parts[0][0] is family:
                    sys.exit(f"line {family.line}: {instruction.name} made twice")
                continue  # an earlier, more special block made it already
            table[instruction.name] = instruction
            by_family.setdefault(family.name, []).append(instruction)
    return table, by_family


def fuse(path, table, fusions):
    pairs = {}  # (first, second) -> fused
    for number, patterns in fusions:
        groups = []
        for pattern in patterns:
            names = [n for n in table if "__" not in n and fnmatch.fnmatchcase(n, pattern)]
            if not names:
                sys.exit(f"{path}:{number}: nothing is called {pattern}")
            groups.append(names)
        for names in itertools.product(*groups):
            for upto in range(2, len(names) + 1):
                first, second, whole = "__".join(names[: upto - 1]), names[upto - 1], "__".join(names[:upto])
                if whole not in table:
                    table[whole] = Instruction([table[n].parts[0] for n in names[:upto]])
                pairs[first, second] = whole
    return pairs


def write_header(out, table, by_family):
    f = open(out, "w", encoding="utf-8")
    f.write(
        "// Made by gen_instructions.py from instructions.tab.\n#pragma once\n#include <cstdint>\n"
        "namespace vmrun::op {\n\nenum Op : std::uint16_t {\n"
    )
    for name in table:
        f.write(f"  {name},\n")
    f.write("  kOpCount\n};\n\nenum class Family : std::uint16_t {\n")
    for name in by_family:
        f.write(f"  {name},\n")
    f.write("  kFamilyCount\n};\n\n}  // namespace vmrun::op\n")
    f.close()


def write_tables(out, table, by_family, pairs):
    order = {name: i for i, name in enumerate(table)}
    f = open(out, "w", encoding="utf-8")
    f.write(
        "// Made by gen_instructions.py from instructions.tab.\n#include \"vm/code/instructions.hpp\"\n\n"
        "namespace vmrun::op {\n\n"
    )
    f.write("const InstructionRow kInstructions[kOpCount] = {\n")
    for name, i in table.items():
        flags = " | ".join(sorted(f"InstructionRow::k{flag.capitalize()}" for flag in i.flags)) or "0"
        f.write(
            f'    {{"{name}", "{i.kinds}", {{{", ".join(map(str, i.fields)) or 0}}}, {i.words}, '
            f'{i.built_in}, {flags}}},\n'
        )
    f.write("};\n\nconst std::uint16_t kVariants[] = {\n")
    starts, at = [], 0
    for name, variants in by_family.items():
        starts.append(at)
        f.write("    " + " ".join(f"{order[v.name]}," for v in variants) + f"  // {name}\n")
        at += len(variants)
    starts.append(at)
    f.write("};\nconst std::uint16_t kFamilyStart[] = {" + ", ".join(map(str, starts)) + "};\n")
    f.write("const char* const kFamilyNames[] = {" + ", ".join(f'"{n}"' for n in by_family) + "};\n")
    write_parts(f, table, by_family)
    f.write("\nconst FusionRow kFusions[] = {\n")
    rows = sorted((order[a], order[b], order[c]) for (a, b), c in pairs.items())
    for row in rows:
        f.write("    {%d, %d, %d},\n" % row)
    firsts = [row[0] for row in rows]
    starts = [bisect.bisect_left(firsts, i) for i in range(len(table) + 1)]
    f.write(
        "};\nconst std::uint16_t kFusionStart[] = {"
        + ", ".join(map(str, starts))
        + "};\n\n}  // namespace vmrun::op\n"
    )


def write_parts(f, table, by_family):
    numbers = {name: n for n, name in enumerate(by_family)}
    starts, parts = [0], []
    for i in table.values():
        parts += [(numbers[family.name], len(kinds)) for family, kinds in i.parts]
        starts.append(len(parts))
    f.write("\nconst PartRow kParts[] = {\n")
    for family, operands in parts:
        f.write(f"    {{static_cast<Family>({family}), {operands}}},\n")
    f.write("};\nconst std::uint16_t kPartStart[] = {" + ", ".join(map(str, starts)) + "};\n")
    families = {}
    for i in table.values():
        for family, _ in i.parts:
            families.setdefault(family.name, []).append(family)
    f.write("const OperandUse kOperandUses[] = {\n")
    for name in by_family:
        uses = {(family.read(), family.written(), family.live()) for family in families[name]}
        if len(uses) != 1:
            sys.exit(f"{name}: its forms read or write different operands")
        f.write("    {%d, %d, %d},\n" % uses.pop())
    f.write("};\n")


def main(path, outdir):
    families, fusions = parse(path)
    table, by_family = expand(families)
    pairs = fuse(path, table, fusions)
    if max(i.words for i in table.values()) > 12 or max(len(i.fields) for i in table.values()) > 16:
        sys.exit("an instruction is too long")
    write_header(outdir + "/instructions_generated.hpp", table, by_family)
    write_tables(outdir + "/instruction_tables.cpp", table, by_family, pairs)
    with open(outdir + "/instruction_bodies.inc", "w", encoding="utf-8") as f:
        for i in table.values():
            for copy in COPIES:
                if i.has(copy):
                    f.write(i.body(copy))
    with open(outdir + "/instruction_collected.inc", "w", encoding="utf-8") as f:
        for i in table.values():
            for copy in COPIES if i.collects is not None else []:
                if i.has(copy):
                    f.write(f"if (body == &&{copy}_{i.name}) goto {copy}_{i.name}_collected;\n")
    with open(outdir + "/instruction_labels.inc", "w", encoding="utf-8") as f:
        for copy, name in COPIES.items():
            f.write(f"static const void* const {name}[] = {{\n")
            f.write(
                "".join(f"    &&{copy if i.has(copy) else 'L'}_{n},\n" for n, i in table.items()) + "};\n"
            )


main(*sys.argv[1:3])
