-module(queue).
-export([new/0]).
new() -> from_elsewhere.
