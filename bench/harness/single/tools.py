# SPDX-License-Identifier: Apache-2.0
"""Flat programs, which do a little of everything: OTP's compiler, Dialyzer and Mix, as they are installed.
Start to finish, but for the compiler, which says itself how long the first and the third round take."""
import pathlib
import shutil
import statistics
import subprocess
import time

from . import keep, pair, shown
from .. import running
from harness import golden

COMPILED = 'lists maps ets gen_server gen_statem erl_parse erl_lint io_lib_pretty'.split()
ANALYSED = 'lists maps sets dict orddict ordsets proplists queue gb_trees gb_sets array string'.split()
ROUNDS = f'''
    Forms = [begin
                 {{ok, {{_, [{{_, {{_, F}}}}]}}}} = beam_lib:chunks(code:which(M), [abstract_code]),
                 F
             end || M <- [{','.join(COMPILED)}]],
    Round = fun(_) ->
        {{Us, _}} = timer:tc(fun() -> [{{ok, _, _}} = compile:forms(F, []) || F <- Forms] end),
        io:format("~b~n", [Us])
    end,
    lists:foreach(Round, lists:seq(1, 3)), halt().'''
MODULES = 60
MODULE = '''
defmodule Shop.Part{n} do
  defstruct name: "part {n}", price: {n}, tags: []
  @rates Enum.map(1..20, &{{&1, &1 * {n}}})
  def new(opts), do: struct!(__MODULE__, opts)
  for {{k, v}} <- @rates, do: (def rate(unquote(k)), do: unquote(v))
  def rate(_), do: 0
  def total(parts) when is_list(parts) do
    parts |> Enum.filter(&match?(%__MODULE__{{}}, &1)) |> Enum.map(& &1.price) |> Enum.sum()
  end
  def text(%__MODULE__{{name: name, price: price, tags: tags}}) do
    with [_ | _] <- tags, {{:ok, list}} <- {{:ok, Enum.join(tags, ", ")}} do
      "#{{name}} (#{{list}}): #{{price}}"
    else
      [] -> "#{{name}}: #{{price}}"
    end
  end
  def parse(<<size::16, name::binary-size(size), price::32, rest::binary>>) do
    {{:ok, new(name: name, price: price), rest}}
  end
  def parse(_), do: :error
end
'''


def measure(session):
    machines, taken = pair(session), {}
    for number in range(session.options.runs):
        if session.out_of_time() and number:
            break
        for name, machine in running.rotated(machines, number):
            for what, ms in session.once(
                ['tools', name, number], lambda: times(session, machine), 'tools', name
            ).items():
                taken.setdefault(what, {}).setdefault(name, []).append(ms)
    medians = {
        what: {name: statistics.median(values) for name, values in of.items()} for what, of in taken.items()
    }
    session.say('\nOTP\'s and Elixir\'s own programs')
    for what, of in medians.items():
        ratio = f'; ratio {of["vmrun"] / of["erl"]:.2f}' if 'erl' in of else ''
        session.say(f'  {what:<22} {shown(of, "{:.0f} ms")}{ratio}')
    keep(session, 'tools_ms', medians)


def times(session, machine):
    """{what: ms} of one run of each of them that is installed."""
    commands = folder_of_commands(machine)
    environment = golden.ENVIRONMENT | {'PATH': f'{commands}:{golden.ENVIRONMENT["PATH"]}'}
    work = pathlib.Path(session.folder) / 'tools'
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()

    def run(*command, folder=work):
        begun = time.perf_counter()
        done = subprocess.run(
            session.pinned(command),
            cwd=folder,
            env=environment | {'HOME': str(work), 'MIX_ENV': 'prod'},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f'{command[0]}: {done.stdout[-500:]}{done.stderr[-500:]}')
        return done.stdout, (time.perf_counter() - begun) * 1000

    rounds = [int(us) / 1000 for us in run(f'{commands}/erl', '-noshell', '-eval', ROUNDS)[0].split()]
    found = {'compiler, first time': rounds[0], 'compiler, third time': rounds[2]}
    where = run(f'{commands}/erl', '-noshell', '-eval', 'io:put_chars(code:lib_dir(stdlib)), halt().')[0]
    if shutil.which('dialyzer', path=commands):
        files = [f'{where}/ebin/{module}.beam' for module in ANALYSED]
        found['dialyzer'] = run(f'{commands}/dialyzer', '--build_plt', '--output_plt', f'{work}/plt', *files)[
            1
        ]
    if shutil.which('mix'):
        project(work / 'shop')
        found['mix compile'] = run('mix', 'compile', folder=work / 'shop')[1]
    return found


def folder_of_commands(machine):
    """Where its erl and dialyzer are."""
    if machine.path == 'erl':
        return str(pathlib.Path(shutil.which('erl')).parent)
    return str(pathlib.Path(machine.path).resolve().parent / 'bin')


def project(folder):
    (folder / 'lib').mkdir(parents=True)
    (folder / 'mix.exs').write_text(
        'defmodule Shop.MixProject do\n  use Mix.Project\n'
        '  def project, do: [app: :shop, version: "0.1.0"]\nend\n'
    )
    for n in range(MODULES):
        (folder / 'lib' / f'part{n}.ex').write_text(MODULE.format(n=n))
