# SPDX-License-Identifier: Apache-2.0
"""The families of probes, out of the table of probes, and where a tracer without knowledge of probe notes
finds them."""
import dataclasses
import functools
import re
import struct
import subprocess
import sys

from . import ROOT


@dataclasses.dataclass(frozen=True)
class Probe:
    name: str  # as in the note: message__send
    is_text: bool  # whether tracers get its first argument as a text

    @property
    def dashed(self):
        return self.name.replace('__', '-')


@dataclasses.dataclass(frozen=True)
class Family:
    name: str
    text: str
    probes: tuple


@functools.cache
def table():
    sys.path.insert(0, str(ROOT / 'probes'))
    import gen_probes

    return gen_probes.parse(ROOT / 'probes' / 'probes.tab')


@functools.cache
def families():
    """All families by name. Of a range of numbered probes only the first is there: the others do the same."""
    numbered = {probe.name for r in table().ranges for probe in r.probes[1:]}
    found = {}
    for name, text in table().families:
        probes = [p for p in table().probes if p.family == name and p.name not in numbered]
        found[name] = Family(
            name, text, tuple(Probe(p.name, p.arguments[0].kind == 'string') for p in probes)
        )
    return found


@functools.cache
def everything():
    return Family(
        'all', 'all of them', tuple(probe for family in families().values() for probe in family.probes)
    )


def family(name):
    return everything() if name == 'all' else families()[name]


def loaded_segments(program):
    """(address, offset in the file, bytes in the file) of the parts that are loaded, from the program headers
    of its ELF."""
    with open(program, 'rb') as file:
        header = file.read(64)
        (at,) = struct.unpack_from('<Q', header, 32)
        size, count = struct.unpack_from('<HH', header, 54)
        file.seek(at)
        headers = [struct.unpack('<IIQQQQQQ', file.read(size)[:56]) for _ in range(count)]
    return [
        (address, offset, bytes_in_file)
        for kind, _, offset, address, _, bytes_in_file, _, _ in headers
        if kind == 1
    ]


def offsets(program):
    """{probe: (offset of its site, offset of its semaphore)} in the file, from its notes: what the kernel
    wants for a uprobe."""
    segments = loaded_segments(program)

    def in_file(address):
        for start, offset, size in segments:
            if start <= address < start + size:
                return address - start + offset
        raise ValueError(f'{program}: address {address:#x} is in no loaded part')

    notes = subprocess.run(['readelf', '-nW', program], capture_output=True, text=True, check=True).stdout
    sites = {}
    for name, site, semaphore in re.findall(
        r'Name: (\w+)\n\s+Location: (0x\w+),.*?Semaphore: (0x\w+)', notes
    ):
        sites.setdefault(name, (in_file(int(site, 16)), in_file(int(semaphore, 16))))
    return sites


def semaphore_addresses(program):
    """Where the semaphores lie in the program's address space, by the probe's name, from its notes."""
    notes = subprocess.run(['readelf', '-nW', program], capture_output=True, text=True, check=True).stdout
    return {name: int(at, 16) for name, at in re.findall(r'Name: (\w+)\n.*?Semaphore: (0x[0-9a-f]+)', notes)}
