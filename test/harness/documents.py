"""Documents and tracing scripts against the tables they speak of."""
import re
import subprocess
import sys

from . import tracing_scripts
from .results import Failure, Test


def tests(root, vmrun):
    table = probe_table(root)
    return [Test('docs', 'README names the packages', lambda: packages(root)),
            Test('docs', 'docs/probes.md is what the table says', lambda: probe_reference(root, table)),
            Test('docs', 'a range row of the probe table is numbered probes', lambda: range_rows(root)),
            *tracing_scripts.tests(root, table, vmrun)]


def packages(root):
    listed = subprocess.run([root / 'dev', 'packages'], capture_output=True, text=True, check=True).stdout.split()
    readme = (root / 'README.md').read_text()
    missing = [package for package in listed if not re.search(rf'(?<![\w-]){re.escape(package)}(?![\w-])', readme)]
    if missing:
        raise Failure('README.md does not name: ' + ' '.join(missing))


def probe_table(root):
    sys.path.insert(0, str(root / 'probes'))
    import gen_probes
    return gen_probes.parse(root / 'probes' / 'probes.tab')


def probe_reference(root, table):
    import gen_probes
    written = (root / 'docs' / 'probes.md').read_text().split('<!-- table -->\n', 1)[1]
    if written != gen_probes.markdown(table):
        raise Failure('make it anew: python3 probes/gen_probes.py probes/probes.tab markdown -')


def range_rows(root):
    import tempfile

    import gen_probes
    with tempfile.NamedTemporaryFile('w', suffix='.tab') as file:
        file.write('family f : x\nrange user_trace__n 0 950 stable\n  arg pid string pid : p\n  arg i1 int64 - : i\n'
                   '  when called\n')
        file.flush()
        table = gen_probes.parse(file.name)
    names = [p.name for p in table.probes]
    if len(names) != 951 or names[0] != 'user_trace__n0' or names[950] != 'user_trace__n950':
        raise Failure(f'{len(names)} probes, {names[:1]} ... {names[-1:]}')
    text = gen_probes.provider(table)
    if 'probe user_trace__n950(char *pid, int64_t i1);' not in text:
        raise Failure(text[-300:])
