# SPDX-License-Identifier: Apache-2.0
"""What can be said of packages without making one: the version, debian/, the manual pages and completions of
the commands."""
import pathlib
import re
import shutil
import subprocess

from .results import Failure, Skip, Test

COMMANDS = ('vmrun', 'vmrunc', 'vmtrace')
# g++ is always there where Debian builds; packages are built without the tests; debhelper is what builds.
NOT_OF_CONTROL, ONLY_OF_CONTROL = {'g++', 'catch2', 'libcapstone-dev'}, {'debhelper-compat'}

# Calls the completion as bash does, with the words of a line, and prints what it offers.
BASH = r"""
compopt() { :; }
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_vmrun "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""


def tests(root, vmrun):
    return [
        Test('docs', 'the version stands in one place', lambda: version(root, vmrun)),
        Test('docs', 'debian/control names the packages of ./dev', lambda: build_depends(root)),
        Test('docs', 'debian/copyright says what REUSE.toml says', lambda: rights(root)),
        Test('docs', 'each command has a manual page and completions', lambda: pages(root)),
        Test('docs', 'the manual page of vmrunc has the options of its --help', lambda: vmrunc(root, vmrun)),
        Test('docs', 'names of D in vmtrace(5) are known to vmtrace', lambda: names_of_d(root, vmrun)),
        Test('docs', 'completions of bash offer what --help has', lambda: bash(root, vmrun)),
        Test('docs', 'completions of fish offer what --help has', lambda: fish(root, vmrun)),
        Test('docs', 'completions of zsh are read without an error', lambda: zsh(root)),
        Test('docs', 'programs do not contain the path of the build', lambda: no_path(root, vmrun)),
        Test('docs', 'other systems have a name for each package', lambda: other_systems(root)),
    ]


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def commands(vmrun):
    """The programs of the build folder that vmrun lies in."""
    build = pathlib.Path(vmrun).resolve().parent
    found = [build / 'vmrun', build / 'runtime/compile/vmrunc', build / 'vmtrace']
    if missing := [str(path) for path in found if not path.exists()]:
        raise Skip('not built: ' + ' '.join(missing))
    return found


def version(root, vmrun):
    meson = (root / 'meson.build').read_text()
    number = re.search(r"^  version: '([^']+)',$", meson, re.M)[1]
    debian = re.match(r'vmrun \(([^)]+)\) ', (root / 'debian/changelog').read_text())[1]
    if debian != number:
        raise Failure(f'meson.build has {number}, debian/changelog {debian}')
    if f'({number})' not in re.search(r'^## .*', (root / 'CHANGELOG.md').read_text(), re.M)[0]:
        raise Failure(f'the newest heading of CHANGELOG.md does not name {number}')
    for command in commands(vmrun):
        prefix = '' if command.name == 'vmrun' else f'{command.name}: '
        for flag in ('-V', '--version'):
            printed = run([command, flag]).stdout
            if printed != f'{prefix}vmrun {number}\n':
                raise Failure(f'{command.name} {flag} prints {printed!r}')


def build_depends(root):
    control = (root / 'debian/control').read_text()
    field = re.search(r'^Build-Depends:(.*(?:\n .*)*)', control, re.M)[1]
    needed = {item.split()[0] for item in field.split(',') if item.strip()} - ONLY_OF_CONTROL
    table = (root / 'dev').read_text().split("<<'TABLE'\n")[1].split('\nTABLE')[0]
    listed = {row.split()[1] for row in table.splitlines() if row.startswith('build ')} - NOT_OF_CONTROL
    if needed != listed:
        raise Failure(
            f'only in debian/control: {sorted(needed - listed)}, only in ./dev: {sorted(listed - needed)}'
        )


def rights(root):
    copyright = (root / 'debian/copyright').read_text()
    reuse = (root / 'REUSE.toml').read_text()
    for key, field in (('SPDX-FileCopyrightText', 'Copyright'), ('SPDX-License-Identifier', 'License')):
        said = re.search(rf'^{key} = "(.*)"$', reuse, re.M)[1]
        if not re.search(rf'^{field}: (?:\d{{4}} )?{re.escape(said)}$', copyright, re.M):
            raise Failure(f'{field} of debian/copyright is not {said}')


def pages(root):
    """Programs that meson.build installs."""
    texts = [(root / name).read_text() for name in ('meson.build', 'runtime/compile/meson.build')]
    built = {
        name
        for text in texts
        for name, rest in re.findall(r"executable\('(\w+)'(.*?)\)$", text, re.M | re.S)
        if 'install: true' in rest
    }
    if built != set(COMMANDS):
        raise Failure(f'installed are {sorted(built)}; COMMANDS here: {sorted(COMMANDS)}')
    for name in built:
        if not (root / f'docs/{name}.1').exists():
            raise Failure(f'there is no docs/{name}.1')
        if f'.BR {name} (' not in ''.join((root / f'docs/{other}.1').read_text() for other in built - {name}):
            raise Failure(f'no other manual page leads to {name}(1)')
    installed = re.search(r'^pages = \[(.*)\]$', texts[0], re.M)[1]
    if set(re.findall(r"'([\w.]+)'", installed)) != {path.name for path in (root / 'docs').glob('*.[15]')}:
        raise Failure('`pages` in meson.build is not what docs has')


def flags_of(help_text):
    """All flags at the beginnings of lines, also the second of `-h, --help`."""
    return {
        flag
        for line in re.findall(r'^  ([-+][^ ,]+(?:, [-+][^ ]+)?)(?: .*)?$', help_text, re.M)
        for flag in line.split(', ')
    }


def vmrunc(root, vmrun):
    page = re.sub(r'\\f.', '', (root / 'docs/vmrunc.1').read_text()).replace('\\-', '-')
    options = page.split('.SH OPTIONS')[1].split('.SH EXIT STATUS')[0]
    described = {
        flag
        for line in re.findall(r'^\.TP\n\.BI? (.*)', options, re.M)
        for flag in re.findall(r'-[\w-]+', line)
    }
    shown = flags_of(run([commands(vmrun)[1], '--help']).stdout)
    if described != shown:
        raise Failure(
            f'only in the page: {sorted(described - shown)}, only shown: {sorted(shown - described)}'
        )


def names_of_d(root, vmrun):
    """Each name stands in a script of its own, which vmtrace compiles."""
    page = (root / 'docs/vmtrace.5').read_text()

    def names(section):
        text = page.split(f'.SS {section}\n')[1].split('\n.SS ')[0].split('\n.SH ')[0]
        return re.findall(r'^(?:\.BR? |\.RB \( )(\w+)(?:\[\])?', text, re.M)

    arguments = {
        'printf': '"x"',
        'printa': '@a',
        'clear': '@a',
        'trunc': '@a',
        'normalize': '@a, 2',
        'denormalize': '@a',
        'exit': '0',
        'ustack': '',
        'speculate': 's',
        'freopen': '"/dev/null"',
        'system': '"true"',
        'sum': '1',
        'min': '1',
        'max': '1',
        'avg': '1',
        'stddev': '1',
        'quantize': '1',
        'lquantize': '1, 0, 10, 1',
        'llquantize': '1, 10, 0, 3, 10',
        'count': '',
        'term2str': 'targs[0]',
        'term2int': 'targs[0]',
        'is_tuple': 'targs[0]',
        'element': '1, targs[0]',
        'copyinstr': 'arg0',
    }
    lines = {}
    for name in names('Built-in variables'.replace('-', '\\-')):
        lines[name] = f'trace({name}{"[0]" if name in ("args", "targs") else ""});'
    for name in names('Functions of aggregations'):
        lines[name] = f'@b = {name}({arguments[name]});'
    for name in names('Statements'):
        if name not in ('if', 'else'):
            lines[name] = f'{name}({arguments.get(name, "1")});'
    for name in names('Terms of Erlang'):
        lines[name] = f'trace({name}({arguments[name]}));'
    if len(lines) < 50:
        raise Failure(f'found {len(lines)} names only: {sorted(lines)}')
    for name, line in lines.items():
        probe = 'erlang*:::message-send' if name in ('args', 'msg', 'message') else 'erlang*:a:b:entry'
        script = f'{probe} {{ @a = count(); }} {probe} {{ {"s = 1; " if "(s)" in line else ""}{line} }}'
        done = run([commands(vmrun)[2], '-wZe', '-n', script])
        if done.returncode:
            raise Failure(f'{name}: {done.stderr}')


def lines_of_help(vmrun):
    """Words in front of a flag, and what --help says then: of each command, and of a view."""
    for command in commands(vmrun):
        yield [command], run([command, '--help']).stdout
    yield [command, 'top'], run([command, 'top', '--help']).stdout


def compare(words, offered, wanted):
    if offered != wanted:
        line = ' '.join(str(word) for word in words)
        raise Failure(f'{line}: missing {sorted(wanted - offered)}, invented {sorted(offered - wanted)}')


def bash(root, vmrun):
    if not shutil.which('bash'):
        raise Skip('no bash')
    script = root / 'runtime/cli/completions/vmrun.bash'

    def offered(*words):
        done = run(['bash', '-c', BASH, 'bash', script, *words])
        if done.stderr:
            raise Failure(done.stderr)
        return set(done.stdout.split())

    for words, text in lines_of_help(vmrun):
        flags = flags_of(text)
        if len(flags) < 8:
            raise Failure(f'{words} --help shows {len(flags)} flags only')
        compare(words, offered(*words, '-') | offered(*words, '+'), flags)
    program, _, vmtrace = commands(vmrun)
    compare(['+hmqd'], offered(program, '+hmqd', ''), {'on_heap', 'off_heap'})
    compare(['-pa'], offered(program, '-pa', str(root / 'docs/exa')), {str(root / 'docs/examples')})
    compare(['t'], offered(vmtrace, 'ti'), {'timeline'})


def fish(root, vmrun):
    if not shutil.which('fish'):
        raise Skip('no fish')
    script = root / 'runtime/cli/completions/vmrun.fish'
    for words, text in lines_of_help(vmrun):
        offered = set()
        for sign in '-+':
            line = ' '.join([words[0].name, *words[1:], sign])
            # As if the program lay in PATH.
            code = f'set -x PATH {words[0].parent} $PATH; source {script}; complete -C "{line}"'
            done = run(['fish', '--no-config', '-c', code])
            if done.stderr:
                raise Failure(done.stderr)
            offered.update(row.split('\t')[0] for row in done.stdout.splitlines())
        compare(words, offered, flags_of(text))


def zsh(root):
    if not shutil.which('zsh'):
        raise Skip('no zsh')
    done = run(['zsh', '-n', root / 'runtime/cli/completions/_vmrun'])
    if done.returncode or done.stderr:
        raise Failure(done.stderr)


def no_path(root, vmrun):
    """Packages that are built in two folders are to be equal, and users have no use for the builder's."""
    for command in commands(vmrun):
        bytes = command.read_bytes()
        if b'.debug_info' in bytes or b'.gcda' in bytes:
            raise Skip('a build for a debugger or with counters names its folder')
        at = bytes.find(str(root.resolve()).encode() + b'/')
        if at >= 0:
            raise Failure(f"{command.name} contains {bytes[at : at + 100]}")


def other_systems(root):
    table = (root / 'dev').read_text().split("<<'TABLE'\n")[1].split('\nTABLE')[0]
    for row in table.splitlines():
        if len(row.split()) != 4:
            raise Failure(f'not what for and three names: {row}')
    debian, fedora, alpine = (
        run([root / 'dev', 'packages', *option]).stdout.split() for option in ([], ['--fedora'], ['--alpine'])
    )
    if not len(debian) >= len(fedora) >= 20 or not len(debian) >= len(alpine) >= 20:
        raise Failure(f'{len(debian)}, {len(fedora)}, {len(alpine)} packages')
