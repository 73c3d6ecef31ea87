%% SPDX-License-Identifier: Apache-2.0
%% Calls of what is not there. The machine loads the modules of undefined functions by itself; it comes here
%% for funs of modules that are not loaded, and for modules that need processes of kernel first; error
%% handlers of a program's own (process_flag(error_handler, Module)) come here for the rest.
-module(error_handler).

-export([breakpoint/3, undefined_function/3, undefined_lambda/3, raise_undef_exception/3, stub_function/3]).

undefined_function(Module, Function, Arguments) ->
    _ = erts_internal:needs_kernel(Module) andalso not starts(Function, Arguments)
        andalso installed_kernel:ensure_started(),
    call(Module, Function, Arguments).

%% A program may start such a process by itself.
starts(Function, []) -> Function =:= start_link orelse Function =:= start;
starts(_, _) -> false.

call(Module, Function, Arguments) ->
    case is_loaded(Module) andalso
         {erlang:function_exported(Module, Function, length(Arguments)),
          erlang:function_exported(Module, '$handle_undefined_function', 2)} of
        {true, _} -> apply(Module, Function, Arguments);
        {false, true} -> Module:'$handle_undefined_function'(Function, Arguments);
        _ -> raise_undef_exception(Module, Function, Arguments)
    end.

%% If the module that is loaded has no such fun, the call is a bad one and does not come here again.
undefined_lambda(Module, Fun, Arguments) ->
    case is_loaded(Module) of
        true -> apply(Fun, Arguments);
        false -> undefined({Fun, Arguments, []})
    end.

raise_undef_exception(Module, Function, Arguments) -> undefined({Module, Function, Arguments, []}).

%% A call that a debugger takes.
breakpoint(Module, Function, Arguments) -> int:eval(Module, Function, Arguments).

stub_function(Module, Function, Arguments) -> exit({undef, [{Module, Function, Arguments, []}]}).

is_loaded(Module) -> element(1, code:ensure_loaded(Module)) =:= module.

undefined(Called) ->
    try error(undef)
    catch error:undef:Stack -> erlang:raise(error, undef, [Called | tl(Stack)])
    end.
