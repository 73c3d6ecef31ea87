# SPDX-License-Identifier: Apache-2.0
"""The builds that are compared with the one that is measured: without probes, and of another commit. They are
made when they are first needed, with the options of the build that is measured."""
import json
import pathlib
import subprocess
import sys

from . import ROOT

# Options that change the code of the machine.
THAT_MATTER = ('optimization', 'debug', 'b_ndebug', 'b_lto', 'b_sanitize', 'allocator', 'limits', 'cpp_args')


class BuildFailed(Exception):
    """The text is what Meson or Ninja said."""


def options_of(build):
    """{name: value} of Meson."""
    told = subprocess.run(
        ['meson', 'introspect', '--buildoptions', str(build)], capture_output=True, text=True, check=True
    )
    return {option['name']: option['value'] for option in json.loads(told.stdout)}


def as_flag(name, value):
    if isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, list):
        value = ','.join(value)
    return f'-D{name}={value}'


def run(command):
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        raise BuildFailed(f'{" ".join(map(str, command))}:\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}')


def compiled(source, build, like, targets, **changed):
    """Makes the targets in a build folder with the options of another one, but for those that are changed."""
    if not (build / 'build.ninja').exists():
        there = options_of(like)
        options = {name: there[name] for name in THAT_MATTER if name in there} | changed
        run(
            [
                'meson',
                'setup',
                *(as_flag(name, value) for name, value in options.items()),
                str(build),
                str(source),
            ]
        )
    run(['ninja', '-C', str(build), *targets])


def without_probes_folder(build):
    return build.with_name(build.name + '-noprobes')


def without_probes(build):
    """vmrun of the same sources with probes compiled out."""
    folder = without_probes_folder(build)
    say(f'building without probes in {folder}')
    compiled(ROOT, folder, build, ['vmrun'], probes='none')
    return folder / 'vmrun'


def commit_of(name):
    told = subprocess.run(
        ['git', '-C', str(ROOT), 'rev-parse', '--verify', '--quiet', f'{name}^{{commit}}'],
        capture_output=True,
        text=True,
    )
    return told.stdout.strip() or None


def baseline(name, build):
    """vmrun of a file, or of a commit, whose sources go to a folder below the build."""
    path = pathlib.Path(name)
    if path.is_file():
        return path.resolve()
    commit = commit_of(name)
    if not commit:
        raise BuildFailed(f'--baseline {name}: neither a file nor a commit')
    folder = build / 'bench' / 'baseline' / commit[:12]
    sources = folder / 'sources'
    if not sources.exists():
        sources.mkdir(parents=True)
        archive = subprocess.run(['git', '-C', str(ROOT), 'archive', commit], capture_output=True, check=True)
        subprocess.run(['tar', '-x', '-C', str(sources)], input=archive.stdout, check=True)
    say(f'building commit {commit[:12]} in {folder}')
    compiled(sources, folder / 'build', build, ['vmrun'])
    return folder / 'build' / 'vmrun'


def targets(build, names):
    """Targets of the build that is measured."""
    run(['ninja', '-C', str(build), *names])


def say(text):
    print(f'bench: {text}', file=sys.stderr, flush=True)
