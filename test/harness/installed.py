# SPDX-License-Identifier: Apache-2.0
"""Checks where `meson install` puts files, and that they work there."""
import os
import pathlib
import subprocess
import tempfile

from .results import Failure, Test

HERE = [
    'bin/vmrun',
    'bin/vmrunc',
    'bin/vmtrace',
    'share/man/man1/vmrun.1',
    'share/man/man1/vmrunc.1',
    'share/man/man1/vmtrace.1',
    'share/man/man5/vmrun.5',
    'share/man/man5/vmtrace.5',
    'share/bash-completion/completions/vmrun',
    'share/bash-completion/completions/vmtrace',
    'share/zsh/site-functions/_vmrun',
    'share/fish/vendor_completions.d/vmrunc.fish',
    'share/gdb/auto-load/usr/local/bin/vmrun-gdb.py',
    'share/pkgconfig/vmrun.pc',
    'include/vmrun/erl_driver.h',
    'include/vmrun/erl_drv_nif.h',
    'include/vmrun/erl_nif.h',
    'share/vmrun/scripts/bpftrace/message.bt',
    'share/vmrun/scripts/d/message.d',
    'share/vmrun/scripts/stap/message.stp',
    'share/doc/vmrun/LICENSE',
    'share/doc/vmrun/NOTICE',
    'share/doc/vmrun/guide.md',
    'share/doc/vmrun/examples/ring.act',
]
NATIVE = (
    '#include <erl_nif.h>\n#include <erl_driver.h>\nint version(void) { return ERL_NIF_MAJOR_VERSION; }\n'
)


def tests(root, build):
    return [
        Test(
            'docs',
            'meson install puts program, manual page, headers and scripts in place',
            lambda: installed(root, build),
        )
    ]


def installed(root, build):
    with tempfile.TemporaryDirectory(prefix='vmrun-installed-') as folder:
        run(
            ['meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--strip'],
            env={**os.environ, 'DESTDIR': folder},
        )
        prefix = pathlib.Path(
            folder
            + run(['meson', 'introspect', build, '--buildoptions'])
            .split('"name": "prefix"')[1]
            .split('"value": "')[1]
            .split('"')[0]
        )
        missing = [name for name in HERE if not (prefix / name).is_file()]
        if missing:
            raise Failure(f'not installed: {missing}')
        vmrun = prefix / 'bin/vmrun'
        if ' t ' in run(['nm', vmrun]):
            raise Failure('the installed program is not stripped')
        probes = [run([program, '-l']).count('\n') for program in (vmrun, build / 'vmrun')]
        if probes[0] != probes[1]:
            raise Failure(
                f'the installed program has {probes[0]} lines of probes, the one in the build folder '
                f'{probes[1]}'
            )
        if 'hello' not in run([vmrun, write(folder, 'hello.act', 'main() -> io:put_chars("hello\\n").\n')]):
            raise Failure('the installed program does not run a script')
        links = [path for path in pathlib.Path(folder).rglob('*') if path.is_symlink()]
        astray = [path for path in links if os.readlink(path).startswith('/') or not path.exists()]
        if astray or not links:
            raise Failure(f'of {len(links)} links these do not lead to what is installed: {astray}')
        pkgconfig = prefix / 'share/pkgconfig/vmrun.pc'
        flags = run(
            ['pkg-config', '--cflags', 'vmrun'],
            env={**os.environ, 'PKG_CONFIG_PATH': str(pkgconfig.parent), 'PKG_CONFIG_SYSROOT_DIR': folder},
        ).split()
        run(
            [
                'cc',
                '-c',
                '-Wall',
                '-Werror',
                *flags,
                write(folder, 'native.c', NATIVE),
                '-o',
                f'{folder}/native.o',
            ]
        )


def write(folder, name, text):
    path = pathlib.Path(folder) / name
    path.write_text(text)
    return path


def run(command, env=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env)
    if done.returncode:
        raise Failure(f'{command[0]}: status {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-1000:]}')
    return done.stdout
