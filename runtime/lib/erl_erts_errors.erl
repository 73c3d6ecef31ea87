%% Why a built-in function refused its arguments, where no OTP is installed, whose module of this name says more.
-module(erl_erts_errors).

-export([format_error/2, format_bs_fail/2]).

format_error(Reason, Stack) -> refused_arguments:format_error(Reason, Stack).

format_bs_fail(Reason, Stack) -> refused_arguments:format_bs_fail(Reason, Stack).
