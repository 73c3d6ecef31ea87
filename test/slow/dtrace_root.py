# SPDX-License-Identifier: Apache-2.0
"""Oracle's DTrace on a system whose release has no package of it. A Debian unstable is made once in a folder
(VMRUN_DTRACE_ROOT, by default /var/tmp/vmrun-dtrace), and its dtrace is run with the host's processes. Needs
root, Debian and 200 MB."""
import fcntl
import glob
import os
import pathlib
import re
import shutil
import subprocess

from harness.results import Failure, Skip

from .guest import UNREACHABLE, quiet

SUITE = 'sid'  # it has the package
# Its description of the kernel's block devices needs a symbol that not every kernel has, and without it no
# script compiles.
WITHOUT_IO = 'rm -f "$1"/usr/lib/*/dtrace/*/io.d'
COMMAND = '''#!/bin/sh
exec unshare --mount --propagation private sh -c '
    root=$1 program=$2; shift 2
    for folder in proc dev sys; do mount --rbind /$folder "$root/$folder"; done
    debug="$root/sys/kernel/debug"; mountpoint -q "$debug" || mount -t debugfs debugfs "$debug"
    mkdir -p "$root$program"; mount --bind "$program" "$root$program"
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \\
        dtrace "$@"' sh {root} {program} "$@"
'''


def sources():
    """Returns the host's package source, for that suite."""
    for path in ['/etc/apt/sources.list', *sorted(glob.glob('/etc/apt/sources.list.d/*'))]:
        text = pathlib.Path(path).read_text() if os.path.exists(path) else ''
        found = re.search(r'^(?:URIs: *|deb (?:\[[^]]*\] )?)(\S+)', text, re.M)
        if found:
            return f'deb [trusted=yes] {found[1]} {SUITE} main'
    raise Skip('no source of Debian packages in /etc/apt')


def command(program):
    """Returns a command that is DTrace and sees the folder of a program by its name here; raises Skip."""
    folder = pathlib.Path(os.environ.get('VMRUN_DTRACE_ROOT', '/var/tmp/vmrun-dtrace'))
    if os.geteuid() != 0 or not shutil.which('apt-get'):
        raise Skip('a Debian in a folder needs Debian and root')
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / 'root').exists():
            make(folder)
    path = folder / 'dtrace'
    path.write_text(COMMAND.format(root=folder / 'root', program=pathlib.Path(program).resolve().parent))
    path.chmod(0o755)
    return str(path)


def make(folder):
    if not shutil.which('mmdebstrap'):
        subprocess.run(['apt-get', 'update', '-qq'], capture_output=True)
        installed = subprocess.run(
            ['apt-get', 'install', '-y', '--no-install-recommends', 'mmdebstrap'],
            capture_output=True,
            text=True,
            env=dict(os.environ, DEBIAN_FRONTEND='noninteractive'),
        )
        if installed.returncode:
            raise Skip(f'mmdebstrap cannot be installed: {installed.stderr.strip()[-300:]}')
    new = folder / 'new'
    shutil.rmtree(new, ignore_errors=True)
    options = [
        f'--aptopt={path}'
        for path in sorted(glob.glob('/etc/apt/apt.conf.d/*'))
        if 'Acquire::' in pathlib.Path(path).read_text(errors='replace')
    ]
    try:
        quiet(
            [
                'mmdebstrap',
                '--quiet',
                '--variant=apt',
                *options,
                '--include=dtrace',
                f'--customize-hook={WITHOUT_IO}',
                SUITE,
                str(new),
                sources(),
            ]
        )
    except Failure as failure:
        if any(text in str(failure) for text in UNREACHABLE):
            raise Skip(f'it cannot be made without a Debian mirror: {str(failure)[-300:]}')
        raise
    new.rename(folder / 'root')
