%% There are no other nodes: cases that start one are skipped.
-module(peer).
-export([start/0, start/1, start_link/0, start_link/1, random_name/0, random_name/1, stop/1]).

start() -> ct:other_node().
start(_) -> ct:other_node().
start_link() -> ct:other_node().
start_link(_) -> ct:other_node().
random_name() -> ct:other_node().
random_name(_) -> ct:other_node().
stop(_) -> ok.
