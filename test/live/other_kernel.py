# SPDX-License-Identifier: Apache-2.0
"""Becomes a command as another kernel would run it: `python3 other_kernel.py KIND COMMAND ...`, where KIND is
  old      uname(2) says 2.6 (personality(2), UNAME26), so what came with later versions is not used;
  filtered perf_event_open is not permitted, as in a container with the usual filter (seccomp(2)).
Either lasts until the command ends, for its children too."""
import ctypes
import errno
import os
import platform
import struct
import sys

UNAME26 = 0x0020000  # from sys/personality.h
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2  # linux/prctl.h, linux/seccomp.h
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
PERF_EVENT_OPEN = {'x86_64': 298, 'aarch64': 241}  # its number among the system calls


def checked(done, what):
    if done < 0:
        raise OSError(ctypes.get_errno(), what)


def filtered(libc):
    # BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K
    load, skip_unless_equal, answer = 0x20, 0x15, 0x06
    steps = [
        (load, 0, 0, 0),
        (skip_unless_equal, 0, 1, PERF_EVENT_OPEN[platform.machine()]),
        (answer, 0, 0, ERRNO | errno.EPERM),
        (answer, 0, 0, ALLOW),
    ]
    code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack('HP', len(steps), ctypes.addressof(code)))
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 'prctl(PR_SET_NO_NEW_PRIVS)')
    checked(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0), 'prctl(PR_SET_SECCOMP)')


def old(libc):
    checked(libc.personality(ctypes.c_ulong(UNAME26)), 'personality')


if __name__ == '__main__':
    {'old': old, 'filtered': filtered}[sys.argv[1]](ctypes.CDLL(None, use_errno=True))
    os.execvp(sys.argv[2], sys.argv[2:])
