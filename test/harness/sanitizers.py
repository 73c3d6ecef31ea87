# SPDX-License-Identifier: Apache-2.0
"""What is different in a build with sanitizers, for tests that cannot run with one."""
import functools
import pathlib
import re

from .results import Skip


@functools.cache
def sanitizer(program):
    """Returns the sanitizer of the build: 'address', 'thread' or None."""
    found = re.search(rb'__([at])san_init', pathlib.Path(program).read_bytes())
    return found and {b'a': 'address', b't': 'thread'}[found[1]]


def need_its_own_memory(program):
    """Raises Skip where most of the memory that a program takes is a sanitizer's."""
    if sanitizer(program):
        raise Skip(
            f'the {sanitizer(program)} sanitizer brings an allocator of its own, and keeps what is freed'
        )


@functools.cache
def processor(program):
    """The number of the processor that the program is for (e_machine); an emulator may run it."""
    with open(program, 'rb') as file:
        header = file.read(20)  # e_machine stands at 18
    return int.from_bytes(header[18:20], 'little') if header[:4] == b'\x7fELF' else 0


X86_64, ARM64 = 62, 183


def runs_on_x86_64(program):
    return processor(program) == X86_64


def need_machine_code(program):
    """Raises Skip where vm/jit makes no machine code. Anywhere else, missing machine code is a failure."""
    if processor(program) not in (X86_64, ARM64):
        raise Skip('machine code is made for x86-64 and 64-bit ARM')


def need_signals_at_once(program):
    """Raises Skip where a working thread is not interrupted by a signal, because vmtrace -p opens the
    machine's endpoint by a signal."""
    if sanitizer(program) == 'thread':
        raise Skip('the thread sanitizer keeps a signal back from a thread that sleeps until that is awake')
