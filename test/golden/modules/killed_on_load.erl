%% Its on_load function does not live to return.
-module(killed_on_load).
-export([name/0]).
-on_load(setup/0).

setup() -> exit(self(), kill), receive never -> ok end.

name() -> ?MODULE.
