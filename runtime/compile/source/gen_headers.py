# SPDX-License-Identifier: Apache-2.0
"""Embeds header files in C++: gen_headers.py OUT.cpp NAME=FILE… makes find_known_header of
known_headers.hpp."""
import sys


def literal(text):
    assert ')hrl"' not in text
    return 'R"hrl(' + text + ')hrl"'


def main(out, *headers):
    rows = []
    for header in headers:
        name, path = header.split("=", 1)
        with open(path, encoding="utf-8") as file:
            rows.append('    {"%s", %s},\n' % (name, literal(file.read())))
    with open(out, "w", encoding="utf-8") as file:
        file.write(
            '#include "runtime/compile/source/known_headers.hpp"\n\n'
            "namespace vmrun::compile {\nnamespace {\n\n"
            "struct KnownHeader {\n  std::string_view name, text;\n};\n\n"
            "constexpr KnownHeader kKnownHeaders[] = {\n" + "".join(rows) + "};\n\n}  // namespace\n\n"
            "std::string_view find_known_header(std::string_view name) {\n"
            "  for (const KnownHeader& header : kKnownHeaders)\n"
            "    if (header.name == name) return header.text;\n"
            "  return {};\n}\n\n}  // namespace vmrun::compile\n"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
