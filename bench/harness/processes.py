# SPDX-License-Identifier: Apache-2.0
"""Runs a program that is measured: by itself in a group of processes, which ends when its time is over or the
harness does."""
import os
import signal
import subprocess

from harness import golden

ENVIRONMENT = golden.ENVIRONMENT


class Ended:
    """What came of a program. status: None when its time was over."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def run(command, timeout_s, environment=None):
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment or ENVIRONMENT,
        start_new_session=True,
    )
    status = None
    try:
        out, err = process.communicate(timeout=timeout_s)
        status = process.returncode
    except subprocess.TimeoutExpired:
        kill_group(process)
        out, err = what_is_there(process)
    except BaseException:  # broken off
        kill_group(process)
        process.wait()
        raise
    return Ended(status, out.decode(errors='replace'), err.decode(errors='replace'))


def kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def what_is_there(process):
    """Programs it has started may hold its output open."""
    try:
        return process.communicate(timeout=10)
    except subprocess.TimeoutExpired as late:
        return late.stdout or b'', late.stderr or b''
