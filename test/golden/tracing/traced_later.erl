%% A module for returns.act, which loads it again and again, and for deleted_module.act.
-module(traced_later).
-export([f/1, again/0]).

f(X) -> X.

again() -> fun(X) -> f(X) end.
