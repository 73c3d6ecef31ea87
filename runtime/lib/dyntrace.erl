%% SPDX-License-Identifier: Apache-2.0
%% Probes that a program fires itself, and the tag that goes along with what a
%% process asks for. Every call says whether somebody looks: true (fired),
%% false (nobody does), error (built without probes, or no such probe) or badarg.
-module(dyntrace).

%% Built in: available/0, user_trace_s1/1, user_trace_i4s4/9, user_trace_n/10, enabled/3, trace/5.
-export([p/0, p/1, p/2, p/3, p/4, p/5, p/6, p/7, p/8,
         pn/1, pn/2, pn/3, pn/4, pn/5, pn/6, pn/7, pn/8, pn/9,
         put_tag/1, get_tag/0, get_tag_data/0, spread_tag/1, restore_tag/1]).

%% Up to four integers, then up to four strings (iolists of at most 1024 bytes).

p() -> vmrun_trace:p([]).
p(A1) -> vmrun_trace:p([A1]).
p(A1, A2) -> vmrun_trace:p([A1, A2]).
p(A1, A2, A3) -> vmrun_trace:p([A1, A2, A3]).
p(A1, A2, A3, A4) -> vmrun_trace:p([A1, A2, A3, A4]).
p(A1, A2, A3, A4, A5) when is_integer(A1) -> vmrun_trace:p([A1, A2, A3, A4, A5]).
p(A1, A2, A3, A4, A5, A6) when is_integer(A1), is_integer(A2) -> vmrun_trace:p([A1, A2, A3, A4, A5, A6]).
p(A1, A2, A3, A4, A5, A6, A7) when is_integer(A1), is_integer(A2), is_integer(A3) ->
    vmrun_trace:p([A1, A2, A3, A4, A5, A6, A7]).
p(A1, A2, A3, A4, A5, A6, A7, A8) when is_integer(A1), is_integer(A2), is_integer(A3), is_integer(A4) ->
    vmrun_trace:p([A1, A2, A3, A4, A5, A6, A7, A8]).

%% The same with a probe of its own for each label from 0 to 950.

pn(Label) -> vmrun_trace:pn(Label, []).
pn(Label, A1) -> vmrun_trace:pn(Label, [A1]).
pn(Label, A1, A2) -> vmrun_trace:pn(Label, [A1, A2]).
pn(Label, A1, A2, A3) -> vmrun_trace:pn(Label, [A1, A2, A3]).
pn(Label, A1, A2, A3, A4) -> vmrun_trace:pn(Label, [A1, A2, A3, A4]).
pn(Label, A1, A2, A3, A4, A5) when is_integer(A1) -> vmrun_trace:pn(Label, [A1, A2, A3, A4, A5]).
pn(Label, A1, A2, A3, A4, A5, A6) when is_integer(A1), is_integer(A2) ->
    vmrun_trace:pn(Label, [A1, A2, A3, A4, A5, A6]).
pn(Label, A1, A2, A3, A4, A5, A6, A7) when is_integer(A1), is_integer(A2), is_integer(A3) ->
    vmrun_trace:pn(Label, [A1, A2, A3, A4, A5, A6, A7]).
pn(Label, A1, A2, A3, A4, A5, A6, A7, A8) when is_integer(A1), is_integer(A2), is_integer(A3),
    is_integer(A4) -> vmrun_trace:pn(Label, [A1, A2, A3, A4, A5, A6, A7, A8]).

%% The tag: see erlang:dt_put_tag/1.

-spec put_tag(undefined | unicode:chardata()) -> binary() | undefined.
put_tag(undefined) -> erlang:dt_put_tag(undefined);
put_tag(Data) ->
    case unicode:characters_to_binary(Data) of
        Tag when is_binary(Tag) -> erlang:dt_put_tag(Tag);
        _ -> erlang:error(badarg, [Data])
    end.

-spec get_tag() -> binary() | undefined.
get_tag() -> erlang:dt_get_tag().

-spec get_tag_data() -> binary() | undefined.
get_tag_data() -> erlang:dt_get_tag_data().

-spec spread_tag(boolean()) -> true | {non_neg_integer(), binary() | []}.
spread_tag(Spread) -> erlang:dt_spread_tag(Spread).

-spec restore_tag(true | {non_neg_integer(), binary() | []}) -> true.
restore_tag(State) -> erlang:dt_restore_tag(State).
