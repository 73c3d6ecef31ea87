%% What erlang:trace and its relatives need besides what is built in.
-module(vmrun_trace).

-export([existing/2, info/2, trace_pattern/3]).

%% All processes there are, but for those who trace: how many.
existing(How, Flags) ->
    length([P || P <- processes(), vmrun_trace:one(P, How, Flags)]).

%% ---- erlang:trace_info/2 ----

info(Process, Item) when is_pid(Process); is_atom(Process), Process =/= on_load ->
    vmrun_trace:process_info(Process, Item);
info({M, F, A} = Function, Item) when is_atom(M), is_atom(F), is_integer(A), A >= 0, A =< 255 ->
    {Item, function_info(Item, exists(M, F, A), vmrun_trace:pattern(M, F, A), Function)};
info(Port, flags) when is_port(Port) -> {flags, []};
info(Port, tracer) when is_port(Port) -> {tracer, []};
info(Other, Item) ->
    erlang:error(badarg, [Other, Item]).

function_info(all, true, {_, _} = Pattern, Function) ->
    [{Item, function_info(Item, true, Pattern, Function)} ||
        Item <- [traced, match_spec, meta, meta_match_spec, call_time, call_count]];
function_info(Item, Exists, Pattern, Function) ->
    Known = lists:member(Item, [all, traced, match_spec, meta, meta_match_spec, call_time, call_count, call_memory]),
    if
        not Known -> erlang:error(badarg, [Function, Item]);
        not Exists -> undefined;
        true ->
            case {Item, Pattern} of
                {traced, {Kind, _}} -> Kind;
                {match_spec, {_, Spec}} -> Spec;
                _ -> false
            end
    end.

%% ---- erlang:trace_pattern/3 ----
%% Kinds: local (or global, without); counting, call times and meta tracing do not exist.

trace_pattern({M, F, A} = MFA, Spec, Flags) when is_atom(M), is_atom(F), is_list(Flags) ->
    Local = case Flags of
                [] -> false;
                [global] -> false;
                [local] -> true;
                _ -> erlang:error(badarg, [MFA, Spec, Flags])
            end,
    Bad = (M =:= '_' andalso {F, A} =/= {'_', '_'}) orelse (F =:= '_' andalso A =/= '_') orelse
        not (A =:= '_' orelse (is_integer(A) andalso A >= 0 andalso A =< 255)),
    Valid = is_boolean(Spec) orelse (is_list(Spec) andalso vmrun_trace:valid_specification(Spec)),
    if
        Bad; not Valid -> erlang:error(badarg, [MFA, Spec, Flags]);
        true ->
            Functions = [{Mod, Fun, Arity} || Mod <- modules(M), {Fun, Arity} <- functions(Mod, F, A, Local)],
            %% A global pattern takes the place of a local one, also where it says nothing itself.
            [vmrun_trace:clear_pattern(Mod, Fun, Arity) || not Local, Mod <- modules(M), {Fun, Arity} <- functions(Mod, F, A, true)],
            lists:foreach(fun(Function) -> set(Function, Local, Spec) end, Functions),
            length(Functions)
    end;
trace_pattern(Other, Spec, Flags) ->
    erlang:error(badarg, [Other, Spec, Flags]).

set({M, F, A}, _, false) -> vmrun_trace:clear_pattern(M, F, A);
set({M, F, A}, Local, true) -> vmrun_trace:set_pattern(M, F, A, Local, []);
set({M, F, A}, Local, Spec) -> vmrun_trace:set_pattern(M, F, A, Local, Spec).

modules('_') -> [M || M <- erlang:loaded(), erlang:module_loaded(M)];
modules(M) -> [M].

functions(M, F, A, Local) when F =/= '_', A =/= '_' ->
    [{F, A} || exists(M, F, A), Local orelse erlang:function_exported(M, F, A) orelse erlang:is_builtin(M, F, A)];
functions(M, F, A, Local) ->
    Kind = case Local of true -> functions; false -> exports end,
    Written = [FA || erlang:module_loaded(M), FA <- erlang:get_module_info(M, Kind)],
    [FA || {Fun, Arity} = FA <- Written ++ vmrun_trace:builtins(M), F =:= '_' orelse F =:= Fun, A =:= '_' orelse A =:= Arity].

exists(M, F, A) ->
    erlang:is_builtin(M, F, A) orelse
        (erlang:module_loaded(M) andalso lists:member({F, A}, erlang:get_module_info(M, functions))).
