#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures what a stock erl sends, as fixtures for test/unit/wire: test/nodes/capture.py [erl] >
test/unit/wire/stock.txt

Each line: flags of the connection; the term as text; the packets of a message that is the term; those of one
that is its term_to_binary with minor version 2. All but the text in hex, packets compressed by zlib, with
their sizes before compression."""
import subprocess
import sys
import tempfile
import zlib

from fake_node import ALL_FLAGS, FLAGS, FakeNode, atom, header, integer, small_tuple

EXPRESSIONS = [
    'ok',
    '[]',
    '{}',
    '0',
    '255',
    '256',
    '-1',
    '2147483647',
    '2147483648',
    '-2147483649',
    '1 bsl 59',
    '-(1 bsl 64)',
    '1 bsl 3000',
    '1.5',
    '-0.1',
    '<<>>',
    '<<1,2,3>>',
    '<<5:3>>',
    '<<1,2,3:7>>',
    'binary:copy(<<7>>, 65)',
    'binary:copy(<<7>>, 300)',
    'begin <<_:3, B/bits>> = binary:copy(<<7>>, 100), B end',
    '"text"',
    '[256]',
    '[a|b]',
    '[1,2,3|4]',
    'lists:seq(1, 300)',
    "'größe'",
    "'Ж'",
    "list_to_atom(lists:duplicate(255, $a))",
    "list_to_atom(lists:duplicate(255, 1046))",
    '#{}',
    '#{a => 1, b => "x"}',
    'maps:from_list([{I, I * I} || I <- lists:seq(1, 40)])',
    'fun lists:map/2',
    'fun(X) -> X end',
    'self()',
    'hd(erlang:ports())',
    'make_ref()',
    'erlang:monitor(process, self(), [{alias, explicit_unalias}])',
    '{ok, error, ok, {error, ok}}',
    'list_to_tuple(lists:seq(1, 300))',
    '[list_to_atom("many_" ++ integer_to_list(I)) || I <- lists:seq(1, 300)]',
    'list_to_pid("<0.1.0>")',
    '[[[[[]]]]]',
    '{a, b, "c", <<"d">>, 1.0, #{e => f}}',
    'binary:copy(<<1>>, 70000)',
    'binary:copy(<<2>>, 200000)',
    '[binary:copy(<<3>>, 40000), again, binary:copy(<<4>>, 40000)]',
]
NO_CACHE = ALL_FLAGS & ~FLAGS['DIST_HDR_ATOM_CACHE']
SETS = [ALL_FLAGS, ALL_FLAGS & ~FLAGS['FRAGMENTS'], NO_CACHE, NO_CACHE & ~FLAGS['FRAGMENTS']]
PORT, COOKIE = 17431, 'wirecookie'

SOURCE = r'''
-module(capture).
-export([main/0]).
main() ->
    register(capture, self()),
    io:format("ready~n"),
    serve().
serve() ->
    receive
        {From, N} ->
            try element(N, expressions()) of
                Make ->
                    T = Make(),
                    From ! T,
                    From ! term_to_binary(T, [{minor_version, 2}])
            catch _:R -> From ! {failed, R}, From ! <<>> end,
            serve()
    end.
expressions() -> {%s}.
'''


def packets_of_message(node):
    """All packets of the next message; the fragments of one come without others between them here."""
    packets = [node.receive()]
    if packets[0][:2] == b'\x83E':
        for _ in range(int.from_bytes(packets[0][10:18], 'big') - 1):
            packets.append(node.receive())
    return packets


def shown(packets):
    return ','.join(f'{len(p)}:{zlib.compress(p, 9).hex()}' for p in packets)


def main():
    erl = sys.argv[1] if len(sys.argv) > 1 else 'erl'
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + '/capture.erl', 'w', encoding='utf-8') as f:
            f.write('%% coding: utf-8' + SOURCE % ',\n'.join(f'fun() -> {e} end' for e in EXPRESSIONS))
        subprocess.run(['erlc', '-o', folder, folder + '/capture.erl'], check=True)
        stock = subprocess.Popen(
            [
                erl,
                '-name',
                'stock@127.0.0.1',
                '-setcookie',
                COOKIE,
                '-start_epmd',
                'false',
                '-erl_epmd_port',
                str(PORT),
                '-pa',
                folder,
                '-noshell',
                '-eval',
                'capture:main()',
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert stock.stdout.readline() == 'ready\n'
            for number, flags in enumerate(SETS):
                capture(flags, number)
        finally:
            stock.kill()
            stock.wait()


def capture(flags, number):
    node = FakeNode(PORT, COOKIE, f'fake{number}@127.0.0.1', flags).shake_hands()
    passes = not flags & (FLAGS['DIST_HDR_ATOM_CACHE'] | FLAGS['FRAGMENTS'])
    for i, expression in enumerate(EXPRESSIONS):
        control = small_tuple(integer(6), node.pid(), atom(''), atom('capture'))
        payload = small_tuple(node.pid(i + 1), integer(i + 1))
        node.send(b'p\x83' + control + b'\x83' + payload if passes else header() + control + payload)
        packets = packets_of_message(node)
        plain = packets_of_message(node)
        print(f'{flags:x}\t{expression}\t{shown(packets)}\t{shown(plain)}')
    node.close()


if __name__ == '__main__':
    main()
