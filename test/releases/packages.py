# SPDX-License-Identifier: Apache-2.0
"""Debian packages as users get them: made in a root of a release, looked at, installed and removed in it.

`inside(root, command)` runs a command in the root and returns [status, output, errors]; the checkout lies
there in `source`. Making the packages compiles everything once."""
import re

from harness.results import Failure, Test

PACKAGES = ('vmrun', 'vmrun-dbgsym', 'vmrun-dev', 'vmrun-doc')
# What a user may do with them: a piece of shell, and what it prints.
USES = {
    'a script': ("vmrun -e 'io:format(\"~p~n\", [6 * 7])'", '42\n'),
    'the library alone': ("vmrun -otp none -e 'io:format(\"~p~n\", [lists:sum([1, 2])])'", '3\n'),
    'machine code, which needs no symbols': (
        "vmrun +hot 1 -e 'F = fun G(0, A) -> A; G(N, A) -> G(N - 1, A + N) end, "
        'io:format("~p~n", [F(3000000, 0)])\'',
        '4500001500000\n',
    ),
    'the probes, which are notes of a stripped program': ('vmrun -l | grep -c message-send', None),
    'a view': (
        "vmtrace messages -d 1 -c 'vmrun -otp none /usr/share/doc/vmrun/examples/ring.act' >/dev/null; "
        'echo $?',
        '0\n',
    ),
    'a manual page': ('man -w 5 vmtrace; man -w 1 vmrunc', None),
    'headers': (
        'printf "#include <erl_nif.h>\\nint x = ERL_NIF_MAJOR_VERSION;\\n" | '
        'cc $(pkg-config --cflags vmrun) -x c -c -o /dev/null - && echo good',
        'good\n',
    ),
    'an erl of the administrator': (
        'update-alternatives --quiet --install /usr/local/bin/erl vmrun-erl /usr/lib/vmrun/bin/erl 10 && '
        "erl -noshell -eval 'io:put_chars(erlang:system_info(system_version)), halt().' | grep -c vmrun; "
        'update-alternatives --quiet --remove vmrun-erl /usr/lib/vmrun/bin/erl',
        '1\n',
    ),
}


def tests(root, source, inside):
    """Tests of one root. They depend on each other in this order."""
    made = f'cd {source} && ./dev package'
    folder = f'{source}/build-package'

    def run(command):
        status, output, errors = inside(root, ['sh', '-c', command])
        if status:
            raise Failure(f'{command}: status {status}\n{output[-1000:]}{errors[-2000:]}')
        return output

    def make():
        names = re.findall(r'/([\w-]+)_[^/]*\.deb$', run(made), re.M)
        if not set(PACKAGES) <= set(names):
            raise Failure(f'made are {names}')

    def files_are_good():
        extracted = '/tmp/vmrun-package'
        run(f'rm -rf {extracted}; for deb in {folder}/*.deb; do dpkg-deb -x $deb {extracted}; done')
        if links := run(f'find {extracted} -lname "/*"'):
            raise Failure(f'absolute links: {links}')
        if paths := run(f'grep -rl -e "{source}" {extracted} || true'):
            raise Failure(f'the path of the build is in {paths}')
        if 'no symbols' not in run(f'nm {extracted}/usr/bin/vmrun 2>&1'):
            raise Failure('vmrun is not stripped')

    def installed_and_removed():
        before = run("find /usr /etc -xdev | sort | grep -v -e '\\.pyc$' -e /etc/alternatives -e '\\.cache$'")
        run(f'apt-get install -y --no-install-recommends {folder}/vmrun*.deb man-db')
        try:
            for name, (command, wanted) in USES.items():
                printed = run(command)
                if wanted is not None and printed != wanted:
                    raise Failure(f'{name}: printed {printed!r} instead of {wanted!r}')
        finally:
            run('apt-get purge -y ' + ' '.join(PACKAGES))
        after = run("find /usr /etc -xdev | sort | grep -v -e '\\.pyc$' -e /etc/alternatives -e '\\.cache$'")
        left = [name for name in set(after.split('\n')) - set(before.split('\n')) if 'vmrun' in name]
        if left:
            raise Failure(f'left behind: {sorted(left)[:20]}')

    def equal():
        """Packages of the same source in another folder have the same bytes."""
        other = f'{source}-elsewhere'
        run(f'rm -rf {other}; mkdir {other}; cp -a {source}/. {other}; rm -rf {other}/build*')
        run(f'cd {other} && ./dev package')
        digests = [
            run(f'cd {place}/build-package && sha256sum *.deb').splitlines() for place in (source, other)
        ]
        if digests[0] != digests[1]:
            raise Failure(f'differ: {sorted(set(digests[0]) ^ set(digests[1]))}')

    return [
        Test('releases', f'{root.name}: packages are made, and lintian finds no error', make, in_turn=True),
        Test('releases', f'{root.name}: what packages contain', files_are_good, in_turn=True),
        Test(
            'releases',
            f'{root.name}: packages are installed, used and removed',
            installed_and_removed,
            in_turn=True,
        ),
        Test('releases', f'{root.name}: packages of two folders are equal', equal, in_turn=True),
    ]
