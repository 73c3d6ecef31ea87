# SPDX-License-Identifier: Apache-2.0
"""A throw-away Debian guest, for what needs a kernel that loads modules: SystemTap's kernel runtime.

The image has Debian's own kernel, its headers and systemtap. mmdebstrap makes it once for each recipe, into a
cache folder (VMRUN_GUEST, by default /var/tmp/vmrun-guest); nothing writes to it after that. A run has a
small disk of its own, mounted at /mnt: files go there, scripts are compiled to modules there (on the host, in
a chroot of the image, where that is fast), the guest works there, and what it left in /mnt/results is read
back. The guest's second serial line carries the output of the command, the third its status. Needs root,
Debian and x86-64.
"""
import concurrent.futures
import contextlib
import fcntl
import glob
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess

from harness.results import Failure, Skip

MODULES = ['virtio_pci', 'virtio_blk', 'ext4']  # what finds the disk; the usual initrd is ten times as large
PACKAGES = [
    'linux-image-amd64',
    'linux-headers-amd64',
    'systemtap',
    'systemtap-sdt-dev',
    'gcc',
    'libc6-dev',
    'make',
    'initramfs-tools',
    'busybox',
    'erlang-base',
    'kmod',
    'mount',
    'procps',
    'zstd',
]

# Two faults of systemtap 4.8's runtime that this kernel and these scripts meet. Stable updates renamed a
# kernel function. An output buffer loses what follows when 8 bytes or fewer are left in it.
RUNTIME_FIXES = r'''
runtime=$1/usr/share/systemtap/runtime
if grep -qs task_work_cancel_func "$1"/usr/src/linux-headers-*/include/linux/task_work.h; then
    sed -i 's/\btask_work_cancel\b\([^_]\)/task_work_cancel_func\1/g' "$runtime/stp_task_work.c"
fi
needed='buf->offset + sizeof(struct _stp_trace)'
sed -i "s/buf->offset >= buf->chan->subbuf_size/$needed >= buf->chan->subbuf_size/" \
    "$runtime/transport/relay_v2.c"
'''

INIT = r'''#!/bin/sh
export PATH=/mnt:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
export LD_LIBRARY_PATH=/mnt/lib
mount /dev/vdb /mnt
mount -t debugfs none /sys/kernel/debug
mkdir -p /dev/shm && mount -t tmpfs none /dev/shm
busybox ip link set lo up
stty -F /dev/ttyS1 raw -echo; stty -F /dev/ttyS2 raw -echo
cd /mnt
bash /mnt/command </dev/null >/dev/ttyS1 2>&1
echo status $? >/dev/ttyS2
cd /
umount /mnt || mount -o remount,ro /mnt
busybox poweroff -f
'''

COMPILE = (
    'cd /mnt && HOME=/mnt TMPDIR=/mnt/tmp SYSTEMTAP_DIR=/srv PATH=/mnt:/usr/sbin:/usr/bin:/sbin:/bin '
    'stap -r "$(ls /lib/modules)" -p4 -m "$1" "$1.stp"'
)
# With a thread for each processor, qemu 7.2 may leave all of them for ever in a jump that the kernel has just
# patched.
EMULATED = 'tcg,thread=single'
UNREACHABLE = ('Could not resolve', 'Could not connect', 'Failed to fetch', 'Temporary failure')


def quiet(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise Failure(
            f'{" ".join(map(str, command))}: status {result.returncode}\n'
            f'{result.stdout[-2000:]}{result.stderr[-2000:]}'
        )
    return result.stdout


@contextlib.contextmanager
def mounted(what, at, *options):
    at.mkdir(exist_ok=True)
    quiet(['mount', *options, str(what), str(at)])
    try:
        yield at
    finally:
        quiet(['umount', str(at)])


def make_disk(path, size):
    with open(path, 'wb') as file:
        file.truncate(size)
    quiet(['mkfs.ext4', '-q', '-F', '-O', '^has_journal', str(path)])


class Guest:
    def __init__(self):
        self.folder = pathlib.Path(os.environ.get('VMRUN_GUEST', '/var/tmp/vmrun-guest'))
        recipe = hashlib.sha256(repr((MODULES, PACKAGES, RUNTIME_FIXES, INIT)).encode()).hexdigest()[:12]
        self.image = self.folder / recipe  # base.img, vmlinuz, initrd, and stap's cache for this kernel
        self.disk, self.root = self.folder / 'run.img', self.folder / 'root'

    @contextlib.contextmanager
    def ready(self):
        """Holds the cache folder for one run, with the image in it."""
        self.require()
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / 'lock', 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.ismount(self.root):  # a run that was killed
                quiet(['umount', '-R', str(self.root)])
            if not (self.image / 'base.img').exists():
                self.prepare()
            yield self

    def require(self):
        if os.geteuid() != 0:
            raise Skip('a guest needs root, to mount its disk')
        if platform.machine() != 'x86_64' or not shutil.which('apt-get'):
            raise Skip('a guest needs Debian on x86-64')
        wanted = {
            'mmdebstrap': 'mmdebstrap',
            'qemu-system-x86_64': 'qemu-system-x86',
            'mkfs.ext4': 'e2fsprogs',
            'mount': 'mount',
        }
        packages = [package for tool, package in wanted.items() if not shutil.which(tool)]
        if packages:
            subprocess.run(['apt-get', 'update', '-qq'], capture_output=True)
            installed = subprocess.run(
                ['apt-get', 'install', '-y', '--no-install-recommends', *packages],
                capture_output=True,
                text=True,
                env=dict(os.environ, DEBIAN_FRONTEND='noninteractive'),
            )
            if installed.returncode != 0:
                raise Skip(
                    f'a guest needs {" ".join(packages)}, which cannot be installed: '
                    f'{installed.stderr.strip()[-300:]}'
                )
        loop = subprocess.run(['losetup', '-f'], capture_output=True, text=True)
        if loop.returncode != 0:
            raise Skip(f'a guest needs a loop device: {loop.stderr.strip()}')

    def prepare(self):
        """Makes the image of this recipe and removes those of older recipes."""
        for old in self.folder.glob('[0-9a-f]' * 12):
            shutil.rmtree(old)
        if shutil.disk_usage(self.folder).free < 4 << 30:
            raise Skip(f'the image of the guest needs 4 GB in {self.folder}')
        suite = self.suite()
        sources = self.sources(suite)
        self.image.mkdir()
        new = self.image / 'new.img'
        make_disk(new, 6 << 30)
        fix, init = self.image / 'fix-runtime', self.image / 'guest-init'
        fix.write_text('#!/bin/sh\nset -e\n' + RUNTIME_FIXES)
        init.write_text(INIT)
        for path in (fix, init):
            path.chmod(0o755)
        modules = ' '.join(f'echo {module} >>"$1/etc/initramfs-tools/modules";' for module in MODULES)
        # This is the host's own source of packages.
        options = [
            f'--aptopt={path}'
            for path in sorted(glob.glob('/etc/apt/apt.conf.d/*'))
            if 'Acquire::' in pathlib.Path(path).read_text(errors='replace')
        ]
        with mounted(new, self.root, '-o', 'loop'):
            try:
                quiet(
                    [
                        'mmdebstrap',
                        '--quiet',
                        '--variant=apt',
                        *options,
                        '--include=' + ','.join(PACKAGES),
                        '--customize-hook='
                        + modules
                        + ' echo MODULES=list >"$1/etc/initramfs-tools/conf.d/guest"',
                        '--customize-hook=chroot "$1" update-initramfs -u',
                        f'--customize-hook={fix} "$1"',
                        f'--customize-hook=cp {init} "$1/guest-init"',
                        suite,
                        str(self.root),
                        *sources,
                    ]
                )
            except Failure as failure:
                if any(text in str(failure) for text in UNREACHABLE):
                    raise Skip(
                        'the image of the guest cannot be made without a Debian mirror: '
                        f'{str(failure)[-300:]}'
                    )
                raise
            for name in ('vmlinuz', 'initrd'):
                found = next(p for p in sorted((self.root / 'boot').iterdir()) if p.name.startswith(name))
                shutil.copy(found, self.image / name)
        new.rename(self.image / 'base.img')

    @staticmethod
    def suite():
        release = dict(line.rstrip().split('=', 1) for line in open('/etc/os-release') if '=' in line)
        return release.get('VERSION_CODENAME', 'this release').strip('"')

    @staticmethod
    def sources(suite):
        """Returns the host's own lists of package sources that have the main archive of this release."""
        lists = [
            pathlib.Path('/etc/apt/sources.list'),
            *sorted(pathlib.Path('/etc/apt/sources.list.d').glob('*')),
        ]
        found = [
            str(path)
            for path in lists
            if path.suffix in ('.list', '.sources')
            and path.exists()
            and {suite, 'main'} <= set(re.sub('#.*', '', path.read_text()).split())
        ]
        if not found:
            raise Skip(f'no source of Debian packages for {suite} in /etc/apt')
        return found

    def run(self, files, command, timeout=1500):
        """files: host path -> name in the guest's working folder; every .stp becomes a module first. Returns
        the status and the output of the command, and the text of each file it left in results/."""
        make_disk(self.disk, 1 << 30)
        cache = self.image / 'stap-cache'  # what stap found out about the kernel; modules are not kept
        cache.mkdir(exist_ok=True)
        for module in cache.glob('cache/*/*.ko'):
            module.unlink()
        with mounted(self.image / 'base.img', self.root, '-o', 'loop,ro'), mounted(
            self.disk, self.root / 'mnt', '-o', 'loop'
        ) as place, mounted(cache, self.root / 'srv', '--bind'):
            for folder in ('lib', 'tmp', 'results'):
                (place / folder).mkdir()
            for source, name in files.items():
                shutil.copy(source, place / name)
                self.copy_libraries(source, place / 'lib')
            (place / 'command').write_text(command)
            first, *others = sorted(place.glob('*.stp'))
            self.compile(first)  # alone, because it finds out what the others take from the cache
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(self.compile, others))
        status, output = self.boot(timeout)
        with mounted(self.disk, self.root, '-o', 'loop,ro'):
            return (
                status,
                output,
                {path.name: path.read_text(errors='replace') for path in (self.root / 'results').iterdir()},
            )

    def compile(self, script):
        """Makes the module; if that fails, results/NAME.fault says why."""
        result = subprocess.run(
            [
                'chroot',
                str(self.root),
                'env',
                '-u',
                'LD_LIBRARY_PATH',
                'LC_ALL=C.UTF-8',
                'sh',
                '-c',
                COMPILE,
                'sh',
                script.stem,
            ],
            capture_output=True,
            text=True,
        )
        if result.returncode != 0:
            said = [
                line
                for line in result.stderr.splitlines()
                if 'Kernel function symbol table missing' not in line
            ]
            (script.parent / 'results' / f'{script.stem}.fault').write_text(
                'does not compile: ' + '\n'.join(said[:12]) + '\n'
            )

    @staticmethod
    def copy_libraries(program, into):
        """Copies libraries that the image lacks, except the C library and the loader."""
        listed = subprocess.run(['ldd', str(program)], capture_output=True, text=True).stdout
        for line in listed.splitlines():
            words = line.split()
            if (
                len(words) > 2
                and words[1] == '=>'
                and not words[0].startswith(('libc.', 'libm.', 'ld-', 'libpthread'))
            ):
                shutil.copy(words[2], into / words[0])

    def boot(self, timeout):
        console, output, status = [self.folder / name for name in ('console.log', 'output', 'status')]
        for path in (console, output, status):
            path.write_text('')
        accelerated = os.access('/dev/kvm', os.W_OK) and any(
            f in open('/proc/cpuinfo').read() for f in (' vmx', ' svm')
        )
        command = [
            'qemu-system-x86_64',
            '-accel',
            'kvm' if accelerated else EMULATED,
            '-cpu',
            'max,la57=off',
            '-smp',
            '2',
            '-m',
            '3G',
            '-no-reboot',
            '-display',
            'none',
            '-monitor',
            'none',
            '-nic',
            'none',
            '-serial',
            f'file:{console}',
            '-serial',
            f'file:{output}',
            '-serial',
            f'file:{status}',
            '-drive',
            f'file={self.image / "base.img"},format=raw,if=virtio,snapshot=on',
            '-drive',
            f'file={self.disk},format=raw,if=virtio,cache=unsafe',
            '-kernel',
            str(self.image / 'vmlinuz'),
            '-initrd',
            str(self.image / 'initrd'),
            '-append',
            'root=/dev/vda rw init=/guest-init console=ttyS0 panic=-1 mitigations=off',
        ]
        try:
            machine = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout
            )
            why = f'qemu status {machine.returncode} {machine.stderr.strip()[-500:]}'
        except subprocess.TimeoutExpired:
            why = f'not done after {timeout} s'
        reported = status.read_text().split()
        if not reported:
            raise Failure(
                f'the guest ended without a report: {why}\n'
                f'its console:\n{console.read_text(errors="replace")[-1500:]}\n'
                f'its output:\n{output.read_text(errors="replace")[-1500:]}'
            )
        return int(reported[1]), output.read_text(errors='replace')
