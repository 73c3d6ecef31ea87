# SPDX-License-Identifier: Apache-2.0
"""OTP's source, fetched once, and of it what a suite needs, compiled once: its modules by stock erlc, its
libraries and programs in C by make."""
import fcntl
import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from harness.results import Failure, Skip
from slow.guest import Guest

SOURCE = pathlib.Path(os.environ.get('VMRUN_OTP_SOURCE', '/var/tmp/vmrun-otp'))
HERE = pathlib.Path(__file__).resolve().parent
# Modules that suites of other folders than their own use.
SHARED = [
    'erts/emulator/test/erts_test_utils.erl',
    'lib/sasl/test/otp_vsns.erl',
    'lib/stdlib/test/error_info_lib.erl',
    'lib/kernel/test/rtnode.erl',
    'lib/kernel/examples/gen_tcp_dist/src/gen_tcp_dist.erl',
    'lib/common_test/test_server/ts_install_cth.erl',
    'lib/common_test/test_server/ts_lib.erl',
]
INCLUDES = [
    'lib',
    'lib/kernel/include',
    'lib/kernel/src',
    'lib/stdlib/include',
    'lib/sasl/src',
    'lib/mnesia/src',
    'lib/syntax_tools/include',
    'lib/ssl/src',
    'lib/inets/src/http_lib',
    'lib/inets/src/http_client',
    'lib/inets/src/inets_app',
]
COMPILE = '''
[Out, Modules | Includes] = init:get_plain_arguments(),
%% The installed libraries have headers that are made when they are built.
Made = filelib:wildcard(filename:join(code:lib_dir(), "*/include")),
Options = [debug_info, nowarn_deprecated_function, {outdir, Out} | [{i, I} || I <- Includes ++ Made]],
Compiled = fun(File) -> compile:file(File, Options) =/= error end,
{ok, Text} = file:read_file(Modules),
%% Twice: a parse transform may come after its first use.
Left = lists:foldl(fun(_, Files) -> [F || F <- Files, not Compiled(F)] end,
    string:lexemes(binary_to_list(Text), "\\n"), [1, 2]),
io:format("~nleft: ~p~n", [Left]),
halt().
'''


def compiled(folder, suite):
    """A folder with the compiled modules and the data of the suite."""
    source = fetched()
    to = SOURCE / 'compiled' / folder
    to.mkdir(parents=True, exist_ok=True)
    with locked(to / 'lock'):
        modules = [m for m in needed(source, source / folder, suite) if not (to / f'{m.stem}.beam').exists()]
        if modules:
            compile_modules(source, folder, modules, to)
        if not (to / f'{suite}.beam').exists():
            raise Failure(f'{folder}/{suite} cannot be compiled: see {to}/compile.log')
        data = to / f'{suite}_data'
        if not data.exists() and (source / folder / data.name).is_dir():
            make_data(source / folder / data.name, data)
    return to


def needed(source, folder, suite):
    """The suite, suites that it names, those that these name, and every module of the folder that is no
    suite."""
    suites, to_read = {suite}, [suite]
    while to_read:
        source_of_it = folder / f'{to_read.pop()}.erl'
        named = (
            set(re.findall(r'\b\w+_SUITE\b', source_of_it.read_text(errors='replace')))
            if source_of_it.exists()
            else set()
        )
        to_read += named - suites
        suites |= named
    return [
        m
        for m in (*(source / m for m in SHARED), *sorted(folder.glob('*.erl')))
        if m.exists() and (not m.stem.endswith('_SUITE') or m.stem in suites)
    ]


def compile_modules(source, folder, modules, to):
    (to / 'modules').write_text(''.join(f'{m}\n' for m in modules))
    includes = [str(source / i) for i in (folder, *INCLUDES)]
    with open(to / 'compile.log', 'w') as log:
        subprocess.run(
            [
                'erl',
                '-noshell',
                '-enable-feature',
                'maybe_expr',
                '-pa',
                str(to),
                '-eval',
                COMPILE,
                '-extra',
                str(to),
                str(to / 'modules'),
                *includes,
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=to,
            timeout=600,
        )


def make_data(source, to):
    """Makes a Makefile of each Makefile.src, as OTP's ts_install makes it; what it cannot make, the cases
    that need it say."""
    making = to.with_suffix('.making')
    shutil.rmtree(making, ignore_errors=True)
    shutil.copytree(source, making)  # what links to another suite's data too
    sibling = source.parent / 'erl_drv_thread_SUITE_data'  # nif_SUITE makes its own of these
    if making.name.startswith('nif_SUITE') and sibling.is_dir():
        shutil.copytree(sibling, to.parent / sibling.name, dirs_exist_ok=True)
    for template in making.rglob('Makefile.src'):
        text = re.sub(r'@(\w+)@', lambda m: variables().get(m[1], ''), template.read_text())
        template.with_name('Makefile').write_text(text)
        with open(template.with_name('make.log'), 'w') as log:
            subprocess.run(
                ['make', '-k'], cwd=template.parent, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )
    making.rename(to)


def hook():
    """The folder of the compiled hook of common_test."""
    to, source = SOURCE / 'compiled/hook', HERE / 'otp_results.erl'
    to.mkdir(parents=True, exist_ok=True)
    with locked(to / 'lock'):
        beam = to / 'otp_results.beam'
        if not beam.exists() or beam.stat().st_mtime < source.stat().st_mtime:
            subprocess.run(['erlc', '-o', str(to), str(source)], check=True)
    return to


@functools.cache
def variables():
    """What stands between two @ in a Makefile.src."""
    root = subprocess.run(
        ['erl', '-noshell', '-eval', 'io:put_chars(code:root_dir()), halt().'],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rule = (
        '.SUFFIXES:\n.SUFFIXES: .so .o .c\n\n.c.so:\n'
        '\tgcc -c -fPIC -g -O2 -w -fpermissive -DHAVE_ISFINITE $(SHLIB_EXTRA_CFLAGS) '
        f'-I{root}/usr/include $<\n'
        '\tgcc -shared $(SHLIB_EXTRA_LDFLAGS) -o $@ $*.o $(SHLIB_EXTRA_LDLIBS)'
    )
    return {
        'SHLIB_RULES': rule,
        'CC': 'gcc',
        'LD': 'gcc',
        'CFLAGS': '-g -O2 -w -fpermissive',
        'EI_CFLAGS': '-w -D_REENTRANT',
        'SHLIB_CFLAGS': '-fPIC',
        'DEFS': '-DHAVE_STRERROR',
        'dll': '.so',
        'obj': '.o',
        'EMULATOR': 'beam',
        'LIBS': '-ldl -lm -lpthread',
        'erl_name': 'erl',
        'erl_include': f'{root}/usr/include',
        'erl_interface_include': f'{root}/usr/include',
        'erl_interface_eilib': f'{root}/usr/lib/libei.a',
        'os': 'linux-gnu',
        'IFEQ': 'ifeq',
        'ELSE': 'else',
        'ENDIF': 'endif',  # make knows conditions too
        'erl_interface_threadlib': '-lpthread',
        'erl_interface_mk_include': '/dev/null',
        'erts_lib_make_internal': '/dev/null',
        'erts_lib_make_ethread': '/dev/null',
    }


class locked:
    """Only one process at a time, of all that name the file."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.file = open(self.path, 'w')
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


def fetched():
    """The folder of OTP's source, fetched if it is not there yet."""
    SOURCE.mkdir(parents=True, exist_ok=True)
    with locked(SOURCE / 'lock'):
        found = list(SOURCE.glob('*/OTP_VERSION'))
        if not found:
            fetch_package('erlang', SOURCE, 'VMRUN_OTP_SOURCE')
        return next(SOURCE.glob('*/OTP_VERSION')).parent


def fetch_package(package, to, variable):
    """The source of a package of Debian, unpacked; `variable` names a folder that has it where this cannot be
    done."""
    if not shutil.which('apt-get'):
        raise Skip(
            f"needs apt-get, to fetch the source of Debian's {package} (or {variable}: a folder with it)"
        )
    with tempfile.TemporaryDirectory(prefix='vmrun-otp-') as work:
        lists = pathlib.Path(work) / 'sources.list.d'
        lists.mkdir()
        for path in map(pathlib.Path, Guest.sources(Guest.suite())):
            (lists / path.name).write_text(
                re.sub(r'^(Types:\s*|)deb(?=\s)', r'\1deb-src', path.read_text(), flags=re.M)
            )
        (pathlib.Path(work) / 'lists').mkdir()
        options = [
            '-o',
            'Dir::Etc::sourcelist=/dev/null',
            '-o',
            f'Dir::Etc::sourceparts={lists}',
            '-o',
            f'Dir::State::lists={work}/lists',
            '-o',
            'APT::Sandbox::User=root',
        ]
        for command in (['update', '-qq'], ['source', '-qq', '--tar-only', package]):
            result = subprocess.run(['apt-get', *options, *command], cwd=work, capture_output=True, text=True)
            # A mirror may lack the small files beside the archive, which are not needed.
            archive = next(pathlib.Path(work).glob(f'{package}_*.orig.tar.*'), None)
            if result.returncode != 0 and not archive:
                raise Skip(f'apt-get {command[0]}: {result.stderr.strip()[-300:]}')
        subprocess.run(['tar', 'xf', str(archive), '-C', str(to)], check=True)
