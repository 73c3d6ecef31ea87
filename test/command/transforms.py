# SPDX-License-Identifier: Apache-2.0
"""Modules that ask for parse transforms, which OTP's compiler does."""
import os
import shutil
import tempfile

from harness.results import Failure, Skip, Test

from .command_line import given

GREETING = """-module(greeting).
-export([parse_transform/2]).
parse_transform(Forms, _) -> [form(F) || F <- Forms].
form({function, L, hello, 0, _}) -> {function, L, hello, 0, [{clause, L, [], [], [{atom, L, transformed}]}]};
form(F) -> F.
"""


def tests(vmrun):
    return [
        Test('command', f'parse transforms: {name}', lambda case=case: case(vmrun))
        for name, case in (
            ('scripts', scripts),
            ('mistakes', mistakes),
            ('modules', modules),
            ('without OTP', without_otp),
        )
    ]


def ran(vmrun, *words, **files):
    """A program in a folder with these files (NAME__EXTENSION)."""
    if not shutil.which('erlc'):
        raise Skip('no Erlang/OTP here')
    with tempfile.TemporaryDirectory(prefix='vmrun-transforms-') as scratch:
        end = given(
            vmrun,
            *words,
            files={name.replace('__', '.'): text for name, text in files.items()},
            environment={'TMPDIR': scratch},
        )
        if left := os.listdir(scratch):
            raise Failure(f'left: {left}')
        return end


def scripts(vmrun):
    """Without -module, with it, with exports of its own; macros, headers beside it, the first line,
    arguments."""
    body = """-compile({parse_transform, greeting}).
-include("beside.hrl").
main(Arguments) -> io:format("~p ~p ~p ~p~n", [hello(), ?GIVEN, ?BESIDE, Arguments]).
hello() -> plain.
"""
    for head in (
        '',
        '#!/usr/bin/env vmrun\n',
        '-module(program).\n',
        '-module( program ) . % named\n-export([main/1]).\n',
    ):
        files = dict(
            program__act=head + body, beside__hrl='-define(BESIDE, beside).\n', greeting__erl=GREETING
        )
        ran(vmrun, '-D', 'GIVEN=17', 'program.act', 'x', **files).expect(
            0, out='transformed 17 beside ["x"]\n', err=['^$']
        )


def mistakes(vmrun):
    """They are told of by their lines."""
    text = '-compile({parse_transform, greeting}).\nmain() -> hello(), nope().\nhello() -> plain.\n'
    ran(vmrun, 'program.act', program__act=text, greeting__erl=GREETING).expect(
        1, out='', err=[r'^program\.act:2:20: function nope/0 undefined']
    )
    ran(
        vmrun,
        'program.act',
        program__act=text.replace(', nope()', '') + 'unused() -> 1.\n',
        greeting__erl=GREETING,
    ).expect(0, err=[r'^program\.act:4:1: Warning: function unused/0 is unused'])
    ran(vmrun, 'program.act', program__act=text).expect(
        1, out='', err=['program.act: undefined parse transform \'greeting\'']
    )
    ran(vmrun, 'program.act', program__act=text, greeting__erl='-module(greeting).\nx( ->').expect(
        1, out='', err=[r'greeting\.erl:2:4: error: ']
    )
    ran(
        vmrun,
        'program.act',
        program__act=text,
        greeting__erl=GREETING.replace('[form(F) || F <- Forms]', 'error(oops)'),
    ).expect(1, out='', err=["error in parse transform 'greeting'", 'oops'])
    ran(
        vmrun, 'program.act', program__act='-compile({parse_transform, "greeting"}).\nmain() -> ok.\n'
    ).expect(1, out='', err=['parse_transform is not supported'])


def modules(vmrun):
    """One that is called: its code, and the lines of its stack; it has not changed, as far as is known."""
    ran(
        vmrun,
        'program.act',
        greeting__erl=GREETING,
        called__erl="""-module(called).
-export([hello/0, fail/0]).
-compile([{parse_transform, greeting}]).
hello() -> plain.
fail() -> error(here).
""",
        program__act="""main() ->
    io:format("~p~n", [called:hello()]),
    try called:fail() catch error:here:Stack ->
        io:format("~p~n", [proplists:get_value(line, element(4, hd(Stack)))]) end,
    io:format("~p~n", [code:modified_modules()]).
""",
    ).expect(0, out='transformed\n5\n[]\n', err=['^$'])


def without_otp(vmrun):
    ran(
        vmrun,
        '-otp',
        'none',
        'program.act',
        program__act='-compile({parse_transform, greeting}).\nmain() -> ok.\n',
        greeting__erl=GREETING,
    ).expect(
        1,
        out='',
        err=[
            '^program.act:1:10: error: parse transform greeting: takes the compiler of an installed '
            'Erlang/OTP'
        ],
    )
