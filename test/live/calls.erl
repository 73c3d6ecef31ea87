%% The module of trace G12.
-module(calls).
-export([main/0, g/1]).

main() -> X = f(1), length([X]), calls:g(X).
f(N) -> h(N) + 1.
h(N) -> N.
g(X) -> X.
