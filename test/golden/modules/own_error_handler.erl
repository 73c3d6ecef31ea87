%% Tells what it is asked for; `load` leaves it to the usual handler.
-module(own_error_handler).
-export([undefined_function/3, undefined_lambda/3]).

undefined_function(Module, load, Arguments) -> error_handler:undefined_function(Module, lend, Arguments);
undefined_function(Module, Function, Arguments) -> {Module, Function, Arguments}.

undefined_lambda(Module, Fun, [load, B]) -> error_handler:undefined_lambda(Module, Fun, [load, B]);
undefined_lambda(Module, Fun, Arguments) -> {Module, is_function(Fun, length(Arguments)), Arguments}.
