# SPDX-License-Identifier: Apache-2.0
"""Attaches the scripts that watch ports, drivers, files, native functions and programs all at once in the
middle of heavy work."""
import pathlib
import re
import tempfile

from harness import native
from harness.results import Test

from . import session
from .attach import expect

HERE = pathlib.Path(__file__).resolve().parent
# A line that each script must show before the work ends. nif prints only at its end, so it is attached first.
# bpftrace attaches the probes of a script from the last to the first, and keeps what fires meanwhile. So only
# a line of the first probe says that all are attached.
WATCHED = {
    'nif': None,
    'port': r'port-busy port=.*',
    'driver': r'driver-ready_async .* port_name=echo_drv',
    'aio_pool': r'aio_pool-get .*',
    'efile_drv': r'efile_drv-return .* command=12 ok=0 error=2',
    'file-operation': r'.* RENAME /none/old /none/new tag=file[0-9] error=2 .*',
    'seq-trace': r'receive  .*',
    'user_trace': r'user_trace-i4s4 .*',
}
CERTAIN = {  # patterns that all lines of a kind must match
    'efile_drv': {
        r'efile_drv-return .* command=12 .*': r'.* user_tag=file[0-9] command=12 ok=0 error=2',
        r'efile_drv-return .*': r'.* user_tag=file[0-9] .*',
    },
    'file-operation': {
        r'.* RENAME .*': r'.* error=2 .*',
        r'.* (OPEN|WRITE|PREADV|CLOSE|DELETE) .*': r'.* tag=file[0-9] error=0 .*',
    },
    'user_trace': {
        r'user_trace-i4s4 .*': r'.* tag=order (\d+) -\1 0 0',
        r'user_trace-n0 .*': r'.* tag=order \d+ 0 0 0',
    },
    'seq-trace': {r'(send|receive) .*': r'.* label \d\d?, \d+ after \d+.*'},
}


def tests(root, vmrun):
    return [Test('live', 'scripts at a busy machine', lambda: busy(root, vmrun), in_turn=True)]


def shapes(path):
    """Returns patterns of the lines that the probes of a bpftrace script print. A line of two printfs may
    come in halves: bpftrace reads a buffer for each processor, and another's may stand between them."""
    found = []
    for block in re.split(r'^(?=usdt:|BEGIN|END)', path.read_text(), flags=re.M)[1:]:
        parts = re.findall(r'printf\("(.*?)"', block)
        texts = [''.join(parts)] + [part for part in parts[1:] if part.endswith('\\n')]
        for line in '\\n'.join(texts).split('\\n'):
            pattern = re.sub(r'%(?:ll)?[du]', '-?[0-9]+', re.escape(line).replace('%s', '.*'))
            found += [pattern] if line else []
    return found


def busy(root, vmrun):
    session.require_tracer()
    scripts = {name: root / 'scripts/bpftrace' / f'{name}.bt' for name in WATCHED}
    with tempfile.TemporaryDirectory(prefix='vmrun-live-') as folder:
        libraries = native.Libraries(root, folder, pathlib.Path(vmrun).parent).get('own')
        flags = ('+S', '2', '-pa', str(libraries))
        with session.Target(
            vmrun, HERE / 'busy.act', flags, environment={'NATIVE_DIR': str(libraries)}
        ) as target:
            target.line('go')
            target.wait_for('busy')
            tracers = {name: session.Tracer(target.process.pid, path) for name, path in scripts.items()}
            for name, pattern in WATCHED.items():
                while pattern and not re.fullmatch(pattern, tracers[name].output.next() or ''):
                    expect(
                        tracers[name].process.poll() is None,
                        f'{name}.bt ended',
                        *tracers[name].output.seen[-20:],
                    )
            target.line('stop')
            target.wait_for('done')
            target.finish()
            printed = {name: tracer.lines() for name, tracer in tracers.items()}
    for name, lines in printed.items():
        check(name, lines, shapes(scripts[name]))
    for function in ('primes:here/0', 'primes:dirty_cpu/1', 'primes:dirty_io/1'):
        expect(
            any(line.startswith(f'@ns[{function}]') for line in printed['nif']),
            f'nif.bt does not show {function}',
            *printed['nif'],
        )


def check(name, lines, known):
    shape = re.compile('|'.join(known))
    own = {line for line in lines if shape.fullmatch(line)}
    # Maps and histograms come at the end and have other patterns.
    strange = [
        line
        for line in lines
        if line and line not in own and not line.startswith(('Attaching', '@', '[', '('))
    ]
    expect(not strange, f'{name}.bt cannot have printed this', *strange[:5])
    for kind, wanted in CERTAIN.get(name, {}).items():
        of_kind = [line for line in own if re.fullmatch(kind, line)]
        expect(of_kind, f'{name}.bt shows no {kind}', *lines[-20:])
        wrong = [line for line in of_kind if not re.fullmatch(wanted, line)]
        expect(not wrong, f'{name}.bt: {len(wrong)} of {len(of_kind)} lines are wrong', *wrong[:5])
