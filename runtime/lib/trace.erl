%% SPDX-License-Identifier: Apache-2.0
%% Trace sessions: several at once, each with its own tracer, flags and patterns. erlang:trace/3 and its
%% relatives are a session of their own.
-module(trace).

-export([session_create/3, session_destroy/1, session_info/1, process/4, port/4, function/4, send/3, recv/3,
         info/3, delivered/2, system/3]).
-export_type([session/0]).

-type weak() :: {atom(), non_neg_integer() | default}.
-type session() :: {reference(), weak()} | weak().
-type tracer() :: pid() | port() | {module(), term()} | undefined.

-spec session_create(atom(), tracer(), []) -> session().
session_create(Name, Tracer, Options) ->
    load(Tracer),
    try erts_internal:trace_session_create(Name, Tracer, Options)
    catch error:Reason:Stack -> refuse(session_create, Reason, [Name, Tracer, Options], Stack)
    end.

%% The machine asks a module of native code only when that is loaded.
load({Module, State}) when is_atom(Module) ->
    erlang:module_loaded(Module) orelse (catch Module:enabled(trace_status, self(), State));
load(_) -> ok.

-spec session_destroy(session()) -> boolean().
session_destroy(Session) ->
    try erts_internal:trace_session_destroy(Session)
    catch error:Reason:Stack -> refuse(session_destroy, Reason, [Session], Stack)
    end.

%% The sessions that trace it.
-spec session_info(all | pid() | port() | mfa() | atom()) -> [weak()] | undefined.
session_info(What) ->
    try erts_internal:trace_info(any, case What of all -> any; _ -> What end, session) of
        {session, Sessions} -> Sessions;
        undefined -> undefined
    catch error:Reason:Stack -> refuse(session_info, Reason, [What], Stack)
    end.

-spec process(session(), pid() | all | existing | new, boolean(), [atom() | tuple()]) -> non_neg_integer().
process(Session, Who, How, Flags) ->
    trace(process, Session, Who, #{all => processes, existing => existing_processes, new => new_processes},
        fun is_pid/1, How, Flags).

-spec port(session(), port() | all | existing | new, boolean(), [atom() | tuple()]) -> non_neg_integer().
port(Session, Who, How, Flags) ->
    trace(port, Session, Who, #{all => ports, existing => existing_ports, new => new_ports},
        fun is_port/1, How, Flags).

trace(Function, Session, Who, Kinds, IsOne, How, Flags) ->
    try
        IsOne(Who) orelse lists:member(Who, maps:values(Kinds)) orelse is_map_key(Who, Kinds)
            orelse erlang:error(badarg),
        erts_internal:trace(Session, maps:get(Who, Kinds, Who), How, Flags)
    catch error:Reason:Stack -> refuse(Function, Reason, [Session, Who, How, Flags], Stack)
    end.

-spec function(session(), {atom(), atom(), arity() | '_'} | on_load, term(), [atom() | tuple()]) ->
          non_neg_integer().
function(Session, Function, Specification, Flags) ->
    try erts_internal:trace_pattern(Session, Function, Specification, Flags)
    catch error:Reason:Stack -> refuse(function, Reason, [Session, Function, Specification, Flags], Stack)
    end.

-spec send(session(), term(), []) -> non_neg_integer().
send(Session, Specification, Flags) ->
    try erts_internal:trace_pattern(Session, send, Specification, Flags)
    catch error:Reason:Stack -> refuse(send, Reason, [Session, Specification, Flags], Stack)
    end.

-spec recv(session(), term(), []) -> non_neg_integer().
recv(Session, Specification, Flags) ->
    try erts_internal:trace_pattern(Session, 'receive', Specification, Flags)
    catch error:Reason:Stack -> refuse(recv, Reason, [Session, Specification, Flags], Stack)
    end.

-spec info(session(), pid() | port() | mfa() | atom(), atom()) -> term().
info(Session, What, Item) ->
    try erts_internal:trace_info(Session, What, Item)
    catch error:Reason:Stack -> refuse(info, Reason, [Session, What, Item], Stack)
    end.

-spec delivered(session(), pid() | all) -> reference().
delivered(_Session, Tracee) -> erlang:trace_delivered(Tracee).

%% What the session's tracer is told of the whole system: see erlang:system_monitor/2. false: no more of it.
-spec system(session(), atom(), term()) -> ok.
system(Session, Event, Value) -> erts_internal:system_monitor(Session, session, [{Event, Value}]).

%% The function that was called fails, for the reason that the built-in function gives.
refuse(Function, Reason, Arguments, [{_, _, _, Place} | Stack]) ->
    Info = proplists:get_value(error_info, Place, #{}),
    Callers = [Frame || {M, _, _, _} = Frame <- Stack, M =/= ?MODULE],
    erlang:raise(error, Reason,
        [{?MODULE, Function, Arguments, [{error_info, Info#{module => erl_kernel_errors}}]} | Callers]).
