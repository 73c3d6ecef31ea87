-module(installed_only).
-export([new/0]).
new() -> {otp, "0.9"}.
