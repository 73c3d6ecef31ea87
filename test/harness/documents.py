# SPDX-License-Identifier: Apache-2.0
"""Compares documents and tracing scripts with the tables that they describe."""
import re
import shutil
import subprocess
import sys
import tempfile

from . import licences, packaging, paragraphs, pictures, tracing_scripts
from .results import Failure, Skip, Test


def tests(root, vmrun):
    table = probe_table(root)
    return [
        Test('docs', 'the documents name the packages', lambda: packages(root)),
        Test('docs', 'docs/probes.md is what the table says', lambda: probe_reference(root, table)),
        Test('docs', 'docs/internals/d-engine.md has the operations', lambda: engine_reference(root)),
        Test('docs', 'a range row of the probe table is numbered probes', lambda: range_rows(root)),
        Test('docs', 'docs/nifs.md lists the functions of erl_nif.h', lambda: native_functions(root, vmrun)),
        Test(
            'docs',
            'docs/drivers.md lists the functions of erl_driver.h',
            lambda: driver_functions(root, vmrun),
        ),
        Test(
            'docs',
            'docs/what-is-there.md lists the built-in functions of OTP that are not there',
            lambda: missing_built_ins(root),
        ),
        Test(
            'docs', 'docs/internals/files.md has the commands of the file driver', lambda: file_commands(root)
        ),
        Test(
            'docs',
            'docs/internals/library.md says why each module of the library is there',
            lambda: library_modules(root),
        ),
        Test('docs', 'files that the documents name are there', lambda: named_files(root, vmrun)),
        Test('docs', 'what the notes and the glossary name is in the sources', lambda: names_in_notes(root)),
        Test('docs', 'links between documents lead to files and headings that exist', lambda: links(root)),
        Test('docs', 'every document is reached by links from the README', lambda: reachable(root)),
        Test('docs', 'the site has a place for every document', lambda: site_pages(root)),
        Test('docs', 'the site is built without a warning', lambda: site(root)),
        Test('docs', 'the manual page has the flags of --help', lambda: manual_page(root, vmrun)),
        Test('docs', 'the manual page of vmtrace has the flags of its --help', lambda: vmtrace_page(root)),
        Test('docs', 'a script is shown in each stage', lambda: stages(root, vmrun)),
        *packaging.tests(root, vmrun),
        *paragraphs.tests(root),
        *licences.tests(root),
        *pictures.tests(root),
        *tracing_scripts.tests(root, table, vmrun),
    ]


def packages(root):
    """contributing.md names every package, THIRD-PARTY.md those that are libraries."""
    listed = subprocess.run(
        [root / 'dev', 'packages'], capture_output=True, text=True, check=True
    ).stdout.split()
    libraries = [
        package
        for package in listed
        if package.startswith('lib')
        and package.endswith('-dev')
        or package in ('catch2', 'systemtap-sdt-dev', 'zlib1g-dev')
    ]
    for document, wanted in (('docs/contributing.md', listed), ('THIRD-PARTY.md', libraries)):
        text = (root / document).read_text()
        missing = [
            package for package in wanted if not re.search(rf'(?<![\w-]){re.escape(package)}(?![\w-])', text)
        ]
        if missing:
            raise Failure(f'{document} does not name: ' + ' '.join(missing))


def named_files(root, vmrun):
    """Checks that named files exist: paths of scripts, documents and tests in the documents for users and in
    --help, and of documents in sources. NAME and * stand for any name."""
    texts = {
        path.relative_to(root): path.read_text()
        for path in (*documents(root), *(root / 'docs').glob('*.[15]'))
    }
    texts['--help'] = help_text(vmrun)
    # Documents that meson.build and the sources name.
    for folder in ('vm', 'runtime', 'drivers', 'probes', 'bench', 'scripts', 'test'):
        for path in sorted((root / folder).rglob('*')):
            if (
                path.suffix in ('.cpp', '.hpp', '.h', '.c', '.py', '.erl', '.act', '.tab')
                or path.name == 'meson.build'
            ):
                texts[path.relative_to(root)] = '\n'.join(
                    re.findall(r'(?<![\w/.-])docs/[\w/-]+\.md', path.read_text(errors='replace'))
                )
    texts['meson.build'] = '\n'.join(
        re.findall(r'(?<![\w/.-])docs/[\w/-]+\.md', (root / 'meson.build').read_text())
    )
    for where, text in texts.items():
        for name in re.findall(r'(?<![\w/.-])(?:scripts|docs|test|drivers|probes)/[\w/.*-]+', text):
            name = name.rstrip('.')
            pattern = re.sub(r'(?<![A-Z])(NAME|AREA)(?![A-Z])', '*', name)
            # a program is made from its source
            if not list(root.glob(pattern)) and not list(root.glob(pattern + '.cpp')):
                raise Failure(f'{where} names {name}, which is not there')


# Names in the notes that no source has: placeholders, generated files, other programs, rejected ways.
FOREIGN = set(
    'UpperCamel kUpperCamel snake_case XxxUpcalls erl_lint epoll_pwait2 '
    'sys_enter_sendmsg process_vm_readv lra_simple_p a_star_search _ns _ports _processes '
    'xxx_upcalls.hpp vm/probes/fire.hpp'.split()
)


def names_in_notes(root):
    """Names of functions, types and files in the code style of a note are words of a source."""
    notes = [
        *(root / 'docs/internals').glob('*.md'),
        root / 'docs/contributing.md',
        root / 'docs/glossary.md',
    ]
    words, files = set(), []
    for folder in ('vm', 'runtime', 'drivers', 'probes', 'test', 'bench', 'scripts', 'docs'):
        for path in (root / folder).rglob('*'):
            if path.is_file() and path.suffix != '.md':
                words.update(re.findall(r'\w+', path.read_text(errors='replace')))
                files.append(f'/{path.relative_to(root)}')
    paths = '\n'.join(files) + '\n'
    wrong = []
    for note in notes:
        text = re.sub(r'^```.*?^```$', '', note.read_text(), flags=re.M | re.S)
        for code in set(re.findall(r'`([^`\n]+)`', text)) - FOREIGN:
            named = [name for name in re.findall(r'[A-Za-z_]\w*', code) if re.search(r'_|[a-z][A-Z]', name)]
            named = [
                name for name in named if name not in words | FOREIGN and not re.search('^D_|NAME', name)
            ]
            is_file = re.fullmatch(r'[a-z]\w*(/\w+)*\.(cpp|hpp|tab|py)', code) and 'NAME' not in code
            if is_file and f'/{code}\n' not in paths:
                named.append(code)
            wrong += [f'{note.relative_to(root)}: {name}' for name in named]
    if wrong:
        raise Failure(
            'not in the sources (FOREIGN in test/harness/documents.py excuses): ' + ', '.join(sorted(wrong))
        )


def documents(root):
    """All Markdown of the checkout; in a copy without git, of the folders that documents stand in."""
    listed = subprocess.run(
        ['git', '-C', root, 'ls-files', '--cached', '--others', '--exclude-standard', '*.md'],
        capture_output=True,
        text=True,
    )
    names = listed.stdout.split() or [
        p.relative_to(root) for p in [*root.glob('*.md'), *(root / 'docs').rglob('*.md')]
    ]
    return [root / name for name in names if (root / name).exists()]


def prose(text):
    """A document without its blocks and pieces of code, where brackets are no links."""
    text = re.sub(r'^(```.*?^```|(?: {4}|\t).*?)$', '', text, flags=re.M | re.S)
    return re.sub(r'`[^`\n]*`', '', text)


def anchors(path):
    """The anchors of a document's headings. Forges and the site agree on them as long as no heading needs
    more than this."""
    headings = re.findall(r'^#+ (.*)', re.sub(r'^```.*?^```$', '', path.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r'\s+', '-', re.sub(r'[^\w\s-]', '', heading.lower()).strip()) for heading in headings}


def linked(path):
    """The links of a document to files of the checkout, as pairs of a path and an anchor, which may be
    empty."""
    targets = re.findall(r'\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"', prose(path.read_text()))
    for target in filter(lambda t: not re.match(r'[a-z]+:', t), (a or b for a, b in targets)):
        name, _, anchor = target.partition('#')
        yield (path.parent / name).resolve() if name else path, anchor, target


def links(root):
    dead = []
    for path in documents(root):
        for file, anchor, target in linked(path):
            if not file.exists() or anchor and file.suffix == '.md' and anchor not in anchors(file):
                dead.append(f'{path.relative_to(root)}: {target}')
    # Sections that sources, manual pages and texts name by a document's path, a comma and the heading in
    # quotes.
    for folder in ('docs', 'vm', 'runtime', 'drivers', 'probes', 'bench', 'test'):
        for path in sorted((root / folder).rglob('*')):
            if path.suffix not in (
                '.cpp',
                '.hpp',
                '.h',
                '.c',
                '.py',
                '.erl',
                '.act',
                '.tab',
                '.md',
                '.1',
                '.5',
            ):
                continue
            # a comment of several lines
            text = re.sub(r'\s*\n\s*(?:///?|%+|#)?\s*', ' ', path.read_text(errors='replace'))
            for name, section in re.findall(r'(?<![\w/])(docs/[\w/-]+\.md), \\?"([^"\\]+)', text):
                if (root / name).exists() and f'# {section}\n' not in (root / name).read_text():
                    dead.append(f'{path.relative_to(root)}: {name}, "{section}"')
    if dead:
        raise Failure('\n'.join(dead))


def reachable(root):
    """A reader who begins with the README comes to every document by following links."""
    seen, todo = set(), [root / 'README.md']
    while todo:
        path = todo.pop()
        if path not in seen and path.suffix == '.md' and path.is_file():
            seen.add(path)
            todo += [file for file, _, _ in linked(path)]
    lost = [
        str(path.relative_to(root))
        for path in documents(root)
        if path.resolve() not in {s.resolve() for s in seen}
    ]
    if lost:
        raise Failure('no way of links from README.md to ' + ', '.join(lost))


def site_pages(root):
    """The pages that docs/site/mkdocs.yml lists are the documents."""
    sys.path.insert(0, str(root / 'docs/site'))
    import make_site

    listed = set(re.findall(r': (\S+\.md)$', (root / 'docs/site/mkdocs.yml').read_text(), re.M))
    there = {make_site.place(path) for path in documents(root)} - {None}
    if listed != there:
        raise Failure(f'not in mkdocs.yml: {sorted(there - listed)}, only there: {sorted(listed - there)}')


def library_modules(root):
    table = (root / 'docs/internals/library.md').read_text().split('## Why each is kept')[1]
    told = re.findall(r'`(\w+)`', ''.join(re.findall(r'^\|([^|]*)\|', table, re.M)))
    made = re.findall(r"^  '(\w+)': custom_target", (root / 'runtime/lib/meson.build').read_text(), re.M)
    there = sorted([path.stem for path in (root / 'runtime/lib').glob('*.erl')] + made)
    if sorted(told) != there:
        raise Failure(
            f'only in the table or twice: {sorted(set(told) - set(there))}, not in it: '
            f'{sorted(set(there) - set(told))}'
        )


def site(root):
    themes = (
        subprocess.run(['dpkg-query', '-W', 'mkdocs', 'mkdocs-material'], capture_output=True)
        if shutil.which('dpkg-query')
        else None
    )
    if not shutil.which('mkdocs') or themes is None or themes.returncode:
        raise Skip('mkdocs or its theme is not installed (./dev site installs them)')
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, root / 'docs/site/make_site.py', folder], capture_output=True, text=True
        )
        if done.returncode:
            raise Failure('\n'.join(line for line in done.stderr.splitlines() if 'INFO' not in line)[-2000:])


def help_text(vmrun):
    return subprocess.run([vmrun, '--help'], capture_output=True, text=True, check=True).stdout


def manual_page(root, vmrun):
    page = re.sub(r'\\f.', '', (root / 'docs/vmrun.1').read_text()).replace('\\-', '-')
    options = page.split('.SH OPTIONS')[1].split('.SH EXIT STATUS')[0]
    described = {
        word
        for line in re.findall(r'^\.TP\n(.*)', options, re.M)
        for word in re.findall(r'(?<!\S)"?([-+][\w-]+)', line)
    }
    shown = set(re.findall(r'^  ([-+][\w-]+)', help_text(vmrun), re.M))
    if described != shown:
        raise Failure(
            f'only in the manual page: {sorted(described - shown)}, only in --help: '
            f'{sorted(shown - described)}'
        )


def vmtrace_page(root):
    """Reads the text from the source, because it is the same in every build."""
    page = re.sub(r'\\f.', '', (root / 'docs/vmtrace.1').read_text()).replace('\\-', '-')
    options = page.split('.SH OPTIONS')[1].split('.SS ')[0]
    described = set(re.findall(r'^\.TP\n\.BI? (-\w)', options, re.M))
    shown = set(re.findall(r'^  (-\w)', (root / 'probes/vmtrace/command_line.cpp').read_text(), re.M))
    if described != shown:
        raise Failure(
            f'only in the manual page: {sorted(described - shown)}, only in --help: '
            f'{sorted(shown - described)}'
        )


def stages(root, vmrun):
    for flag, line in {
        '-core': r'^main/0 =$',
        '-ssa': r'^main/0 \(\)$',
        '-S': r'^{function, main, 0, 2}\.$',
        '-loaded': r'^  0\tfunc_info_cc 0 greeter main$',
    }.items():
        shown = subprocess.run(
            [vmrun, flag, root / 'docs/examples/greeter.act'], capture_output=True, text=True
        )
        if shown.returncode != 0 or not re.search(line, shown.stdout, re.M):
            raise Failure(f'{flag} shows no main:\n{shown.stdout[:500]}{shown.stderr}')


def native_functions(root, vmrun):
    """Checks that the table, the header and the binary's exports have the same functions."""
    header = (root / 'vm/include/erl_nif.h').read_text()
    declared = set(re.findall(r'^extern [^;]*?\b(enif_\w+)\(', header, re.M))
    macros = {
        name
        for name in re.findall(r'^#define (enif_\w+)', header, re.M)
        if not re.search(r'\d$', name) or 'int64' in name
    }
    listed = (root / 'docs/nifs.md').read_text().split('<!-- functions -->')[1].split('<!-- end -->')[0]
    documented = {
        name for name in re.findall(r'`(enif_\w+)`', listed) if not re.search(r'(tuple|list)\d$', name)
    }
    if documented != declared | macros:
        raise Failure(
            f'only in the header: {sorted((declared | macros) - documented)}, only in the table: '
            f'{sorted(documented - declared - macros)}'
        )
    compare_exported(declared, vmrun, r'enif_\w+')


def driver_functions(root, vmrun):
    """Checks the same for drivers."""
    header = (root / 'vm/include/erl_driver.h').read_text()
    declared = set(re.findall(r'^EXTERN [^;(]*?\b(\w+)\(', header, re.M))
    listed = (root / 'docs/drivers.md').read_text().split('<!-- functions -->')[1].split('<!-- end -->')[0]
    documented = set(re.findall(r'`(\w+)`', listed))
    if documented != declared:
        raise Failure(
            f'only in the header: {sorted(declared - documented)}, only in the table: '
            f'{sorted(documented - declared)}'
        )
    compare_exported(
        declared, vmrun, r'(?:driver_|erl_drv_|erl_errno|add_|remove_|set_busy|set_port|get_port)\w*'
    )


def compare_exported(declared, vmrun, pattern):
    symbols = subprocess.run(
        ['nm', '-D', '--defined-only', vmrun], capture_output=True, text=True, check=True
    ).stdout
    exported = set(re.findall(rf' T ({pattern})$', symbols, re.M))
    if exported != declared:
        raise Failure(
            f'declared, not exported: {sorted(declared - exported)}, exported, not declared: '
            f'{sorted(exported - declared)}'
        )


# Modules of erts, kernel and stdlib: those of OTP 25 are complete.
BUILT_INS_OF_OTP = """
    Folders = [code:lib_dir(kernel, ebin), code:lib_dir(stdlib, ebin)],
    Files = lists:append([filelib:wildcard("*.beam", Folder) || Folder <- Folders]),
    Modules = lists:usort(erlang:pre_loaded() ++ [list_to_atom(filename:rootname(File)) || File <- Files]),
    [io:format("~ts:~ts/~p~n", [M, F, A]) || M <- Modules, {module, _} <- [code:ensure_loaded(M)],
        {F, A} <- M:module_info(exports), erlang:is_builtin(M, F, A)],
    halt()."""


def missing_built_ins(root):
    """Returns built-in functions of an installed OTP 25 that bif.tab lacks."""
    if not shutil.which('erl'):
        raise Skip('no stock erl')
    listed = subprocess.run(
        ['erl', '-noshell', '-eval', BUILT_INS_OF_OTP], capture_output=True, text=True, check=True
    ).stdout.split()
    rows = [line.split('#')[0].split() for line in (root / 'runtime/bif/bif.tab').read_text().splitlines()]
    ours = {f'{row[0]}:{row[1]}/{row[2]}' for row in rows if len(row) >= 3}
    section = (
        (root / 'docs/what-is-there.md')
        .read_text()
        .split('## Built-in functions of OTP that are not there')[1]
        .split('\n## ')[0]
    )
    named = set(re.findall(r'`(\w+:\w+/\d+)`', section))
    missing = set(listed) - ours
    if len(listed) < 400:
        raise Failure(f'the installed OTP lists {len(listed)} built-in functions only')
    if named != missing:
        raise Failure(
            f'not listed: {sorted(missing - named)}; listed, but there or not in OTP: '
            f'{sorted(named - missing)}'
        )


def probe_table(root):
    sys.path.insert(0, str(root / 'probes'))
    import gen_probes

    return gen_probes.parse(root / 'probes' / 'probes.tab')


def file_commands(root):
    sys.path.insert(0, str(root / 'drivers/efile'))
    import gen_commands

    text = (root / 'docs/internals/files.md').read_text().split('## Commands', 1)[1].split('## ', 1)[0]
    written = re.findall(r'^\| (\d+) \| (\w+) \| (\d|–) \|', text, re.M)
    wanted = [
        (str(row[1]), row[0], str(row[2]) if row[2] else '–')
        for row in gen_commands.parse(root / 'drivers/efile/commands.tab')
    ]
    if written != wanted:
        raise Failure(f'differs from drivers/efile/commands.tab: {set(written) ^ set(wanted)}')
    replies = (root / 'docs/internals/files.md').read_text().split('## Replies', 1)[1].split('## ', 1)[0]
    written = set(re.findall(r'^\| (\d+) \|', replies, re.M))
    codes = gen_commands.parse_codes(root / 'drivers/efile/codes.tab')
    wanted = {str(number) for kind, _, number in codes if kind == 'REPLY'}
    if written != wanted:
        raise Failure(f'replies differ from drivers/efile/codes.tab: {written ^ wanted}')


def probe_reference(root, table):
    import gen_probes

    written = (root / 'docs' / 'probes.md').read_text().split('<!-- table -->\n', 1)[1]
    if written != gen_probes.markdown(table):
        raise Failure('make it anew: python3 probes/gen_probes.py probes/probes.tab markdown -')


def engine_reference(root):
    sys.path.insert(0, str(root / 'probes' / 'engine'))
    import gen_operations

    written = (root / 'docs/internals/d-engine.md').read_text().split('<!-- table -->\n', 1)[1]
    if written != gen_operations.markdown(root / 'probes' / 'engine'):
        raise Failure('make the table anew: python3 probes/engine/gen_operations.py markdown')


def range_rows(root):
    import gen_probes

    with tempfile.NamedTemporaryFile('w', suffix='.tab') as file:
        file.write(
            'family f : x\nrange user_trace__n 0 950 stable\n  arg pid pid : p\n  arg i1 int64 - : i\n'
            '  when called\n'
        )
        file.flush()
        table = gen_probes.parse(file.name)
    names = [p.name for p in table.probes]
    if len(names) != 951 or names[0] != 'user_trace__n0' or names[950] != 'user_trace__n950':
        raise Failure(f'{len(names)} probes, {names[:1]} ... {names[-1:]}')
    text = gen_probes.provider(table)
    if 'probe user_trace__n950(char *pid, int64_t i1);' not in text:
        raise Failure(text[-300:])
