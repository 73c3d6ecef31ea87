%% Loaded at its first call, with a function that has to run before; calls itself while that runs.
-module(late_module).
-on_load(prepare/0).
-export([value/1, twice/1]).

prepare() -> prepared(), ok.
prepared() -> true.

value(X) -> X + 1.
twice(X) -> X * 2.
