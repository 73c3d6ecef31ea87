# SPDX-License-Identifier: Apache-2.0
"""Native libraries: scripts of test/native with the C libraries they load. They are compiled against the
project's own header and against that of an installed Erlang, and run under vmrun and on a stock erl. All must
print the same."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import threading

from .golden import ENVIRONMENT, MODES, ORDINARY_MODES, differences_of_run, mode_flags
from .results import Failure, Skip, Test
from .script import load_all

# Libraries are made for the processor of the vmrun that is tested, and for that of the stock erl.
C_COMPILER, STOCK_COMPILER = shlex.split(os.environ.get('CC') or 'cc'), ['cc']
OTP_HEADERS = pathlib.Path('/usr/lib/erlang/usr/include')
# these are made only if their sources are installed
LIBRARIES_NEEDED = {'native/driver_megaco': 'megaco_flex_scanner_drv.so'}
# these use functions that older headers lack: the minor version of the interface that they need
HEADERS_NEEDED = {'native/options_of_libraries': 18, 'native/delays_halt': 18}
MODES_USED = ['s1', 's4', 'gc-stress', 'yield']


class Libraries:
    """The libraries and modules in one folder for each set of headers, compiled when first needed. The
    modules are compiled by the vmrunc of `build`."""

    def __init__(self, root, folder, build):
        self.compiler = str(pathlib.Path(build) / 'runtime/compile/vmrunc')
        self.root, self.folder, self.lock, self.ready = root, pathlib.Path(folder), threading.Lock(), {}
        self.sources = sorted((root / 'drivers/samples').glob('*.c')) + sorted(
            (root / 'test/native').glob('*.c')
        )
        self.modules = sorted((root / 'drivers/samples').glob('*.erl')) + sorted(
            (root / 'test/native').glob('*.erl')
        )

    def of_stock(self):
        """What a stock erl loads, which may be another processor's program than vmrun."""
        return self.get('otp' if C_COMPILER == STOCK_COMPILER else 'stock')

    def headers(self, which):
        return self.root / 'vm/include' if which == 'own' else OTP_HEADERS

    def get(self, which):
        if not (self.headers(which) / 'erl_nif.h').exists():
            raise Skip(f'no erl_nif.h in {self.headers(which)}')
        compiler = STOCK_COMPILER if which == 'stock' else C_COMPILER
        need_c_compiler(compiler)
        with self.lock:
            if which not in self.ready:
                self.ready[which] = self.compile(which, compiler)
            return self.ready[which]

    def compile(self, which, compiler):
        folder = self.folder / which
        folder.mkdir()
        for source in self.sources:
            compile_library(self.headers(which), source, folder / (source.stem + '.so'), compiler=compiler)
        for source, name in installed_drivers():
            subprocess.run(
                [
                    *compiler,
                    '-O1',
                    '-w',
                    '-shared',
                    '-fPIC',
                    f'-I{self.headers(which)}',
                    f'-DMEGACO_DRV_NAME="{name}"',
                    str(source),
                    '-o',
                    str(folder / f'{name}.so'),
                ],
                check=True,
                capture_output=True,
            )
        beams = folder / 'beam'  # not on the path for modules: for scripts that load code themselves
        beams.mkdir()
        for module in self.modules:
            shutil.copy(module, folder)
            subprocess.run(
                [self.compiler, str(module), '-o', str(beams / (module.stem + '.beam'))],
                check=True,
                capture_output=True,
            )
        return folder


def need_c_compiler(compiler=C_COMPILER):
    if not shutil.which(compiler[0]):
        raise Skip('no C compiler here')


def compile_library(headers, source, target, *flags, compiler=C_COMPILER):
    command = [
        *compiler,
        '-O1',
        '-Wall',
        '-Wextra',
        '-Werror',
        '-shared',
        '-fPIC',
        f'-I{headers}',
        *flags,
        str(source),
        '-o',
        str(target),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f'{" ".join(command)}\n{done.stderr}')


def installed_drivers():
    """Returns drivers of an installed Erlang with their sources. They are not ours, and must work
    unchanged."""
    return [
        (source, source.stem)
        for source in pathlib.Path('/usr/lib/erlang/lib').glob('megaco-*/src/flex/megaco_flex_scanner_drv.c')
    ]


def skip_without_library(script, folder):
    name = LIBRARIES_NEEDED.get(script.name)
    if name and not (folder / name).exists():
        raise Skip(f'the sources of {name} are not installed')


def skip_without_header(script, headers):
    needed = HEADERS_NEEDED.get(script.name)
    found = re.search(r'define ERL_NIF_MINOR_VERSION +(\d+)', (headers / 'erl_nif.h').read_text())
    if needed and int(found[1]) < needed:
        raise Skip(f'the interface of {headers} is 2.{found[1]}, older than 2.{needed}')


def environment(folder):
    return dict(ENVIRONMENT, NATIVE_DIR=str(folder))


def vmrun_test(script, mode, which, libraries, vmrun, seed):
    factor = MODES[mode][1]

    def run():
        if mode in script.mode_skips:
            raise Skip(script.mode_skips[mode])
        folder = libraries.get(which)
        skip_without_library(script, folder)
        skip_without_header(script, libraries.headers(which))
        command = [vmrun, *mode_flags(mode, seed), '-pa', str(folder), str(script.path)]
        difference = differences_of_run(script, command, script.timeout * factor, env=environment(folder))
        if difference:
            raise Failure(f'{difference}\ncommand: NATIVE_DIR={folder} {" ".join(command)}')

    return Test('native', f'{script.name} [{mode}, {which} header]', run)


def erl_test(script, libraries, erl):
    def run():
        why = erl.unable(script)
        if why:
            raise Skip(why)
        folder, module, (status, out, err) = erl.compile(script)
        if status != 0:
            raise Failure('erlc: ' + out + err)
        native = libraries.of_stock()
        skip_without_library(script, native)
        skip_without_header(script, libraries.headers('otp'))
        for module_file in native.glob('*.erl'):
            shutil.copy(module_file, folder)
            subprocess.run(
                ['erlc', module_file.name], cwd=folder, check=True, capture_output=True, env=erl.compiling
            )
        difference = script.differences(*erl.run(script, folder, module, environment(native)))
        if difference:
            raise Failure(difference)

    return Test('native', f'{script.name} [erl]', run)


def tests(root, build, folder, vmrun, stressed, erl, modes_of, seed):
    """stressed: the vmrun for the stress modes; modes_of: the modes in which a script runs."""
    libraries = Libraries(root, pathlib.Path(folder, 'native'), build)
    libraries.folder.mkdir()
    all_tests = []
    for script in load_all([(root / 'test/native', root / 'test')]):
        all_tests += [
            vmrun_test(script, mode, 'own', libraries, vmrun if mode in ORDINARY_MODES else stressed, seed)
            for mode in modes_of(script)
        ]
        all_tests.append(vmrun_test(script, 's4', 'otp', libraries, vmrun, seed))
        if erl:
            all_tests.append(erl_test(script, libraries, erl))
    return all_tests
