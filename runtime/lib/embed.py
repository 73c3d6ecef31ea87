#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the C++ file that carries compiled library modules. Usage: embed.py OUT.cpp MODULE.beam...

The bytes come in by the assembler's .incbin. Each file's digest stands in the output, so that a changed
module changes the file and the build system compiles it again.
"""
import hashlib
import os
import sys


def main(out, *beams):
    modules = sorted((os.path.splitext(os.path.basename(path))[0], os.path.abspath(path)) for path in beams)
    with open(out, "w", encoding="utf-8") as f:
        f.write('// Made by embed.py.\n#include "runtime/lib/embedded.hpp"\n\n')
        for index, (name, path) in enumerate(modules):
            digest = hashlib.sha256(open(path, "rb").read()).hexdigest()
            f.write(f"// {name} {digest}\n")
            f.write(
                f'asm(".section .rodata\\n.balign 16\\n.hidden vmrun_lib_{index}\\n.global '
                f'vmrun_lib_{index}\\n'
                f'vmrun_lib_{index}:\\n.incbin \\"{path}\\"\\n.hidden vmrun_lib_{index}_end\\n'
                f'.global vmrun_lib_{index}_end\\nvmrun_lib_{index}_end:\\n.byte 0\\n.previous\\n");\n'
            )
            f.write(f'extern "C" const std::uint8_t vmrun_lib_{index}[], vmrun_lib_{index}_end[];\n')
        f.write("\nnamespace vmrun {\nconst EmbeddedModule kEmbeddedModules[] = {\n")
        for index, (name, _) in enumerate(modules):
            f.write(f'    {{"{name}", vmrun_lib_{index}, vmrun_lib_{index}_end}},\n')
        f.write("    {nullptr, nullptr, nullptr}};\n")
        f.write(f"const std::size_t kEmbeddedModuleCount = {len(modules)};\n}}  // namespace vmrun\n")


main(*sys.argv[1:])
