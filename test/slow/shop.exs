# Clients of a server, a table, small files and a port, for a profile (profile_shares.py). The argument: a folder.
defmodule Shop do
  use GenServer
  def start_link, do: GenServer.start_link(__MODULE__, [], name: __MODULE__)
  def init(_), do: {:ok, %{orders: []}}
  def handle_call({:order, n}, _from, s) do
    total = Enum.reduce(1..200, 0, fn i, a -> a + rem(i * n, 7) end)
    {:reply, total, %{s | orders: [{n, String.duplicate("x", 300)} | Enum.take(s.orders, 500)]}}
  end
  def order(n), do: GenServer.call(__MODULE__, {:order, n})
end
defmodule Client do
  def run(id) do
    for i <- 1..50 do
      Shop.order(id * i)
      :ets.insert(:cache, {{id, i}, :crypto.strong_rand_bytes(10)})
      Enum.map(1..100, &Integer.to_string/1) |> Enum.join(",")
    end
    File.write!(Path.join(hd(System.argv()), "shop.#{id}"), String.duplicate("line\n", 1000))
    Process.sleep(5)
    run(id)
  end
end
:ets.new(:cache, [:public, :named_table])
{:ok, _} = Shop.start_link()
for id <- 1..8, do: spawn(fn -> Process.register(self(), :"client_#{id}"); Client.run(id) end)
spawn(fn -> port = Port.open({:spawn, "cat"}, [:binary]); Stream.repeatedly(fn -> Port.command(port, "hello\n"); receive do {^port, {:data, _}} -> :ok end; Process.sleep(2) end) |> Stream.run() end)
IO.puts("running #{System.pid()}")
Process.sleep(:infinity)
