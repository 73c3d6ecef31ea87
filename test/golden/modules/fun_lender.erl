-module(fun_lender).
-export([lend/1, defined/0]).

lend(X) -> {fun() -> X end, fun(A, B) -> {A, B, X} end}.

defined() -> ok.
