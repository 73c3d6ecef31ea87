%% SPDX-License-Identifier: Apache-2.0
%% Ready-made filters for logger. Action is log or stop.
-module(logger_filters).

-export([domain/2, level/2, progress/2, remote_gl/2]).

-define(IS_ACTION(A), (A =:= log orelse A =:= stop)).

domain(#{meta := Meta} = Event, {Action, Compare, Domain}) when ?IS_ACTION(Action), is_list(Domain) ->
    Own = maps:get(domain, Meta, undefined),
    Matches = case Compare of
                  super -> is_list(Own) andalso lists:prefix(Own, Domain);
                  sub -> is_list(Own) andalso lists:prefix(Domain, Own);
                  equal -> Own =:= Domain;
                  not_equal -> Own =/= Domain;
                  undefined -> Own =:= undefined;
                  _ -> error(badarg)
              end,
    answer(Matches, Action, Event);
domain(Event, Extra) -> error(badarg, [Event, Extra]).

level(#{level := Level} = Event, {Action, Operator, Other}) when ?IS_ACTION(Action) ->
    Order = logger:compare_levels(Level, Other),
    Matches = case Operator of
                  neq -> Order =/= eq;
                  eq -> Order =:= eq;
                  lt -> Order =:= lt;
                  gt -> Order =:= gt;
                  lteq -> Order =/= gt;
                  gteq -> Order =/= lt;
                  _ -> error(badarg)
              end,
    answer(Matches, Action, Event);
level(Event, Extra) -> error(badarg, [Event, Extra]).

progress(#{msg := {report, #{label := {_, progress}}}} = Event, Action) when ?IS_ACTION(Action) ->
    answer(true, Action, Event);
progress(_, Action) when ?IS_ACTION(Action) -> ignore;
progress(Event, Action) -> error(badarg, [Event, Action]).

remote_gl(#{meta := #{gl := Leader}} = Event, Action) when ?IS_ACTION(Action), node(Leader) =/= node() ->
    answer(true, Action, Event);
remote_gl(_, Action) when ?IS_ACTION(Action) -> ignore;
remote_gl(Event, Action) -> error(badarg, [Event, Action]).

answer(true, log, Event) -> Event;
answer(true, stop, _) -> stop;
answer(false, _, _) -> ignore.
