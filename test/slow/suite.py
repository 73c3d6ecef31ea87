# SPDX-License-Identifier: Apache-2.0
"""The slow suites: SystemTap scripts in a guest, unit tests and golden scripts under sanitizers, tracers that
are killed, work with large files and many files, and soak tests."""
import collections
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from harness import native
from harness.golden import MODES, differences_of_run, run_program
from harness.results import Failure, Test
from harness.script import load_all
from live import attach, left_behind, machine_code
from nodes import mutations, partitions
from nodes import suite as nodes

from . import dtrace_root, guest, profile_shares

HERE = pathlib.Path(__file__).resolve().parent

# Assertions are checked too. Sanitizers bring an allocator of their own and need symbols to find in the
# program.
BUILD_OPTIONS = ['-Ddebug=true', '-Dallocator=system', '-Db_ndebug=false', '-Db_lundef=false']

# Areas that collections at every allocation affect most.
GC_AREAS = [
    f' {area}/' for area in ('bits', 'maps', 'processes', 'receive', 'try_catch', 'ets', 'regression')
]

# Fuzz entries, and what each begins with besides its corpora (docs/testing.md, "Fuzzing").
FUZZED = {
    'beam': sorted(pathlib.Path('/usr/lib/erlang/lib').glob('stdlib-*/ebin')),
    'external': [],
    'wire': [],
    'd': [HERE.parent / 'd'],
    'front': [HERE.parent / 'golden'],
    'packet': [HERE.parent / 'fuzz/packets'],
    'efile': [],
}

ALLOCATION_FAILS = 'an allocation fails'  # the name of such tests

# sources and their versions
LIBRARIES = [(HERE / 'soak/native_soaked.c', 1), (HERE / 'soak/native_soaked.c', 2)]

PATIENCE = 10  # how much longer a program may take with a sanitizer

# Sanitizer: further build options, its own options, runs of test/run. Leaks of memory or threads are not
# checked: what lives as long as the machine is never freed, nor are libraries unloaded when it halts. Little
# of the freed memory is kept for a while, because there are tests of how far a node may grow. SIGSEGV is left
# to vmrun, which says what crashed: two native tests need that.
SANITIZERS = {
    'address,undefined': (
        ['-Doptimization=2'],
        {
            'VMRUN_FUZZ_SECONDS': '300',
            'ASAN_OPTIONS': 'detect_leaks=0:exitcode=99:handle_segv=0:quarantine_size_mb=16',
            'UBSAN_OPTIONS': 'halt_on_error=1:print_stacktrace=1:exitcode=99',
        },
        [
            ['--suite', 'unit'],
            ['--suite', 'native', '--mode', 's4'],
            ['--suite', 'golden', '--mode', 's4', '--mode', 'jit'],
            ['--suite', 'golden', '--mode', 's1', '--mode', 'gc-stress', *GC_AREAS],
            ['--suite', 'jit'],
            ['--suite', 'd'],
            ['--suite', 'nodes'],
            ['--suite', 'live', 'inside'],
        ],
    ),
    'thread': (
        ['-Doptimization=1'],
        {
            'TSAN_OPTIONS': 'halt_on_error=1:exitcode=99:handle_segv=0:report_thread_leaks=0'
            f':suppressions={HERE}/thread.supp'
        },
        [
            ['--suite', 'native', '--mode', 's4'],
            ['--suite', 'golden', '--mode', 's4', '--mode', 'random', '--mode', 'jit'],
            ['--suite', 'unit', 'engine'],
            ['--suite', 'd'],
            ['--suite', 'nodes'],
        ],
    ),
}


SMALL_RUNS = [
    ['--suite', 'golden', '--mode', 's4', '--mode', 'slice', '--mode', 'random'],
    ['--suite', 'native', '--mode', 's4'],
]

ALLOCATION_TRIES = 6  # of each script; different ones each day


def tests(root, build, checked, golden_scripts, seed):
    result = [
        Test('slow', 'SystemTap scripts in a guest', lambda: stap_scripts(root, build), in_turn=True),
        Test(
            'slow',
            'DTrace counts what a program with machine code does',
            lambda: dtrace_counts(build),
            in_turn=True,
        ),
    ]
    result.append(
        Test('slow', 'what measures single events is built, and runs', lambda: measures(build), in_turn=True)
    )
    for name in SANITIZERS:
        result.append(Test('slow', f'sanitizers: {name}', lambda n=name: sanitized(root, n), in_turn=True))
    result += [
        Test('slow', f'fuzz: {name}', lambda n=name: fuzzed(root, n, seed), in_turn=True) for name in FUZZED
    ]
    result += attach.slow_tests(root, build / 'vmrun') + profile_shares.tests(root, build)
    for part in (left_behind, mutations, nodes, partitions):
        result += part.slow_tests(build / 'vmrun')
    result.append(Test('slow', 'small limits', lambda: small_limits(root), in_turn=True))
    result += [
        Test(
            'slow',
            f'{ALLOCATION_FAILS}: {s.name}',
            lambda s=s: allocation_fails(str(checked / 'vmrun'), s, seed),
        )
        for s in golden_scripts
    ]
    return result + [
        heavy_script(root, script, build)
        for script in load_all([(HERE / 'files', HERE), (HERE / 'soak', HERE)])
    ]


def allocation_fails(vmrun, script, seed):
    """Whichever allocation of memory fails, the program ends by itself: as it should, or in another way that
    standard error explains."""
    numbers = random.Random(f'{seed} {script.name}')
    for _ in range(ALLOCATION_TRIES):
        n = int(2 ** numbers.uniform(0, 16))
        command = [
            vmrun,
            '+S',
            '2',
            '+fail-alloc',
            str(n),
            *script.flags,
            str(script.path),
            *script.arguments,
        ]
        status, _, err = run_program(command, script.stdin, script.timeout * 2)
        signalled = status < 0 or status >= 128
        if (
            signalled or 'Assertion' in err or (status != script.status and not err)
        ) and script.status != status:
            raise Failure(f'status {status}, standard error: {err[-1500:]!r}\ncommand: {" ".join(command)}')


def heavy_script(root, script, build):
    """A script in the form of the golden ones, too heavy for them. Native libraries are in NATIVE_DIR."""

    def run():
        with tempfile.TemporaryDirectory() as folder:
            for source, version in LIBRARIES:
                target = pathlib.Path(folder, f'{source.stem}_{version}.so')
                native.compile_library(root / 'vm/include', source, target, f'-DVERSION={version}')
            command = [str(build / 'vmrun'), *MODES['s4'][0], *script.flags, str(script.path)]
            difference = differences_of_run(script, command, script.timeout, env=native.environment(folder))
        if difference:
            raise Failure(f'{difference}\ncommand: {" ".join(command)}')

    return Test('slow', script.name, run, in_turn=True)


# What a good trace has besides a line of every kind: whole lines with values that everything_loop.act
# guarantees.
PID = r'<0\.[0-9]+\.0>'
PORT = r'#Port<0\.[0-9]+>'
NUMBER = '[0-9]+'
# what everything_loop.act loads
LOADED = ['counter_drv.so', 'echo_drv.so', 'event_drv.so', 'primes.so', 'primes.erl']
CERTAIN = {
    'aio_pool': [rf'aio_pool-add port={PORT} length=1', rf'aio_pool-get port={PORT} length=0'],
    'bif': [r'[1-9][0-9]* calls of erlang:list_to_atom/1', 'erlang:list_to_atom/1, nanoseconds'],
    'binary': [rf'binary-receive pid={PID} id=[0-9a-f]+ size=1000'],
    'code': [
        'code-load module=loaded_twice size=[0-9]+ replaces=1',
        'code-purge module=loaded_twice size=[0-9]+',
    ],
    'dist': [
        r'dist-monitor node=everything@127.0.0.1 what=nodeup other_node=partner@127.0.0.1 type=visible '
        r'reason=\[\]',
        rf'dist-port_busy node=everything@127.0.0.1 port={PORT} other_node=partner@127.0.0.1 pid={PID}',
    ],
    'driver': [
        'driver-init driver_name=echo_drv major=3 minor=3 flags=3',
        'driver-finish driver_name=echo_drv',
        rf'driver-start caller={PID} driver_name=spawn port={PORT}',
        'driver-stop_select driver_name=counter_drv',
        rf'driver-call caller={PID} port={PORT} port_name=echo_drv command=5 size=9',
        rf'driver-control caller={PID} port={PORT} port_name=echo_drv command=66 size=2',
        rf'driver-ready_input pid={PID} port={PORT} port_name=cat',
        rf'driver-event pid={PID} port={PORT} port_name=event_drv',
    ],
    'efile_drv': [
        rf'efile_drv-entry thread_id={NUMBER} tag={NUMBER} user_tag=tag command=12 s1=/none/old s2=/none/new '
        rf'i1=0 i2=0 i3=0 i4=0 port={PORT}',
        rf'efile_drv-return thread_id={NUMBER} tag={NUMBER} user_tag=tag command=12 ok=0 error=2',
    ],
    'ets': [
        rf'ets-write pid={PID} name=t table=#Ref<.*> operation=insert objects=1 size=1',
        rf'ets-lookup pid={PID} name=t table=#Ref<.*> operation=lookup found=1 examined=1',
    ],
    'file_operation': [
        rf'\{{{NUMBER},{NUMBER}\}} RENAME /none/old /none/new tag=tag error=2 .*',
        rf'\{{{NUMBER},{NUMBER}\}} CLOSE .*',
    ],
    'function': [
        rf'local-function-entry pid={PID} mfa=everything_loop:work/2 depth=[0-9]+',
        rf'global-function-entry pid={PID} mfa=lists:seq/2 depth=[0-9]+',
    ],
    'message': [
        rf'message-send sender={PID} receiver={PID} size=0 label=0 previous=0 current=0',
        rf'message-priority receiver={PID} size=0 ahead=0 passed=1',
    ],
    'name': [rf'name-unregister name=everything who={PID} by={PID} ends=0'],
    'nif': [
        '[1-9][0-9]* calls of primes:dirty_cpu/1',
        '[1-9][0-9]* calls of primes:here/0',
        'primes:dirty_cpu/1, nanoseconds',
    ],
    'port': [
        rf'port-open owner={PID} port_name=cat port={PORT}',
        rf'port-command sender={PID} port={PORT} port_name=cat type=command',
        rf'port-command sender={PID} port={PORT} port_name=echo_drv type=close',
        rf'port-control caller={PID} port={PORT} port_name=echo_drv command=66',
        rf'port-exit who={PID} port={PORT} port_name=echo_drv reason=normal',
    ],
    'process': [
        rf'process-spawn pid={PID} mfa=erlang:apply/2',
        rf'process-exit pid={PID} reason=2002',
        rf'process-exit_signal sender={PID} receiver={PID} reason=2002',
        rf'process-hibernate pid={PID} mfa=erlang:apply/2',
        rf"process-exit_signal-remote sender={PID} node=partner@127.0.0.1 "
        rf"receiver=\{{<[0-9.]+>,'partner@127.0.0.1'\}} reason=answered .*",
        rf'process-port_unblocked pid={PID} port={PORT}',
    ],
    'run_queue': [rf'process-runnable pid={PID} priority=1 queue=0'],
    'seq_trace': [
        rf'send     {PID} to {PID} label 17, 1 after 0',
        rf'receive  {PID} label 17, 1 after 0, waited [0-9]+ us',
    ],
    'seq_trace_nodes': [
        rf"{NUMBER} {NUMBER} {PID} sends to \{{desk,'partner@127.0.0.1'\}} at partner@127.0.0.1: label 77, "
        r"1 after 0",
        rf'{NUMBER} {NUMBER} {PID} receives: label 77, .*',
    ],
    'spawn_exit': [
        rf'spawn {PID} mfa erlang:apply/2',
        rf'exit {PID} reason 2002',
        rf'signal from {PID} to {PID} reason 2002',
    ],
    'trace': [
        rf'trace {PID} send state=state traced {PID}',
        rf'trace_seq state=state label=17 \{{send,\{{1,2\}},{PID},{PID},told\}}',
    ],
    'user_trace': [
        rf'user_trace-i4s4 pid={PID} tag=order 17 1 -2 0 0 "text" "more" "" ""',
        rf'user_trace-n0 pid={PID} tag=order 17 3 0 0 0 "" "" "" ""',
        'user_trace-s1 one text',
    ],
}


# Packets of drivers without outputv: a connection has none of them unless a module of another project carries
# it (test/live/cluster.py).
ELSEWHERE = 'dist-output node='


def printed_lines(text, at_end):
    """Returns patterns of the lines that a script's printf calls make here, those of its probes or those of
    its end."""
    patterns = []
    for block in re.split(r'^probe ', text, flags=re.M)[1:]:
        if not block.startswith('begin') and block.startswith('end') == at_end:
            for line in re.findall(r'printf\("(.*?)\\n"', block):
                if line.startswith(ELSEWHERE):
                    continue
                patterns.append(
                    re.escape(line.replace('\\"', '"'))
                    .replace('%s', '.*')
                    .replace('%d', '-?[0-9]+')
                    .replace('%x', '[0-9a-f]+')
                    .replace(r'\ ', ' ')
                    .replace(r'\-', '-')
                )
    return patterns


# Where processors are emulated, a probe may wait too long for another one and be skipped. Then one line is
# missing, of those that there are several of.
SKIPPED_SOME = r'(?m)^WARNING: Number of errors: 0, skipped probes: [0-9]+$'


def trace_faults(name, text, results):
    """Returns what is wrong with the trace of one script, in words."""
    faults = [results[f'{name}.fault'].strip()] if f'{name}.fault' in results else []
    said = re.sub(SKIPPED_SOME, '', results.get(f'{name}.err', '')).strip()
    if said:
        faults.append('staprun says: ' + said[-500:])
    lines = results.get(f'{name}.trace', '').splitlines()
    if 'tracing' not in lines:
        return [*faults, 'the trace has no line "tracing"']
    live, end = printed_lines(text, False), printed_lines(text, True)
    own = [i for i, line in enumerate(lines) if any(re.fullmatch(p, line) for p in live)]
    strange = [
        lines[i] for i in sorted(set(range(own[-1] if own else 0)) - set(own)) if lines[i] != 'tracing'
    ]
    if strange:
        faults.append(f'{len(strange)} lines it cannot have printed, such as: {strange[0]}')
    if '@hist_log' in text and not any(line.lstrip().startswith('value |---') for line in lines):
        faults.append('no histogram at its end')
    faults += [
        f'no line: {p}'
        for p in live + end + CERTAIN.get(name, [])
        if not any(re.fullmatch(p, line) for line in lines)
    ]
    if faults:
        faults += [f'{len(lines)} lines of trace, the last:', *['  ' + line for line in lines[-5:]]]
        if results.get(f'{name}.vmrun', '').strip() != 'ready':
            faults.append('vmrun says: ' + results.get(f'{name}.vmrun', '')[-500:])
    return faults


def dtrace_counts(build):
    vmrun = build / 'vmrun'
    machine_code.Suite(vmrun.resolve()).dtrace_counts(dtrace_root.command(vmrun))


def stap_scripts(root, build):
    scripts = {
        path.stem.replace('-', '_'): path for path in sorted((root / 'scripts' / 'stap').glob('*.stp'))
    }
    texts = {name: path.read_text() for name, path in scripts.items()}
    files = {
        build / 'vmrun': 'vmrun',
        **{HERE / name: name for name in ('everything_loop.act', 'partner.act')},
    }
    with guest.Guest().ready() as machine, tempfile.TemporaryDirectory() as folder:
        libraries = native.Libraries(root, folder, build).get('own')
        files.update({libraries / name: name for name in LOADED})
        for name, path in scripts.items():
            files[path] = name + '.stp'
            patterns = pathlib.Path(folder) / f'{name}.live'
            certain = CERTAIN.get(name, []) if printed_lines(texts[name], False) else []
            patterns.write_text(''.join(p + '\n' for p in printed_lines(texts[name], False) + certain))
            files[patterns] = patterns.name
        status, output, results = machine.run(files, (HERE / 'guest_check.sh').read_text())
    faults = [
        f'{scripts[name].name}: {fault}'
        for name, text in texts.items()
        for fault in trace_faults(name, text, results)
    ]
    if status != 0 or faults:
        raise Failure('\n'.join([*faults, f'the guest, status {status}: ' + ', '.join(output.splitlines())]))


def shown(command, what, environment=None):
    """Runs a command and passes on its lines as they come, because it takes long. Its last lines are what a
    failure shows."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors='replace',
        env=environment,
    )
    lines = collections.deque(maxlen=200)
    last = time.monotonic()
    for line in process.stdout:
        lines.append(line)
        if not line.startswith('[') or time.monotonic() - last > 10:
            last = time.monotonic()
            print(f'  {what}: {line}', end='', file=sys.stderr, flush=True)
    if process.wait() != 0:
        raise Failure(
            f'{" ".join(map(str, command))}: status {process.returncode}\n' + ''.join(lines)[-12000:]
        )


def small_limits(root):
    """Runs golden scripts and native libraries where every table and chunk is tiny
    (vm/base/small_limits.hpp)."""
    folder = root / 'build-small'
    if not (folder / 'build.ninja').exists():
        shown(
            [
                'meson',
                'setup',
                '-Dlimits=small',
                '-Doptimization=1',
                '-Ddebug=false',
                '-Db_ndebug=false',
                str(folder),
                str(root),
            ],
            'small limits',
        )
    shown(['ninja', '-C', str(folder), 'vmrun', 'runtime/compile/vmrunc'], 'small limits')
    for run in SMALL_RUNS:
        shown(
            [
                sys.executable,
                str(root / 'test' / 'run'),
                '--build',
                str(folder),
                '--patience',
                '2',
                '--small-limits',
                *run,
            ],
            'small limits',
        )


def fuzzed(root, name, seed):
    """Runs a fuzz entry that is guided by what its inputs reach. Those that reached something new are where
    the next run begins."""
    folder = root / 'build-fuzz'
    if not (folder / 'build.ninja').exists():
        options = ['-Dfuzz=true', '-Db_sanitize=address,undefined', '-Doptimization=1', *BUILD_OPTIONS]
        shown(['meson', 'setup', *options, str(folder), str(root)], name)
    program = f'test/fuzz/fuzz_{name}'
    shown(['ninja', '-C', str(folder), program], name)
    kept = pathlib.Path(os.environ.get('VMRUN_CORPORA') or folder / 'corpora', name)
    # The driver leaves the input when the program is aborted.
    options = SANITIZERS['address,undefined'][1]
    environment = dict(os.environ, **{name: f'{value}:abort_on_error=1' for name, value in options.items()})
    environment['VMRUN_FUZZ_SECONDS'] = os.environ.get('VMRUN_FUZZ_SECONDS', '300')
    inputs = [p for p in [root / 'test/fuzz/corpora' / name, *FUZZED[name]] if p.exists()]
    command = [str(folder / program), '-seconds=300', f'-seed={seed}', f'-keep={kept}', *map(str, inputs)]
    shown(command, name, environment)


def measures(build):
    """The programs on Google Benchmark, which no other build makes."""
    for program in ('bench/engine/engine_firing', 'bench/wire/wire_messages', 'bench/micro/micro'):
        shown(['ninja', '-C', str(build), program], program)
        shown([str(build / program), '--benchmark_list_tests'], program)


def sanitized(root, name):
    options, sanitizer_options, runs = SANITIZERS[name]
    folder = root / ('build-' + name.split(',')[0])
    if not (folder / 'build.ninja').exists():
        shown(
            ['meson', 'setup', f'-Db_sanitize={name}', *BUILD_OPTIONS, *options, str(folder), str(root)], name
        )
    shown(['ninja', '-C', str(folder)], name)
    environment = dict(os.environ, **sanitizer_options)
    for run in runs:
        shown(
            [
                sys.executable,
                str(root / 'test' / 'run'),
                '--build',
                str(folder),
                '--patience',
                str(PATIENCE),
                *run,
            ],
            name,
            environment,
        )
