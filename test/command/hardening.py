"""What keeps a fault from becoming somebody else's code, read from the programs: nothing can be written and executed, and what the
loader has relocated is read-only."""
import re
import subprocess

from harness.results import Failure, Test

PROGRAMS = ('vmrun', 'vmtrace', 'runtime/compile/vmrunc')


def readelf(option, program):
    return subprocess.run(['readelf', option, program], capture_output=True, text=True, check=True).stdout


def lacking(program):
    dynamic, segments, header = readelf('-dW', program), readelf('-lW', program), readelf('-hW', program)
    flags = dict(re.findall(r'^  (LOAD|GNU_STACK|GNU_RELRO) .*? 0x\w+ ([R ][W ][E ]) 0x\w+$', segments, re.M))
    loaded = re.findall(r'^  LOAD .*? 0x\w+ ([R ][W ][E ]) 0x\w+$', segments, re.M)
    wanted = {'a position-independent executable': 'DYN' in header,
              'immediate binding (BIND_NOW)': re.search(r'\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b', dynamic),
              'relocations that are read-only (GNU_RELRO)': flags.get('GNU_RELRO', '').strip() == 'R',
              'a stack that is not executed (GNU_STACK)': flags.get('GNU_STACK', '').strip() == 'RW',
              'no segment that is written and executed': loaded and not any('W' in f and 'E' in f for f in loaded),
              'no relocations of code (TEXTREL)': 'TEXTREL' not in dynamic}
    return [what for what, is_there in wanted.items() if not is_there]


def tests(build, vmrun):
    def check(program):
        if missing := lacking(program):
            raise Failure(f'{program} lacks ' + ', '.join(missing))
    return [Test('command', f'{name} is hardened', lambda name=name: check(vmrun if name == 'vmrun' else build / name)) for name in PROGRAMS]
