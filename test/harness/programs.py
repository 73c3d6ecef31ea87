# SPDX-License-Identifier: Apache-2.0
"""The programs that vmrun is by name (build/bin: erl, erlc, ct_run …), with the flags of a stress mode in
front of their arguments."""
import pathlib
import shlex

from .golden import mode_flags


def in_mode(programs, mode, seed, folder):
    """Makes a folder of scripts that start those of the folder `programs`. Programs that these start in turn
    find the flags in the environment."""
    made = pathlib.Path(folder) / f'bin-{mode}'
    made.mkdir(exist_ok=True)
    flags = shlex.quote(' '.join(mode_flags(mode, seed)))
    for program in pathlib.Path(programs).resolve().iterdir():
        script = made / program.name
        script.write_text(
            f'#!/bin/sh\nERL_ZFLAGS="$ERL_ZFLAGS "{flags} exec {shlex.quote(str(program))} "$@"\n'
        )
        script.chmod(0o755)
    return made
