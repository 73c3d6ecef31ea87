%% SPDX-License-Identifier: Apache-2.0
%% What erlang:trace and its relatives need besides what is built in.
-module(vmrun_trace).

-export([existing/5, load_and_trace/4, info/3, sessions/1, trace_pattern/2, trace_pattern/3,
         trace_pattern/5]).

%% A session is a number here; the default session, that of erlang:trace/3, is 0.

%% All processes and ports there are, if they are meant, but for those who trace: how many.
existing(Session, Processes, Ports, How, Flags) ->
    length([P || Processes, P <- processes(), vmrun_trace:one(Session, P, How, Flags)]) +
        length([P || Ports, P <- erlang:ports(), vmrun_trace:one(Session, P, How, Flags)]).

%% The call loads the module, or cannot.
load_and_trace(Tracer, Who, How, Flags) ->
    load(Tracer) orelse erlang:error(badarg, [Who, How, Flags]),
    erlang:trace(Who, How, Flags).

load({tracer, Module, State}) when is_atom(Module) ->
    erlang:module_loaded(Module) orelse
        try Module:enabled(trace_status, self(), State) of
            _ -> true
        catch error:undef:Stack ->
            erlang:module_loaded(Module) orelse erlang:raise(error, undef, Stack)
        end;
load(_) ->
    false.

%% ---- erlang:trace_info/2 ----

%% Of functions, of messages and of what will be loaded: the machine answers for processes and ports, and has
%% looked at the arguments.
info(Session, {M, F, A}, Item) ->
    {Item, pattern_info(Item, vmrun_trace:exists(M, F, A),
        A >= 0 andalso A =< 255 andalso vmrun_trace:pattern(Session, M, F, A))};
info(Session, Messages, match_spec) when Messages =:= send; Messages =:= 'receive' ->
    {match_spec, vmrun_trace:message_pattern(Session, Messages)};
info(Session, on_load, Item) ->
    {Item, on_load_info(Item, vmrun_trace:on_load_pattern(Session))}.

%% The sessions that trace a function.
sessions({M, F, A} = Function) ->
    {session, case vmrun_trace:exists(M, F, A) of
        false -> undefined;
        _ -> vmrun_trace:sessions_of_function(Function)
    end}.

%% What the machine says of it: {Traced, Specification, Meta, MetaSpecification, Count, Times,
%% Memory}.
pattern_info(_, false, _) -> undefined;
pattern_info(_, _, undefined) -> false;
pattern_info(meta, _, Pattern) when element(3, Pattern) =:= false -> vmrun_trace:unset_meta();
pattern_info(all, _, Pattern) ->
    [{Item, item(Item, Pattern)} || Item <- [traced, match_spec, meta, meta_match_spec, call_memory,
        call_time, call_count], Item =/= call_memory orelse vmrun_trace:counts_memory()];
pattern_info(Item, _, Pattern) -> item(Item, Pattern).

on_load_info(_, undefined) -> false;
on_load_info(all, Pattern) ->
    [{Item, item(Item, Pattern)} || Item <- [traced, match_spec, meta, meta_match_spec, call_count]];
on_load_info(Item, Pattern) -> item(Item, Pattern).

item(traced, Pattern) -> element(1, Pattern);
item(match_spec, Pattern) -> element(2, Pattern);
item(meta, Pattern) -> element(3, Pattern);
item(meta_match_spec, Pattern) -> element(4, Pattern);
item(call_count, Pattern) -> element(5, Pattern);
item(call_time, Pattern) -> element(6, Pattern);
item(call_memory, Pattern) ->
    vmrun_trace:counts_memory() orelse erlang:error(badarg),
    element(7, Pattern);
item(_, _) -> erlang:error(badarg).

%% ---- erlang:trace_pattern/3 ----

-define(GLOBAL, 1).
-define(LOCAL, 2).
-define(META, 4).
-define(COUNT, 8).
-define(TIME, 16).
-define(MEMORY, 32).

trace_pattern(What, Spec) -> trace_pattern(0, What, Spec, [], erlang, [What, Spec]).
trace_pattern(What, Spec, Flags) -> trace_pattern(0, What, Spec, Flags, erlang, [What, Spec, Flags]).
trace_pattern(Session, What, Spec, Flags, Name) ->
    trace_pattern(Session, What, Spec, Flags, erts_internal, [Name, What, Spec, Flags]).

trace_pattern(Session, What, Spec, Flags, Module, Args) ->
    try change(Session, What, Spec, Flags)
    catch
        throw:{bad, Cause} -> refused(badarg, #{cause => Cause}, Module, Args);
        throw:system_limit -> refused(system_limit, #{}, Module, Args)
    end.

%% As the built-in function fails.
refused(Reason, Cause, Module, Args) ->
    try erlang:error(Reason)
    catch error:Reason:Stack ->
        Callers = [Frame || {M, _, _, _} = Frame <- Stack, M =/= ?MODULE],
        Info = Cause#{module => erl_erts_errors},
        erlang:raise(error, Reason, [{Module, trace_pattern, Args, [{error_info, Info}]} | Callers])
    end.

change(Session, What, Spec, Flags) when What =:= send; What =:= 'receive' ->
    {Action, Specification} = wish(Spec, What),
    {Kinds, _} = kinds(Session, Flags),
    Kinds =:= 0 andalso is_boolean(Action) orelse throw({bad, none}),
    vmrun_trace:set_message_pattern(Session, What, Action, Specification),
    erlang:yield(),  % the next slice sends as the pattern wants it
    1;
change(Session, What, Spec, Flags) ->
    {Action, Specification} = wish(Spec, call),
    {Kinds, Tracer} = kinds(Session, Flags),
    Only = Kinds band (?LOCAL bor ?META),
    Specification =:= [] orelse Only =/= 0 orelse Kinds band (?COUNT bor ?TIME bor ?MEMORY) =:= 0
        orelse throw({bad, call_count}),
    change(Session, What, max(?GLOBAL, Kinds), Action, Specification, Tracer).

change(Session, on_load, Kinds, Action, Spec, Tracer) ->
    vmrun_trace:set_on_load_pattern(Session, Kinds, Action, Spec, Tracer),
    0;
change(Session, {M, F, A}, Kinds, Action, Spec, Tracer)
  when is_atom(M), is_atom(F), is_integer(A) orelse A =:= '_' ->
    ((M =:= '_' andalso {F, A} =/= {'_', '_'}) orelse (F =:= '_' andalso A =/= '_'))
        andalso throw({bad, none}),
    %% OTP's system always has it.
    vmrun_trace:exists(lists, sum, 1) =/= false orelse lists:sum([]),
    Global = Kinds =:= ?GLOBAL,
    Functions = [{Mod, Fun, Arity} || Mod <- modules(M), {Fun, Arity} <- functions(Mod, F, A, not Global)],
    %% Whoever runs has run a whole slice before the change, and another when this returns.
    Functions =:= [] orelse vmrun_trace:after_slices(),
    %% A global pattern takes the place of all others, also where it says nothing itself.
    Others = ?LOCAL bor ?META bor ?COUNT bor ?TIME bor ?MEMORY,
    [vmrun_trace:set_pattern(Session, {Mod, Fun, Arity}, Others, false, [], []) ||
        Global, Action =/= false, Mod <- modules(M), {Fun, Arity} <- functions(Mod, F, A, true)],
    [vmrun_trace:set_pattern(Session, Function, Kinds, Action, Spec, Tracer) || Function <- Functions],
    vmrun_trace:use_breakpoints(),
    Functions =:= [] orelse vmrun_trace:after_slices(),
    length(Functions);
change(_, _, _, _, _, _) ->
    throw({bad, none}).

wish(Spec, _) when is_boolean(Spec); Spec =:= restart; Spec =:= pause -> {Spec, []};
wish(Spec, Of) ->
    case is_list(Spec) andalso vmrun_trace:valid_specification(Spec, Of) of
        true -> {true, Spec};
        false -> throw({bad, match_spec});
        system_limit -> throw(system_limit)
    end.

%% Without a kind, or with global, it is calls from outside a module. The tracer is `own` in a session that
%% has one; then no other may be named.
kinds(Session, Flags) ->
    kinds(Flags, 0, case vmrun_trace:has_tracer(Session) of true -> own; false -> [] end).

kinds([global | More], Kinds, Tracer) when Kinds band bnot ?GLOBAL =:= 0 -> kinds(More, ?GLOBAL, Tracer);
kinds([Kind | More], Kinds, Tracer) when Kinds =/= ?GLOBAL ->
    case Kind of
        local -> kinds(More, Kinds bor ?LOCAL, Tracer);
        meta when Tracer =:= [] -> kinds(More, Kinds bor ?META, {tracer, self()});
        meta -> kinds(More, Kinds bor ?META, Tracer);
        call_count -> kinds(More, Kinds bor ?COUNT, Tracer);
        call_time -> kinds(More, Kinds bor ?TIME, Tracer);
        call_memory ->
            vmrun_trace:counts_memory() orelse throw({bad, badopt}),
            kinds(More, Kinds bor ?MEMORY, Tracer);
        {meta, To} when Tracer =/= own -> kinds(More, Kinds bor ?META, meta_tracer({tracer, To}));
        {meta, Module, State} when Tracer =/= own ->
            kinds(More, Kinds bor ?META, meta_tracer({tracer, Module, State}));
        _ -> throw({bad, badopt})
    end;
kinds([], Kinds, Tracer) -> {Kinds, Tracer};
kinds(_, _, _) -> throw({bad, badopt}).

meta_tracer(Tracer) ->
    vmrun_trace:is_tracer(Tracer) orelse load(Tracer) andalso vmrun_trace:is_tracer(Tracer)
        orelse throw({bad, badopt}),
    Tracer.

modules('_') -> vmrun_trace:modules();
modules(M) -> [M].

functions(M, F, A, Local) when F =/= '_', A =/= '_' ->
    [{F, A} || Exists <- [vmrun_trace:exists(M, F, A)], Exists =/= false, Local orelse Exists =:= global];
functions(M, F, A, Local) ->
    Kind = case Local of true -> functions; false -> exports end,
    [FA || {Fun, Arity} = FA <- vmrun_trace:functions(M, Kind),
        F =:= '_' orelse F =:= Fun, A =:= '_' orelse A =:= Arity].
