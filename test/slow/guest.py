"""A throw-away Debian guest, for what needs a kernel that loads modules: SystemTap's kernel runtime.

The image has Debian's own kernel, its headers and systemtap, made once by mmdebstrap and kept in a cache folder
(VMRUN_GUEST, by default /var/tmp/vmrun-guest). A run gets a fresh copy of it; scripts are compiled to modules on the
host, in a chroot of the image, where that is fast, and the guest only loads them. The guest's second serial line carries
the output of the command, the third its status. Needs root, Debian and x86-64.
"""
import contextlib
import os
import pathlib
import shutil
import subprocess

from harness.results import Failure, Skip

MODULES = ['virtio_pci', 'virtio_blk', 'ext4']  # what finds the disk; the usual initrd is ten times as large
PACKAGES = ['linux-image-amd64', 'linux-headers-amd64', 'systemtap', 'systemtap-sdt-dev', 'gcc', 'libc6-dev', 'make',
            'initramfs-tools', 'busybox', 'kmod', 'mount', 'procps', 'zstd']

# Two faults of systemtap 4.8's runtime that this kernel and these scripts meet: a kernel function that stable updates
# renamed; and an output buffer that loses what follows when 8 bytes or fewer are left in it.
RUNTIME_FIXES = r'''
runtime=$1/usr/share/systemtap/runtime
if grep -qs task_work_cancel_func "$1"/usr/src/linux-headers-*/include/linux/task_work.h; then
    sed -i 's/\btask_work_cancel\b\([^_]\)/task_work_cancel_func\1/g' "$runtime/stp_task_work.c"
fi
sed -i 's/buf->offset >= buf->chan->subbuf_size/buf->offset + sizeof(struct _stp_trace) >= buf->chan->subbuf_size/' \
    "$runtime/transport/relay_v2.c"
'''

INIT = r'''#!/bin/sh
export PATH=/stap:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
export LD_LIBRARY_PATH=/stap/lib
mount -t debugfs none /sys/kernel/debug
mkdir -p /dev/shm && mount -t tmpfs none /dev/shm
busybox ip link set lo up
stty -F /dev/ttyS1 raw -echo; stty -F /dev/ttyS2 raw -echo
cd /stap
bash /stap/command </dev/null >/dev/ttyS1 2>&1
echo status $? >/dev/ttyS2
mount -o remount,ro /
busybox poweroff -f
'''


def quiet(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        raise Failure(f'{" ".join(map(str, command))}: status {result.returncode}\n{result.stdout[-2000:]}{result.stderr[-2000:]}')
    return result.stdout


@contextlib.contextmanager
def mounted(image, at):
    at.mkdir(exist_ok=True)
    quiet(['mount', '-o', 'loop', str(image), str(at)])
    try:
        yield at
    finally:
        quiet(['umount', str(at)])


class Guest:
    def __init__(self):
        self.folder = pathlib.Path(os.environ.get('VMRUN_GUEST', '/var/tmp/vmrun-guest'))
        self.base, self.disk = self.folder / 'base.img', self.folder / 'run.img'
        self.root = self.folder / 'root'

    def require(self):
        if os.geteuid() != 0:
            raise Skip('a guest needs root')
        for tool, package in (('mmdebstrap', 'mmdebstrap'), ('qemu-system-x86_64', 'qemu-system-x86')):
            if not shutil.which(tool):
                installed = subprocess.run(['apt-get', 'install', '-y', '--no-install-recommends', package],
                                           capture_output=True)
                if installed.returncode != 0:
                    raise Skip(f'no {tool}, and it cannot be installed')

    def prepare(self):
        """Makes the base image, once."""
        if self.base.exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        new = self.folder / 'new.img'
        with open(new, 'wb') as file:
            file.truncate(6 << 30)
        quiet(['mkfs.ext4', '-q', '-F', '-O', '^has_journal', str(new)])
        hook = self.folder / 'fix-runtime'
        hook.write_text('#!/bin/sh\nset -e\n' + RUNTIME_FIXES)
        hook.chmod(0o755)
        with mounted(new, self.root):
            initrd = ' '.join(f'echo {module} >>"$1/etc/initramfs-tools/modules";' for module in MODULES)
            quiet(['mmdebstrap', '--quiet', '--variant=apt', '--include=' + ','.join(PACKAGES),
                   '--customize-hook=' + initrd + ' echo MODULES=list >"$1/etc/initramfs-tools/conf.d/guest"',
                   '--customize-hook=chroot "$1" update-initramfs -u', f'--customize-hook={hook} "$1"',
                   self.suite(), str(self.root), self.sources()])
            for name in ('vmlinuz', 'initrd'):
                found = next(p for p in sorted((self.root / 'boot').iterdir()) if p.name.startswith(name))
                shutil.copy(found, self.folder / name)
        new.rename(self.base)

    @staticmethod
    def suite():
        release = dict(line.rstrip().split('=', 1) for line in open('/etc/os-release') if '=' in line)
        return release['VERSION_CODENAME']

    @staticmethod
    def sources():
        modern = pathlib.Path('/etc/apt/sources.list.d/debian.sources')
        return str(modern if modern.exists() else '/etc/apt/sources.list')

    def run(self, files, command, timeout=900):
        """files: host path -> name in /stap; every .stp becomes a module. Returns status and output of the command."""
        subprocess.run(['cp', '--sparse=always', str(self.base), str(self.disk)], check=True)
        with mounted(self.disk, self.root):
            place = self.root / 'stap'
            (place / 'lib').mkdir(parents=True)
            for source, name in files.items():
                shutil.copy(source, place / name)
                self.copy_libraries(source, place / 'lib')
            (place / 'command').write_text(command)
            init = self.root / 'guest-init'
            init.write_text(INIT)
            init.chmod(0o755)
            kernel = next((self.root / 'lib/modules').iterdir()).name
            for path in sorted(place.glob('*.stp')):
                quiet(['chroot', str(self.root), 'env', 'PATH=/stap:/usr/sbin:/usr/bin:/sbin:/bin', 'LD_LIBRARY_PATH=',
                       'sh', '-c', f'cd /stap && stap -r {kernel} -p4 -m {path.stem} {path.name}'])
        return self.boot(timeout)

    @staticmethod
    def copy_libraries(program, into):
        """Libraries the image lacks; the C library and the loader are its own."""
        listed = subprocess.run(['ldd', str(program)], capture_output=True, text=True).stdout
        for line in listed.splitlines():
            words = line.split()
            if len(words) > 2 and words[1] == '=>' and not words[0].startswith(('libc.', 'libm.', 'ld-', 'libpthread')):
                shutil.copy(words[2], into / words[0])

    def boot(self, timeout):
        output, status = self.folder / 'output', self.folder / 'status'
        for path in (output, status):
            path.write_text('')
        accelerated = os.access('/dev/kvm', os.W_OK) and any(f in open('/proc/cpuinfo').read() for f in (' vmx', ' svm'))
        subprocess.run(
            ['timeout', str(timeout), 'qemu-system-x86_64', '-accel', 'kvm' if accelerated else 'tcg', '-cpu', 'max,la57=off',
             '-smp', '2', '-m', '3G', '-no-reboot', '-display', 'none', '-monitor', 'none', '-nic', 'none',
             '-serial', f'file:{self.folder / "console.log"}', '-serial', f'file:{output}', '-serial', f'file:{status}',
             '-drive', f'file={self.disk},format=raw,if=virtio,cache=unsafe', '-kernel', str(self.folder / 'vmlinuz'),
             '-initrd', str(self.folder / 'initrd'),
             '-append', 'root=/dev/vda rw init=/guest-init console=ttyS0 panic=-1 mitigations=off'],
            stdin=subprocess.DEVNULL, capture_output=True)
        reported = status.read_text().split()
        if not reported:
            tail = (self.folder / 'console.log').read_text(errors='replace')[-1500:]
            raise Failure(f'the guest ended without a report\n{tail}\n{output.read_text(errors="replace")[-1500:]}')
        return int(reported[1]), output.read_text(errors='replace')
