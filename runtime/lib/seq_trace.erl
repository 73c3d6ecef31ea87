%% SPDX-License-Identifier: Apache-2.0
%% Sequential tracing: what follows from one message is followed by a token
%% that travels along, {Flags, Label, Serial, From, Lastcnt}.
-module(seq_trace).

-export([set_token/1, set_token/2, get_token/0, get_token/1, print/1, print/2,
         reset_trace/0, set_system_tracer/1, get_system_tracer/0]).
-export_type([token/0, value/0]).

-type token() :: {integer(), term(), non_neg_integer(), pid(), non_neg_integer()}.
-type component() :: label | serial | flag().
-type flag() :: send | 'receive' | print | timestamp | monotonic_timestamp | strict_monotonic_timestamp.
-type value() :: term().
-type tracer() :: pid() | port() | {module(), term()} | false.

-define(FLAGS, [{1, send}, {2, 'receive'}, {4, print}, {8, timestamp},
                {16, strict_monotonic_timestamp}, {32, monotonic_timestamp}]).

-spec set_token([] | token() | {atom(), term()}) -> token() | [] | ok.
set_token([]) -> erlang:seq_trace(sequential_trace_token, []);
set_token({Flags, Label, Serial, _From, Lastcnt}) when is_integer(Flags) ->
    erlang:seq_trace(label, Label),
    erlang:seq_trace(serial, {Lastcnt, Serial}),
    lists:foreach(fun({Bit, Flag}) -> erlang:seq_trace(Flag, Flags band Bit =/= 0) end, ?FLAGS);
set_token(Other) -> erlang:error(badarg, [Other]).

-spec set_token(component(), value()) -> value().
set_token(Component, Value) -> erlang:seq_trace(Component, Value).

-spec get_token() -> [] | token().
get_token() ->
    case erlang:seq_trace_info(sequential_trace_token) of
        {_, Token} -> Token;
        [] -> []
    end.

-spec get_token(component()) -> {component(), value()} | [].
get_token(Component) -> erlang:seq_trace_info(Component).

-spec print(term()) -> ok.
print(Info) ->
    erlang:seq_trace_print(Info),
    ok.

%% Only when the token has that label. An atom for one is refused, as in OTP.
-spec print(integer(), term()) -> ok.
print(Label, Info) when is_atom(Label) -> erlang:error(badarg, [Label, Info]);
print(Label, Info) ->
    erlang:seq_trace_print(Label, Info),
    ok.

-spec reset_trace() -> true.
reset_trace() -> erlang:system_flag(reset_seq_trace, true).

-spec set_system_tracer(tracer()) -> tracer().
set_system_tracer(Tracer) -> erlang:system_flag(sequential_tracer, Tracer).

-spec get_system_tracer() -> tracer().
get_system_tracer() -> element(2, erlang:system_info(sequential_tracer)).
