%% SPDX-License-Identifier: Apache-2.0
%% Breakpoints on lines in scripts. OTP's own system has this function in erts_internal.
-module(vmrun_debugger).
-export([breakpoint/4]).

%% What a process calls in front of a line with a breakpoint. It waits until the debugger lets it go on.
breakpoint(Module, Function, Arity, Line) ->
    Self = self(),
    Ref = make_ref(),
    Resume = fun() -> Self ! Ref, ok end,
    case erts_internal:notify_breakpoint_hit({Module, Function, Arity}, Line, Resume) of
        ok -> receive Ref -> ok end;
        _ -> ok
    end.
