"""The slow suites: SystemTap scripts in a guest, and the golden scripts under sanitizers."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from harness.results import Failure, Test

from . import guest

HERE = pathlib.Path(__file__).resolve().parent
SANITIZERS = {'address,undefined': ['-Db_lundef=false'], 'thread': ['-Db_lundef=false']}


def tests(root, build):
    result = [Test('slow', 'SystemTap scripts in a guest', lambda: stap_scripts(root, build), alone=True)]
    for name, options in SANITIZERS.items():
        result.append(Test('slow', f'golden scripts under sanitizers: {name}',
                           lambda n=name, o=options: sanitized(root, n, o), alone=True))
    return result


def wanted_texts(path):
    """What a good run of a script prints: each probe's own name, or for the counting scripts what END prints."""
    names = re.findall(r'mark\("([\w-]+)"\)', path.read_text())
    if path.stem == 'bif':
        return ['END calls of erlang:list_to_atom/1']
    if path.stem == 'spawn-exit':
        return ['spawn <0.', 'exit <0.', 'signal from <0.']
    return names


def stap_scripts(root, build):
    machine = guest.Guest()
    machine.require()
    machine.prepare()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = {build / 'vmrun': 'vmrun', HERE / 'everything_loop.act': 'everything_loop.act'}
        for path in sorted((root / 'scripts' / 'stap').glob('*.stp')):
            module = path.stem.replace('-', '_')
            files[path] = module + '.stp'
            texts = folder / f'{module}.wanted'
            texts.write_text('\n'.join(wanted_texts(path)) + '\n')
            files[texts] = texts.name
        status, output = machine.run(files, (HERE / 'guest_check.sh').read_text())
    if status != 0:
        raise Failure(output[-4000:])


def sanitized(root, name, options):
    folder = root / ('build-' + name.split(',')[0])
    if not (folder / 'build.ninja').exists():
        subprocess.run(['meson', 'setup', f'-Db_sanitize={name}', '-Dbuildtype=debugoptimized', *options, str(folder), str(root)],
                       check=True, stdout=subprocess.DEVNULL)
    subprocess.run(['ninja', '-C', str(folder)], check=True, stdout=subprocess.DEVNULL)
    environment = dict(os.environ, ASAN_OPTIONS='detect_leaks=0', UBSAN_OPTIONS='halt_on_error=1:print_stacktrace=1',
                       TSAN_OPTIONS='halt_on_error=1')
    run = subprocess.run([sys.executable, str(root / 'test' / 'run'), '--build', str(folder), '--suite', 'golden', '--suite',
                          'unit', '--mode', 's4'], capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        raise Failure(run.stdout[-4000:] + run.stderr[-1000:])
