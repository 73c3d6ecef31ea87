-module(sets).
-export([new/0]).
new() -> {otp, "0.10"}.
