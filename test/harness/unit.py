# SPDX-License-Identifier: Apache-2.0
"""The unit test executables, as Meson lists them."""
import json
import os
import subprocess

from .golden import run_program
from .results import Failure, Test


def tests(build, checked):
    """Reads Meson's list. `build` has the executables of the tools' tests, and the folder `checked` has those
    of the machine's."""
    listed = json.loads(
        subprocess.run(
            ['meson', 'introspect', '--tests', str(build)], capture_output=True, text=True, check=True
        ).stdout
    )
    return [
        unit_test(entry, build.resolve(), (build if is_of_tools(entry) else checked).resolve())
        for entry in listed
    ]


def is_of_tools(entry):
    return any(suite.endswith(':tools') for suite in entry['suite'])


def unit_test(entry, build, built):
    program, *arguments = entry['cmd']

    def run():
        executable = built / os.path.relpath(program, build)
        command = [
            'env',
            *[f'{name}={value}' for name, value in entry['env'].items()],
            executable,
            *arguments,
        ]
        status, out, err = run_program(command, '', entry['timeout'], entry['workdir'] or os.getcwd())
        if status != 0:
            raise Failure(f'status {status}\n{out[-4000:]}{err[-2000:]}')

    return Test('unit', entry['name'], run)
