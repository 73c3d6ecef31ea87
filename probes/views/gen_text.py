#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a C++ file with a file's text as a constant. Usage: gen_text.py CONSTANT FILE OUT.cpp"""
import pathlib
import sys

from gen_views import script_literal

if __name__ == '__main__':
    constant, path, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    out.write_text(
        f'// Made by gen_text.py from {path.name}.\n#include <string_view>\n\nnamespace vmrun::d {{\n'
        f'extern const std::string_view {constant};\nconst std::string_view {constant} =\n'
        f'    {script_literal(path.read_text())};\n}}  // namespace vmrun::d\n'
    )
