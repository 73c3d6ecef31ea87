%% Native records that other modules make, read and match.
-module(shapes).
-export([point/1, hidden/1, open/1, area/1]).
-export_record([point, empty]).
-record #point{x, y = 0, name = {no, "name"}}.
-record #hidden{a = 1, b}.
-record #empty{}.

point(X) -> #point{x = X}.

hidden(B) -> #hidden{b = B}.

open(#hidden{a = A, b = B}) -> {A, B};
open(#empty{}) -> nothing.

area(#point{x = X, y = Y}) -> X * Y.
