-module(os).
-export([type/0]).
type() -> from_elsewhere.
