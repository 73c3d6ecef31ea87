"""OTP's own test suites, run by vmrun: of the source package of Debian's erlang, with a small stand-in for common_test.
A suite marked `node` in suites.txt runs on a node, with an epmd of its own, and starts other nodes of vmrun; any other has no nodes to start.

suites.txt names the suites, and the cases that do not pass, with the reason. A case that fails and is not named there is a failure of
the test, and so is one that is named and passes, unless the reason begins with "sometimes". What a suite skips by itself (other nodes, say) does not count.
"""
import contextlib
import fcntl
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile

from harness.golden import ENVIRONMENT, run_program
from harness.results import Failure, Skip, Test
from nodes.cluster import free_port
from slow.guest import Guest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get('VMRUN_OTP_SOURCE', '/var/tmp/vmrun-otp'))
CASE_SECONDS, SUITE_SECONDS = 60, 600
HOOK = re.compile(r'erts_debug(:|, *)([gs]et)_internal_state\b')  # into the machine itself, which is another one here
LINE = re.compile(r'case: (ok|skip|failed|late) (\S+) ?(.*)')


def tests(root, vmrun):
    return [Test('otp', f'{folder}/{suite}', lambda f=folder, s=suite, how=how: run(root, vmrun, f, s, *how))
            for folder, suites in listed().items() for suite, how in suites.items()]


def listed():
    """Folder -> suite -> whether on a node, and case -> why it does not pass: by the indentation of suites.txt."""
    folders = {}
    for line in (HERE / 'suites.txt').read_text().splitlines():
        word, _, rest = line.strip().partition(' ')
        depth = len(line) - len(line.lstrip())
        if not word or word == '#':
            continue
        if depth == 0:
            folder = folders.setdefault(word, {})
        elif depth == 2:
            suite = folder.setdefault(word, (rest == 'node', {}))
        else:
            suite[1][word] = rest.strip()
    return folders


def run(root, vmrun, folder, suite, is_node, excepted):
    source = fetched()
    with tempfile.TemporaryDirectory(prefix='vmrun-otp-') as work:
        work = pathlib.Path(work)
        for name in ('private', 'compiled'):
            (work / name).mkdir()
        copy_data(root, source / folder / f'{suite}_data', work / f'{suite}_data')
        text = (source / folder / f'{suite}.erl').read_text(encoding='utf-8', errors='surrogateescape')
        (work / f'{suite}.erl').write_text(HOOK.sub(r'internal_state\1\2', text), encoding='utf-8', errors='surrogateescape')
        libraries = [source / 'lib', source / 'lib/kernel/include', source / 'lib/stdlib/include', source / folder]
        code = [source / 'lib/kernel/examples/gen_tcp_dist/src', source / folder, HERE / 'stand_in', work]
        command = [os.path.abspath(vmrun), '-noinput', *flags('-I', HERE / 'stand_in', *libraries), *flags('-pa', *code)]
        environment = dict(ENVIRONMENT, HOME=str(work))
        with on_a_node(command, work, environment) if is_node else alone(command):
            status, out, err = run_program([*command, str(HERE / 'run_suite.act'), suite, str(work / f'{suite}_data'), str(work / 'private'), str(CASE_SECONDS)],
                                           '', SUITE_SECONDS, cwd=work, env=environment)
    results = [m.groups() for m in map(LINE.fullmatch, out.splitlines()) if m]
    failed = {case: f'{what} {case} {detail[:300]}' for what, case, detail in results if what in ('failed', 'late')}
    wrong = [text for case, text in failed.items() if case not in excepted]
    mended = [f'{case} passes: it need not stand in suites.txt any more' for what, case, _ in results
              if what == 'ok' and case in excepted and case not in failed and not excepted[case].startswith('sometimes')]
    if status != 0 or not results:
        wrong.append(f'status {status}\n{(out + err)[-1500:]}')
    if wrong or mended:
        raise Failure('\n'.join(wrong + mended))


@contextlib.contextmanager
def alone(command):
    command += ['-pa', str(HERE / 'stand_in/alone')]
    yield


@contextlib.contextmanager
def on_a_node(command, work, environment):
    """The command becomes that of a node, and others are started by the script `erl`, as suites expect. Whoever has the
    environment is one of them, and is ended at last: most are in the background."""
    environment.update(ERL_EPMD_PORT=str(free_port()), ERL_EPMD_ADDRESS='127.0.0.1', VMRUN_OTP_NODES=str(work))
    command += ['-pa', str(work / 'compiled')]
    (work / '.erlang.cookie').write_text(f'otp{os.getpid()}')
    (work / '.erlang.cookie').chmod(0o400)
    (work / 'erl').write_text(f'#!/bin/sh\nexec {shlex.join(command)} -progname "$0" "$@"\n')
    (work / 'erl').chmod(0o755)
    command += ['-progname', str(work / 'erl'), '-sname', 'suite']
    try:
        yield
    finally:
        mark = f'VMRUN_OTP_NODES={work}'.encode()
        for process in pathlib.Path('/proc').glob('[0-9]*'):
            with contextlib.suppress(OSError):
                if mark in (process / 'environ').read_bytes().split(b'\0'):
                    os.kill(int(process.name), signal.SIGKILL)


def flags(flag, *folders):
    return [word for folder in folders for word in (flag, str(folder))]


def copy_data(root, source, to):
    """A suite's data, its C files compiled as the libraries or programs they are meant to be."""
    if not source.is_dir():
        return to.mkdir()
    shutil.copytree(source, to)
    for file in to.glob('*.c'):
        program = re.search(r'^(int )?main\(', file.read_text(errors='replace'), re.M)
        kind, target = ([], file.with_suffix('')) if program else (['-shared', '-fPIC'], file.with_suffix('.so'))
        subprocess.run(['gcc', *kind, '-w', '-I', str(root / 'vm/include'), '-o', str(target), str(file)], capture_output=True)


def fetched():
    """The folder of OTP's source, fetched if it is not there yet."""
    SOURCE.mkdir(parents=True, exist_ok=True)
    with open(SOURCE / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = list(SOURCE.glob('*/OTP_VERSION'))
        return found[0].parent if found else fetch()


def fetch():
    if not shutil.which('apt-get'):
        raise Skip("needs apt-get, to fetch the source of Debian's erlang (or VMRUN_OTP_SOURCE: a folder with it)")
    with tempfile.TemporaryDirectory(prefix='vmrun-otp-') as work:
        lists = pathlib.Path(work) / 'sources.list.d'
        lists.mkdir()
        for path in map(pathlib.Path, Guest.sources(Guest.suite())):
            (lists / path.name).write_text(re.sub(r'^(Types:\s*|)deb(?=\s)', r'\1deb-src', path.read_text(), flags=re.M))
        (pathlib.Path(work) / 'lists').mkdir()
        options = ['-o', 'Dir::Etc::sourcelist=/dev/null', '-o', f'Dir::Etc::sourceparts={lists}', '-o', f'Dir::State::lists={work}/lists',
                   '-o', 'APT::Sandbox::User=root']
        for command in (['update', '-qq'], ['source', '-qq', '--download-only', 'erlang']):
            result = subprocess.run(['apt-get', *options, *command], cwd=work, capture_output=True, text=True)
            if result.returncode != 0:
                raise Skip(f'apt-get {command[0]}: {result.stderr.strip()[-300:]}')
        archive = next(pathlib.Path(work).glob('erlang_*.orig.tar.*'))
        subprocess.run(['tar', 'xf', str(archive), '-C', str(SOURCE)], check=True)
    return next(SOURCE.glob('*/OTP_VERSION')).parent
