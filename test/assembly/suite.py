# SPDX-License-Identifier: Apache-2.0
"""The assembly that `vmrun -S` prints, before the validator of a stock OTP and through `erlc +from_asm`. The
validator follows every way through the code and asks that each register read has been written, that each
stack slot is initialised where a collection may look, that no live count is too large: a rejection is a fault
of our compiler, or of what it prints."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import tempfile

from harness.results import Failure, Skip, Test

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE_S = 600


def tests(root, build, vmrun):
    return [
        Test(
            'assembly',
            'the library and what was refused once',
            lambda: accepted(root, build, vmrun, [root / 'runtime' / 'lib', HERE]),
        )
    ]


def slow_tests(root, build, vmrun):
    folders = ['test/golden', 'test/native', 'test/live', 'docs/examples', 'bench']
    return [
        Test(
            'slow',
            'assembly of every script',
            lambda: accepted(root, build, vmrun, [root / f for f in folders]),
            in_turn=True,
        )
    ]


def sources(folders):
    """All that compiles: not the scripts of errors/, which must not."""
    for folder in folders:
        yield from (
            path
            for path in sorted(folder.rglob('*'))
            if path.suffix in ('.erl', '.act') and path.parent.name != 'errors'
        )


def accepted(root, build, vmrun, folders):
    if not shutil.which('escript'):
        raise Skip('no erl here')
    with tempfile.TemporaryDirectory(prefix='vmrun-assembly-') as folder:

        def assemble(source):
            target = pathlib.Path(folder) / (str(source.relative_to(root)).replace('/', '.') + '.S')
            command = [os.path.abspath(vmrun), '-I', str(build / 'drivers'), '-S', str(source)]
            with open(target, 'wb') as out:
                done = subprocess.run(
                    command, stdout=out, stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S
                )
            if done.returncode != 0:
                raise Failure(f'{source}: {done.stderr[-2000:]}')
            return str(target)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            files = list(pool.map(assemble, sources(folders)))
        checked = subprocess.run(
            ['escript', str(HERE / 'validate.escript'), *files],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        if checked.returncode != 0 or checked.stdout != f'{len(files)} files\n':
            raise Failure((checked.stdout + checked.stderr)[-6000:])
