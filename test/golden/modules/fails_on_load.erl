%% Its on_load function raises an exception.
-module(fails_on_load).
-export([name/0]).
-on_load(setup/0).

setup() -> error(because).

name() -> ?MODULE.
