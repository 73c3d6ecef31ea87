# SPDX-License-Identifier: Apache-2.0
"""A clean Debian of another release in a folder: made by debootstrap from where this machine's own packages
come from, and entered by chroot. What has been made is kept (VMRUN_ROOTS, or /var/tmp/vmrun-roots): NAME,
with the packages that tests need, and NAME-clean, which only has what every Debian has."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile

from harness.results import Failure, Skip

ROOTS = pathlib.Path(os.environ.get('VMRUN_ROOTS', '/var/tmp/vmrun-roots'))
MIRROR = 'http://deb.debian.org/debian'
PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
ENTER = '''
root=$1 source=$2 changes=$3; shift 3
if [ "$changes" ]; then
  mkdir "$changes/root" "$changes/upper" "$changes/work"
  mount -t overlay overlay -o "lowerdir=$root,upperdir=$changes/upper,workdir=$changes/work" "$changes/root"
  root=$changes/root
fi
mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"; mount --rbind /sys "$root/sys"
mkdir -p "$root/vmrun"; mount --bind "$source" "$root/vmrun"
exec chroot "$root" "$@"
'''


class DebianRoot:
    """Release `name` of Debian. source: the checkout, at /vmrun inside."""

    def __init__(self, name, source):
        self.name, self.source, self.folder = name, source, ROOTS / name
        self.clean_folder = ROOTS / f'{name}-clean'

    def make(self, packages):
        """Makes the root if it is not there, and installs these packages if they are not."""
        self.make_clean()
        if not (self.folder / 'usr/bin/apt-get').exists():
            subprocess.run(['cp', '-a', '-T', self.clean_folder, self.folder], check=True)
        self.succeed('apt-get', 'install', '-y', '-qq', '--no-install-recommends', *packages)

    def make_clean(self):
        if os.geteuid():
            raise Skip('only root makes a root of Debian')
        if not shutil.which('debootstrap'):
            raise Skip('no debootstrap here')
        if self.clean_folder.exists():
            return
        making = ROOTS / f'{self.name}-making'
        making.mkdir(parents=True, exist_ok=True)
        script = '/usr/share/debootstrap/scripts/sid'
        words = ['debootstrap', '--variant=minbase', '--no-check-gpg', self.name, making, mirror()]
        done = subprocess.run([*words, script], capture_output=True, text=True)
        if done.returncode:
            raise Failure(f'debootstrap of {self.name}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}')
        self.take_settings(making)
        status, text = self.enter(making, '', ['apt-get', 'update', '-qq'], {}, 3600)
        if status:
            raise Failure(f'apt-get update of {self.name}:\n{text[-2000:]}')
        # Packages of servers do not start them.
        (making / 'usr/sbin/policy-rc.d').write_text('#!/bin/sh\nexit 101\n')
        (making / 'usr/sbin/policy-rc.d').chmod(0o755)
        making.rename(self.clean_folder)

    def take_settings(self, folder):
        sources = f'deb [trusted=yes] {mirror()} {self.name} main\n'
        (folder / 'etc/apt/sources.list').write_text(sources)
        for settings in pathlib.Path('/etc/apt/apt.conf.d').iterdir():
            shutil.copy(settings, folder / 'etc/apt/apt.conf.d')
        # Some of these belong to packages, which come there later: dpkg must not ask whose file is to stay.
        (folder / 'etc/apt/apt.conf.d/00vmrun').write_text('DPkg::Options { "--force-confold"; };\n')
        if os.path.exists('/etc/resolv.conf'):
            shutil.copy('/etc/resolv.conf', folder / 'etc')
        hosts = pathlib.Path('/etc/hosts')
        lines = hosts.read_text() if hosts.exists() else '127.0.0.1 localhost\n'
        name = socket.gethostname()
        if name not in re.sub('#.*', '', lines).split():
            lines += f'127.0.0.1 {name}\n'
        (folder / 'etc/hosts').write_text(lines)

    def run(self, *command, environment=None, seconds=3600, clean=False):
        """Status and output of a command, in /vmrun. clean: in the root as it was made; what the command
        changes there is forgotten."""
        if not clean:
            return self.enter(self.folder, '', command, environment, seconds)
        with tempfile.TemporaryDirectory(prefix='changes-', dir=ROOTS) as changes:
            return self.enter(self.clean_folder, changes, command, environment, seconds)

    def enter(self, folder, changes, command, environment, seconds):
        settings = {'PATH': PATH, 'HOME': '/root', 'LANG': 'C.UTF-8', 'TERM': 'dumb', 'CI': 'true'}
        settings['DEBIAN_FRONTEND'] = 'noninteractive'
        words = [f'{name}={value}' for name, value in {**settings, **(environment or {})}.items()]
        done = subprocess.run(
            ['unshare', '--mount', '--propagation', 'private', 'bash', '-ec', ENTER, 'enter']
            + [folder, self.source, changes, '/usr/bin/env', '-i', *words]
            + ['sh', '-c', 'cd /vmrun; exec "$0" "$@"', *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
            timeout=seconds,
        )
        return done.returncode, done.stdout

    def succeed(self, *command, **more):
        status, text = self.run(*command, **more)
        if status:
            raise Failure(f'{self.name}: {" ".join(command)} ends with {status}:\n{text[-4000:]}')
        return text


def mirror():
    for file in (
        pathlib.Path('/etc/apt/sources.list.d/debian.sources'),
        pathlib.Path('/etc/apt/sources.list'),
    ):
        found = re.search(
            r'^(?:URIs:|deb(?: \[.*?\])?) *(\S+)', file.read_text() if file.exists() else '', re.M
        )
        if found:
            return found[1]
    return MIRROR
