%% A module for returns.act, which loads it again and again.
-module(traced_later).
-export([f/1]).

f(X) -> X.
