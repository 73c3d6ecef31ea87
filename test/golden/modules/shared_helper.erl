-module(shared_helper).
-export([double/1, map_twice/2]).

double(X) -> hidden(X, X).

map_twice(F, L) -> lists:map(fun(X) -> F(F(X)) end, L).

hidden(A, B) -> A + B.
