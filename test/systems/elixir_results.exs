# Writes how each test of ExUnit ends, a line each, into the file that VMRUN_RESULTS names. Loaded before what starts ExUnit.
defmodule Results do
  use GenServer

  def init(_), do: {:ok, File.open!(System.fetch_env!("VMRUN_RESULTS"), [:append, :utf8])}

  def handle_cast({:test_finished, test}, file) do
    how = if test.state, do: elem(test.state, 0), else: :passed
    IO.puts(file, "#{how} #{inspect(test.module)} #{test.name |> Atom.to_string() |> inspect()}")
    {:noreply, file}
  end

  def handle_cast(_, file), do: {:noreply, file}
end

Application.load(:ex_unit)
Application.put_env(:ex_unit, :formatters, [ExUnit.CLIFormatter, Results])
