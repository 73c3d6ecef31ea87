# SPDX-License-Identifier: Apache-2.0
"""Debian packages as users get them: made in a root of a release, looked at, installed and removed in it."""
import functools
import re

from harness.results import Failure, Test

SOURCE = '/vmrun'  # the copy of the checkout inside the root (debian_root.py)
PACKAGES = ('vmrun', 'vmrun-dbgsym', 'vmrun-dev', 'vmrun-doc')
# What a user may do with them: a piece of shell, and what it prints.
USES = {
    'a script': ("vmrun -e 'io:format(\"~p~n\", [6 * 7])'", '42\n'),
    'the library alone': ("vmrun -otp none -e 'io:format(\"~p~n\", [lists:sum([1, 2])])'", '3\n'),
    'machine code, which needs no symbols': (
        "vmrun +hot 1 +JPperf map -e 'F = fun G(0, A) -> A; G(N, A) -> G(N - 1, A + N) end, "
        'io:format("~p~n", [F(9000000, 0)])\'; '
        'cat /tmp/perf-*.map | grep -c -m 1 G; rm /tmp/perf-*.map',
        '40500004500000\n1\n',
    ),
    'the probes, which are notes of a stripped program': ('vmrun -l | grep -c message-send', None),
    'a view': (
        "vmtrace messages -d 1 -c 'vmrun -otp none /usr/share/doc/vmrun/examples/ring.act' >/dev/null; "
        'echo $?',
        '0\n',
    ),
    'a manual page': ('man -w 5 vmtrace; man -w 1 vmrunc', None),
    'headers': (
        'flags=$(pkg-config --cflags vmrun) && '
        'printf "#include <erl_nif.h>\\nint x = ERL_NIF_MAJOR_VERSION;\\n" | '
        'cc $flags -x c -c -o /dev/null - && echo good',
        'good\n',
    ),
    'an erl of the administrator': (
        'update-alternatives --quiet --install /usr/local/bin/erl vmrun-erl /usr/lib/vmrun/bin/erl 10 && '
        'PATH=/usr/local/bin:$PATH; '
        "erl -noshell -eval 'io:put_chars(erlang:system_info(system_version)), halt().' | grep -c vmrun; "
        'update-alternatives --quiet --remove vmrun-erl /usr/lib/vmrun/bin/erl',
        '1\n',
    ),
}


def tests(name, debian):
    """Tests of the root of one release, which debian() returns. Each makes the packages first if that has not
    been done."""

    def test(what, function):
        return Test('releases', f'{name}: {what}', lambda: function(debian()), in_turn=True)

    return [
        test('packages are made, and lintian finds no error', made),
        test('what packages contain', files_are_good),
        test('packages are installed, used and removed', installed_and_removed),
        test('packages of two folders are equal', equal),
    ]


def run(debian, command):
    return debian.succeed('sh', '-c', command, seconds=4 * 3600)


@functools.cache
def made(debian):
    names = re.findall(r'/([\w-]+)_[^/ ]*\.deb$', run(debian, f'cd {SOURCE} && ./dev package'), re.M)
    if not set(PACKAGES) <= set(names):
        raise Failure(f'made are {names}')


def files_are_good(debian):
    made(debian)
    extracted = '/tmp/vmrun-package'
    run(
        debian,
        f'rm -rf {extracted}; for deb in {SOURCE}/build-package/*.deb; do dpkg-deb -x $deb {extracted}; done',
    )
    if links := run(debian, f'find {extracted} -lname "/*"'):
        raise Failure(f'absolute links: {links}')
    if paths := run(debian, f'grep -rl -e {SOURCE}/build-package {extracted} || true'):
        raise Failure(f'the path of the build is in {paths}')
    if 'no symbols' not in run(debian, f'nm {extracted}/usr/bin/vmrun 2>&1 || true'):
        raise Failure('vmrun is not stripped')


def installed_and_removed(debian):
    made(debian)
    listing = 'find /usr /etc /var/lib/dpkg/alternatives -xdev | grep vmrun || true'
    before = run(debian, listing)
    run(
        debian,
        'apt-get install -y -qq --no-install-recommends man-db pkgconf '
        f'$(ls {SOURCE}/build-package/*.deb) >&2',
    )
    try:
        for name, (command, wanted) in USES.items():
            printed = run(debian, command)
            if wanted is not None and printed != wanted:
                raise Failure(f'{name}: printed {printed!r} instead of {wanted!r}')
    finally:
        run(debian, 'apt-get purge -y -qq ' + ' '.join(PACKAGES))
    if left := set(run(debian, listing).split()) - set(before.split()):
        raise Failure(f'left behind: {sorted(left)[:20]}')


def equal(debian):
    """Packages of the same source in another folder have the same bytes."""
    made(debian)
    other = f'{SOURCE}-elsewhere'
    run(
        debian,
        f'rm -rf {other}; mkdir {other}; cd {SOURCE}; tar -c --exclude="./build*" . | tar -x -C {other}',
    )
    run(debian, f'cd {other} && ./dev package')
    digests = [
        set(run(debian, f'cd {place}/build-package && sha256sum *.deb').splitlines())
        for place in (SOURCE, other)
    ]
    if digests[0] != digests[1]:
        raise Failure(f'differ: {sorted(digests[0] ^ digests[1])}')
