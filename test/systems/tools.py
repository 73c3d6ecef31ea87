# SPDX-License-Identifier: Apache-2.0
"""Tools that build and test: common_test, rebar3, dialyzer, mix and iex, each on a project made for it,
without a network."""
import os
import pathlib
import re
import shutil

from command.terminal import compare, seen
from harness.results import Failure, Skip, Test

from .suite import difference, machines, scratch

FILES = {
    'sum_SUITE.erl': '-module(sum_SUITE).\n-include_lib("common_test/include/ct.hrl").\n'
    '-compile([export_all, nowarn_export_all]).\n'
    'all() -> [adds, fails, {group, many}, skipped, crashes, timed].\n'
    'groups() -> [{many, [shuffle, {repeat, 2}], [adds, adds]}, {apart, [parallel], [adds]}].\n'
    'init_per_suite(C) -> [{base, 10} | C].\nend_per_suite(_) -> ok.\n'
    'init_per_testcase(skipped, _) -> {skip, "not today"};\ninit_per_testcase(_, C) -> C.\n'
    'end_per_testcase(_, _) -> ok.\n'
    'adds(C) -> 12 = ?config(base, C) + 2, ct:pal("added ~p", [12]), {comment, "well"}.\n'
    'fails(C) -> 13 = ?config(base, C) + 2.\nskipped(_) -> ok.\n'
    'crashes(_) -> spawn_link(fun() -> exit(gone) end), receive after infinity -> ok end.\n'
    'timed() -> [{timetrap, {milliseconds, 100}}].\ntimed(_) -> receive after infinity -> ok end.\n',
    'wrong.erl': '-module(wrong).\n-export([f/1, g/0, h/1]).\n-spec f(integer()) -> atom().\n'
    'f(X) when is_integer(X) -> X + 1.\ng() -> f(an_atom).\nh(L) -> lists:nth(0, L).\n',
    'shop_tests.erl': '-module(shop_tests).\n-include_lib("eunit/include/eunit.hrl").\n'
    'price_test() -> ?assertEqual(6, shop:price(2)).\n'
    'all_test_() -> {setup, fun() -> ok end, [{integer_to_list(N), ?_assertEqual(3 * N, shop:price(N))} || '
    'N <- [1, 2, 3]]}.\n',
    'shop_SUITE.erl': '-module(shop_SUITE).\n-export([all/0, prices/1]).\nall() -> [prices].\n'
    'prices(_) -> 9 = shop:price(3).\n',
    'shop.erl': '-module(shop).\n-export([price/1]).\n-spec price(non_neg_integer()) -> non_neg_integer().\n'
    'price(N) -> N * 3.\n',
    'price.escript': 'main(_) -> io:format("~p~n", [shop:price(5)]), init:stop().\n',
    'rebar.config': '{erl_opts, [debug_info]}.\n{deps, []}.\n'
    '{relx, [{release, {mine, "0.1.0"}, [mine, sasl]}, {dev_mode, false}, {include_erts, false}, '
    '{extended_start_script, true}]}.\n'
    '{dialyzer, [{plt_apps, all_deps}, {base_plt_apps, [ftp]}]}.\n{cover_enabled, true}.\n',
    'mine.exs': 'defmodule MineMoreTest do\n  use ExUnit.Case, async: true\n  doctest Mine\n'
    '  test "processes" do\n    {:ok, a} = Agent.start_link(fn -> [] end)\n'
    '    for i <- 1..10, do: Agent.update(a, &[i | &1])\n'
    '    assert Agent.get(a, &Enum.sum/1) == 55\n'
    '    assert_raise ArithmeticError, fn -> 1 / String.to_integer("0") end\n'
    '    task = Task.async(fn -> Stream.iterate(1, &(&1 * 2)) |> Enum.at(70) end)\n'
    '    assert Task.await(task) == 1180591620717411303424\n  end\n  @tag :skip\n'
    '  test "left out", do: flunk("no")\n'
    '  test "that fails", do: assert(Enum.map([1, 2], & &1 + 1) == [2, 4])\nend\n',
}
APP = (
    'rebar3 new app name=mine >/dev/null && cd mine && cp ../shop.erl src && cp ../rebar.config . && '
    'mkdir test && cp ../shop_tests.erl ../shop_SUITE.erl test && '
)

# Case -> (the program that must be installed, piece of shell).
CASES = {
    'ct_run': (
        'ct_run',
        'mkdir logs; ct_run -noshell -suite sum_SUITE -logdir logs -no_esc_chars; echo $?; ls logs | grep '
        '-c html',
    ),
    'ct_run: a group and cases': (
        'ct_run',
        'mkdir logs; ct_run -noshell -suite sum_SUITE -group apart -logdir logs; echo $?; ct_run -noshell '
        '-suite sum_SUITE -case adds fails -repeat 2 -logdir logs; echo $?',
    ),
    'dialyzer': (
        'dialyzer',
        'erlc +debug_info wrong.erl shop.erl && dialyzer --build_plt --output_plt own.plt -r '
        '/usr/lib/erlang/lib/stdlib-*/ebin/lists.beam /usr/lib/erlang/lib/stdlib-*/ebin/ordsets.beam; '
        'dialyzer --plt own.plt wrong.beam; echo $?; dialyzer --plt own.plt shop.beam; echo $?; dialyzer '
        '--plt own.plt --src wrong.erl -Wunmatched_returns; typer --plt own.plt wrong.erl',
    ),
    'rebar3: common_test': ('rebar3', APP + 'rebar3 ct --verbose=false; echo $?'),
    'rebar3: eunit and cover': ('rebar3', APP + 'rebar3 eunit --cover && rebar3 cover -v; echo $?'),
    'rebar3: dialyzer': ('rebar3', APP + 'rebar3 dialyzer; echo $?'),
    'rebar3: a release': (
        'rebar3',
        APP + 'rebar3 release; echo $?; ls _build/default/rel/mine _build/default/rel/mine/releases; export '
        'RELX_RPC_TIMEOUT=60; _build/default/rel/mine/bin/mine daemon; '
        'until _build/default/rel/mine/bin/mine ping; do :; done | tail -1; '
        '_build/default/rel/mine/bin/mine eval "shop:price(14)."; _build/default/rel/mine/bin/mine stop; '
        'echo $?',
    ),
    'rebar3: a tar': (
        'rebar3',
        APP + 'rebar3 tar; echo $?; tar -tzf _build/default/rel/mine/mine-0.1.0.tar.gz | grep mine | sort',
    ),
    'rebar3: edoc, path, shell': (
        'rebar3',
        APP + 'rebar3 edoc; ls doc; rebar3 path; '
        'rebar3 shell --apps mine --script ../price.escript 2>&1 </dev/null | sed "s/1> //" | '
        'grep -v "^Erlang\\|^Eshell\\|^$"',
    ),
    'rebar3: an umbrella': (
        'rebar3',
        'rebar3 new umbrella name=many && cd many && rebar3 compile && rebar3 eunit; echo $?; rebar3 new '
        'plugin name=plug && rebar3 clean && ls',
    ),
    'mix: tests that fail': (
        'mix',
        'mix new mine >/dev/null && cd mine && cp ../mine.exs test/more_test.exs && mix test --seed 0 '
        '--trace; echo $?',
    ),
    'mix: a supervised application and a release': (
        'mix',
        'mix new mine --sup >/dev/null && cd mine && mix compile && mix run -e '
        '"IO.inspect(Application.started_applications() |> Enum.map(&elem(&1, 0)) |> Enum.sort())" && '
        'sed -i "s/deps: deps()/deps: deps(), releases: [mine: [include_erts: false]]/" mix.exs && '
        'MIX_ENV=prod mix release --quiet && ls _build/prod/rel/mine && _build/prod/rel/mine/bin/mine eval '
        '"IO.inspect({Mine.hello(), 1 + 1})"; echo $?',
    ),
    'mix: formatting, dependencies, help': (
        'mix',
        'mix new mine >/dev/null && cd mine && echo "defmodule   X do def  f( x ),do:  x+1 end" > lib/x.ex '
        '&& mix format && cat lib/x.ex && mix deps && mix compile --force && mix xref graph; echo $?',
    ),
    'elixir: a script of many things': ('elixir', 'elixir many.exs'),
}
FILES[
    'many.exs'
] = '''
defmodule Shape do
  defstruct [:kind, size: 1]
  defimpl String.Chars, for: Shape do
    def to_string(s), do: "#{s.kind}/#{s.size}"
  end
end
defprotocol Area do
  def of(x)
end
defimpl Area, for: Shape do
  def of(%{kind: :square, size: s}), do: s * s
end
defmodule Counter do
  use GenServer
  def init(n), do: {:ok, n}
  def handle_call(:next, _, n), do: {:reply, n, n + 1}
end
IO.puts("#{struct(Shape, kind: :square, size: 3)} #{Area.of(struct(Shape, kind: :square, size: 3))}")
{:ok, sup} = Supervisor.start_link([
  %{id: :c, start: {GenServer, :start_link, [Counter, 5, [name: :counter]]}}],
  strategy: :one_for_one)
IO.inspect([GenServer.call(:counter, :next), GenServer.call(:counter, :next), Supervisor.count_children(sup)])
IO.inspect(for {k, v} <- %{a: 1, b: 2}, into: %{}, do: {v, k})
IO.inspect(Regex.scan(~r/(\\w)(\\d)/u, "a1 b2 ü3"))
IO.inspect(with {:ok, x} <- Map.fetch(%{a: 1}, :a), :error <- Map.fetch(%{}, :b), do: x)
IO.inspect(Task.async_stream(1..5, &(&1 * &1), ordered: true) |> Enum.map(&elem(&1, 1)))
IO.inspect(Code.eval_string("x + 1", x: 2))
IO.inspect({Date.add(~D[2024-02-28], 2), DateTime.from_unix!(0),
  Calendar.strftime(~N[2024-01-02 03:04:05], "%a %d.%m.%y %H:%M")})
IO.inspect({String.graphemes("e\u0301x"), String.normalize("é", :nfd) |> byte_size(), Integer.digits(1234, 7),
  Float.round(2.675, 2), 1.0e-10})
IO.inspect(Stream.unfold({0, 1}, fn {a, b} -> {a, {b, a + b}} end) |> Stream.filter(&(rem(&1, 2) == 0))
  |> Enum.take(8))
try do
  raise ArgumentError, "no"
rescue
  e in ArgumentError -> IO.inspect({e, __STACKTRACE__ != []})
end
send(self(), {:m, 1})
receive do
  {:m, x} when x > 0 -> IO.inspect(x)
after
  0 -> IO.puts("none")
end
{:ok, io} = StringIO.open("line 1\\nline 2")
IO.inspect(IO.read(io, :line))
Registry.start_link(keys: :unique, name: R)
Registry.register(R, "k", :v)
IO.inspect(Registry.lookup(R, "k") |> Enum.map(&elem(&1, 1)))
IO.inspect(%{nested: [%{list: Enum.to_list(1..60)}, <<1, 2, 3>>, ~c"chars", {:t, self() |> is_pid()}]},
  limit: 20, width: 60)
# The report of it comes some time later, through these processes, to where this one writes too.
:logger.add_primary_filter(:told, {fn _, me -> send(me, :told); :ignore end, self()})
{_, ref} = spawn_monitor(fn -> raise "in a process" end)
e = receive do
  {:DOWN, ^ref, _, _, {e, _}} -> e
end
receive do
  :told -> :sys.get_status(:logger_proxy)
end
if :default in :logger.get_handler_ids(), do: :logger_std_h.filesync(:default), else: Logger.flush()
IO.inspect(e)
'''

# What is typed into iex, and how the screen ends then.
TYPED = [
    ('1 + 1\r', r'2\niex\(2\)>'),
    ('x = %{a: [1, 2]}\r', r'iex\(3\)>'),
    ('x.a |> Enum.map(& &1 * 2)\r', r'\[2, 4\]\niex\(4\)>'),
    ('String.upca\t', r'upcase'),
    ('("ä")\r', r'iex\(5\)>'),
    ('\x1b[A', r'iex\(5\)> String.upcase\("ä"\)'),
    ('\r', r'iex\(6\)>'),
    ('raise "no"\r', r'iex\(6\)>'),
    ('h Enum.sum/1\r', r'iex\(7\)>'),
    ('defmodule M do\r', r'\.\.\.\(7\)>'),
    ('def f(x), do: x + 1\r', r'\.\.\.\(7\)>'),
    ('end; M.f(41)\r', r'42\niex\(8\)>'),
    ('IO.gets("name? ")\r', r'name\?'),
    ('me\r', r'iex\(9\)>'),
    ('System.halt(0)', r'System\.halt\(0\)'),  # what is typed together with its end may be shown or not
    ('\r', None),
]

# What says how long something took, or when.
TIMES = [
    (r'Finished in .*', 'Finished'),
    (r'\d+\.\d+ ?m?s\b', 'TIME'),
    (r'ct_run\.[\w@.-]+_\d\d\.\d\d\.\d\d', 'ct_run.TIME'),
    (r'\(\d+\.\d+ms\)', '(TIME)'),
    (r'in \d+m\d+\.\d+s', 'in TIME'),
    (r'<\d+\.\d+\.\d+>', '<pid>'),
    (r'(\d+-\d+-\d+ )?\d+:\d+:\d+(\.\d+)?', 'WHEN'),
    (r'\d+m \d\.\d+s', 'TIME'),
]


def outcome(machine, shell):
    with scratch() as folder:
        for name, text in FILES.items():
            (pathlib.Path(folder) / name).write_text(text)
        status, out, err = machine.run(
            folder, ['sh', '-c', shell], environment={'QUIET': '1', 'REBAR_OFFLINE': '1', 'HEX_OFFLINE': '1'}
        )
    texts = []
    for text in (out, err):
        for pattern, name in TIMES:
            text = re.sub(pattern, name, text)
        texts.append(text)
    return [status, *texts]


def agree(programs, needed, shell):
    if not shutil.which(needed):
        raise Skip(f'no {needed} here')
    ours, theirs = (outcome(machine, shell) for machine in machines(programs))
    if ours != theirs:
        raise Failure(difference(ours, theirs))


def iex_agrees(programs):
    if not shutil.which('iex'):
        raise Skip('no iex here')
    path = os.environ['PATH']
    compare(
        *(
            seen(['iex'], f'{machine.folder}:{path}' if machine.folder else path, TYPED, r'iex\(1\)>')
            for machine in machines(programs)
        )
    )


def tests(programs):
    return [
        Test('systems', f'tool {name}', lambda needed=needed, shell=shell: agree(programs, needed, shell))
        for name, (needed, shell) in CASES.items()
    ] + [Test('systems', 'tool iex: a session on a terminal', lambda: iex_agrees(programs))]
