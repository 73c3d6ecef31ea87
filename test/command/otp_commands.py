# SPDX-License-Identifier: Apache-2.0
"""The folder build/bin in front of PATH: erl, erlc, escript and the others do what a stock OTP's do.
Each case is a piece of shell that is run with either; standard output, standard error and the exit status
must be the same."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import zipfile

from harness.golden import ENVIRONMENT
from harness.results import Failure, Skip, Test
from nodes.cluster import free_port

from .suite import PATIENCE_S

# The files that the cases find in their folder.
FILES = {
    'args.es': '#!/usr/bin/env escript\n'
    'main(A) -> io:format("~p ~p~n", [A, escript:script_name()]), halt(3).\n',
    'flags.es': '#!/usr/bin/env escript\n%% a line\n%%! -sname flags@localhost -extra_word 7\n'
    'main(_) -> io:format("~p ~p~n", [node(), init:get_argument(extra_word)]).\n',
    'reads.es': '#!/usr/bin/env escript\nmain(_) -> io:format("~p~n", [io:get_line("")]).\n',
    'broken.es': '#!/usr/bin/env escript\nmain(A) -> foo(A.\n',
    'compiled.es': '#!/usr/bin/env escript\n-mode(compile).\n'
    'main([N]) -> io:format("~p~n", [lists:sum(lists:seq(1, list_to_integer(N)))]).\n',
    'good.erl': '-module(good).\n-export([f/0]).\n-ifdef(NINE).\nf() -> nine.\n-else.\n'
    'f() -> {one, ?MODULE}.\n-endif.\n',
    'warns.erl': '-module(warns).\n-export([f/0]).\nf() -> X = 1.\n',
    'wrong.erl': '-module(wrong).\n-export([f/0]).\nf() -> g(.\n',
    'mine_tests.erl': '-module(mine_tests).\n-include_lib("eunit/include/eunit.hrl").\n'
    'a_test() -> ?assertEqual(3, 1 + 2).\n'
    'b_test_() -> [?_assert(true), ?_assertError(badarith, 1 / list_to_integer("0"))].\n'
    'c_test() -> ?assert(false).\n',
    'words.ex': 'defmodule Words do\n  def count(words), do: Enum.frequencies(words) |> Enum.sort()\nend\n',
    'words.exs': 'Code.require_file("words.ex")\nIO.inspect(Words.count(System.argv()))\n'
    '{:ok, a} = Agent.start_link(fn -> %{} end)\n'
    'Agent.update(a, &Map.put(&1, :x, <<1, 2::size(4)>>))\nIO.inspect(Agent.get(a, & &1))\n'
    'IO.puts(String.upcase("gr\u00fc\u00dfe"))\n',
    'scanned.xrl': 'Definitions.\nRules.\n[a-z]+ : {token, {word, TokenLine, TokenChars}}.\nErlang code.\n',
}

# What erl would tell the machine and init, word by word, with nothing started.
ASKED_OF_COMMAND_LINE = r'''
printf 'p -extra q' > ends; printf '"c\\"d" e\\ f"\n-x #c\n#d\n-y' > quoted;
    printf -- '-args_file ends\n-z' > nested
export A=-emu_args_exit
ERL_AFLAGS=a erl $A -noshell
ERL_AFLAGS=a ERL_FLAGS=b ERL_OTP25_FLAGS=c ERL_ZFLAGS=d erl $A
ERL_AFLAGS='x -extra g' ERL_FLAGS='-extra f' ERL_ZFLAGS='z' erl $A -foo c -extra h
ERL_FLAGS='"a\"b" c' erl $A w
ERL_FLAGS=' ' erl $A w
ERL_AFLAGS=a erl $A -args_file ends w -extra z
erl $A -args_file quoted w
erl $A -args_file nested w -extra -args_file x
erl $A -smp enable -emu_type opt -emu_flavor smp w -nohup -noinput -detached -keep_window -h
erl $A -compile a b -foo
erl $A -configfd 0 w
erl $A -configfd 3 -configfd 0
erl $A -make -- -env X y +A 2 -version
erl $A -noinput -sname a@b -name c -start_epmd false -epmd foo -proto_dist inet6_tcp
erl $A +A 2 +Bi +c +c true +Mea min +S2:1 +sbt u +d +V +hms 300 -version
erl $A w -S m f +A 2 -- -x -extra y
erl $A w -extra -S m
ERL_AFLAGS='-S a' ERL_FLAGS='-S b' erl $A -S m
unset ERL_EPMD_PORT HOME; erl $A
'''

CASES = {
    'escript: arguments and status': 'escript args.es one "two three"',
    'escript: as a program': './args.es x',
    'escript: flags in the script': 'escript flags.es',
    'escript: standard input': 'echo a line | escript reads.es',
    'escript: a compiled script': 'escript compiled.es 100; escript -c compiled.es 10; escript -i '
    'compiled.es 1000',
    'escript: a check only': 'escript -s args.es; escript -s broken.es',
    'escript: a broken script': 'escript broken.es',
    'escript: no such script': 'escript absent.es',
    'escript: an archive': 'escript archive.es a b',
    'escript: another erl': 'ESCRIPT_EMULATOR=echo escript args.es one | tr " " "\\n" | sed "s:^.ROOT/::" | '
    'sort',  # releases have these flags in another order
    'erlc: a module': 'erlc good.erl && erl -noshell -eval "io:format(\\"~p~n\\", [good:f()]), halt()."',
    'erlc: macros and folders': 'mkdir out; erlc -DNINE -o out +debug_info good.erl; ls out; erl -noshell '
    '-pa out -eval "io:format(\\"~p~n\\", [good:f()]), halt()."',
    'erlc: a warning': 'erlc warns.erl; echo $?; erlc -Werror warns.erl; echo $?; erlc +nowarn_unused_vars '
    'warns.erl',
    'erlc: errors': 'erlc wrong.erl absent.erl',
    'erlc: assembly': 'erlc -S good.erl; cat good.S',
    'erlc: other languages': 'erlc scanned.xrl; ls',
    'erlc: folders without a value': 'erlc -pa 2>/dev/null',
    'typer': 'typer --help; typer absent.erl',
    'a node among names': 'erl -noshell -sname one@localhost -eval \'io:put_chars(re:replace(os:cmd("epmd '
    '-names"), "[0-9]+", "N", [global])), halt().\'; epmd -kill',
    'a program finds the erl it runs under': 'erl -noshell -eval \'io:put_chars(os:cmd("escript args.es '
    'x")), halt().\'',
    'its environment': 'erl -noshell -eval \'[io:format("~p~n", [{V, os:getenv(V)}]) || V <- ["ROOTDIR", '
    '"BINDIR", "EMU", "PROGNAME"]], halt().\'',
    'where it is, asked by the script of a release': 'ROOTDIR=/nonesuch erl -noshell -eval '
    '\'io:format("~s~n", [code:root_dir()]), halt().\'',
    'a restart purges all code': 'erl -noshell -eval \'case os:getenv("SECOND") of false -> {module, _} = '
    'code:load_file(dyntrace), os:putenv("SECOND", "1"), init:restart(); '
    '_ -> io:format("~p ~p~n", [[M || M <- erlang:loaded(), erlang:check_old_code(M)], '
    'code:load_file(dyntrace)]), halt() end.\'',
    'what it makes of the command line': ASKED_OF_COMMAND_LINE,
    'the machine without a program': 'erl -version 2>&1 | sed "s/BEAM/vmrun/"; erl -noshell -version '
    '2>/dev/null; echo $?',
    'flags without their values': 'for i in -env "-env A" -sname -epmd -proto_dist -args_file "-smp '
    'disable" -smpdisable "-emu_type x" "-emu_flavor x"; do '
    'erl $i 2>/dev/null; echo "$i $?"; done',
    'a letter in a word of its own': 'for i in "+B i" +Bi "+B c" "+B x" +B; do erl $i -noshell -eval '
    '\'io:format("~p ~p~n", '
    '[init:get_plain_arguments(), erlang:system_info(break_ignored)]), halt().\'; done',
    'erl that compiles': 'erl -compile good warns; erl -compile wrong; echo $?; ls *.beam; rm *.beam; rm '
    'wrong.erl mine_tests.erl; erl -make; ls *.beam',
    'no home': 'unset HOME; erl -noshell -eval \'io:format("~p~n", [init:get_argument(home)]), halt().\'',
    'what is displayed for readers of errors': 'erl -noshell -eval \'erlang:display_string("one\\n"), '
    'erlang:display_nl(), erlang:display(two), halt().\' 2>/dev/null',
    'who explains errors of os': 'erl -noshell -eval \'[try apply(os, F, A) catch _:R:S -> '
    'io:format("~p ~p~n", [R, proplists:get_value(error_info, element(4, hd(S)))]) end || '
    '{F, A} <- [{set_signal, [sigkill, ignore]}, {system_time, [x]}]], halt().\'',
    'its release': 'erl -noshell -eval \'[io:format("~p~n", [erlang:system_info(I)]) || I <- [otp_release, '
    'version]], halt().\'',
}

# Programs of others that find `erl` by PATH: case -> (the program that must be installed, piece of shell).
# How long it took is left out.
PROGRAMS = {
    'rebar3: a new application': (
        'rebar3',
        'export QUIET=1; rebar3 new app name=mine && cd mine && rebar3 compile && mkdir test && cp '
        '../mine_tests.erl test && rebar3 eunit; '
        'echo $?; cat _build/test/lib/mine/ebin/mine.app',
    ),
    'rebar3: an escript': (
        'rebar3',
        'rebar3 new escript name=mine && cd mine && rebar3 escriptize && _build/default/bin/mine a b',
    ),
    'rebar3: dependencies and xref': (
        'rebar3',
        'rebar3 new lib name=mine && cd mine && rebar3 tree && rebar3 xref; echo $?; rebar3 shall; echo $?',
    ),
    'elixir: expressions': (
        'elixir',
        'elixir -e "IO.inspect(Enum.map(1..3, &(&1 * 2)))"; elixir -e "raise \\"no\\"" 2>/dev/null; echo $?',
    ),
    'elixir: a script': ('elixir', 'elixir words.exs one two one'),
    'elixir: a module compiled': (
        'elixirc',
        'elixirc words.ex && elixir -e "IO.inspect(Words.count(~w(a b a)))" && ls',
    ),
    'mix: a new project, tested': (
        'mix',
        'mix new mine && cd mine && mix test --seed 0 && mix run -e "IO.puts(Mine.hello())" && mix '
        'escript.build; echo $?; ls _build',
    ),
}
TOOK = re.compile(r'Finished in .*')
SLOW = re.compile(r"Compiling .*\(it's taking more than .*\)\n")


def add_archive(folder):
    """An escript whose body is a zip archive: a compiled module and its application's file."""
    (folder / 'archive.erl').write_text(
        '-module(archive).\n-export([main/1]).\n'
        'main(A) -> io:format("~p ~p~n", [A, code:which(?MODULE) =/= non_existing]).\n'
    )
    subprocess.run(['erlc', 'archive.erl'], cwd=folder, check=True)
    body = folder / 'body.zip'
    with zipfile.ZipFile(body, 'w') as archive:
        archive.write(folder / 'archive.beam', 'archive/ebin/archive.beam')
    (folder / 'archive.es').write_bytes(
        b'#!/usr/bin/env escript\n%% a comment\n%%! -escript main archive\n' + body.read_bytes()
    )
    for name in ('archive.erl', 'archive.beam', 'body.zip'):
        (folder / name).unlink()


def outcome(shell, path):
    with tempfile.TemporaryDirectory(prefix='vmrun-otp-') as name:
        folder = pathlib.Path(name)
        add_archive(folder)
        for file, text in FILES.items():
            (folder / file).write_text(text)
            if text.startswith('#!'):
                (folder / file).chmod(0o755)
        port = free_port()
        environment = dict(ENVIRONMENT, PATH=path, ERL_EPMD_PORT=str(port), HOME=name)
        try:
            done = subprocess.run(
                ['sh', '-c', shell],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL if '|' not in shell else None,
                capture_output=True,
                text=True,
                errors='replace',
                timeout=PATIENCE_S,
            )
        finally:
            subprocess.run(['epmd', '-kill'], env=environment, capture_output=True)
        return [
            done.returncode,
            *(text.replace(name, 'FOLDER').replace(str(port), 'PORT') for text in (done.stdout, done.stderr)),
        ]


def agree(bin_folder, shell, needed=None):
    if needed and not shutil.which(needed):
        raise Skip(f'no {needed} here')
    if not shutil.which('erl') or not shutil.which('erlc'):
        raise Skip('no erl here')
    # Debian has a link to most of what is there in /usr/bin, and none to typer
    path = os.environ['PATH'] + ':/usr/lib/erlang/bin'
    ours, theirs = outcome(shell, f'{bin_folder}:{path}'), outcome(shell, path)
    for one in (ours, theirs):
        one[2] = re.sub(r'\n\n', '\n', one[2])
        one[1] = SLOW.sub('', TOOK.sub('Finished', one[1]))
    if ours != theirs:
        raise Failure(f'status, output, standard error: {ours}\na stock OTP: {theirs}')


def links_are_commands(bin_folder):
    """None of them is taken for vmrun itself."""
    for link in sorted(bin_folder.iterdir()):
        done = subprocess.run(
            [link, '--version'],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE_S,
            env=dict(ENVIRONMENT, VMRUN_OTP='none'),
        )
        if done.stdout.startswith('vmrun '):
            raise Failure(f'{link.name} is vmrun')


def tests(build):
    bin_folder = pathlib.Path(build).resolve() / 'bin'
    return (
        [
            Test('command', f'bin: {name}', lambda shell=shell: agree(bin_folder, shell))
            for name, shell in CASES.items()
        ]
        + [
            Test(
                'command', f'bin: {name}', lambda needed=needed, shell=shell: agree(bin_folder, shell, needed)
            )
            for name, (needed, shell) in PROGRAMS.items()
        ]
        + [Test('command', 'bin: each link is a command of OTP', lambda: links_are_commands(bin_folder))]
    )
