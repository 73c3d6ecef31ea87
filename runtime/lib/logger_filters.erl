%% Ready-made filters for logger. Action is log or stop.
-module(logger_filters).

-export([domain/2, level/2, progress/2, remote_gl/2]).

domain(#{meta := Meta} = Event, {Action, Compare, Domain}) ->
    Own = maps:get(domain, Meta, undefined),
    Matches = case Compare of
                  super -> is_list(Own) andalso lists:prefix(Own, Domain);
                  sub -> is_list(Own) andalso lists:prefix(Domain, Own);
                  equal -> Own =:= Domain;
                  not_equal -> Own =/= Domain;
                  undefined -> Own =:= undefined
              end,
    answer(Matches, Action, Event).

level(#{level := Level} = Event, {Action, Operator, Other}) ->
    Order = logger:compare_levels(Level, Other),
    Matches = case Operator of
                  neq -> Order =/= eq;
                  eq -> Order =:= eq;
                  lt -> Order =:= lt;
                  gt -> Order =:= gt;
                  lteq -> Order =/= gt;
                  gteq -> Order =/= lt
              end,
    answer(Matches, Action, Event).

progress(#{msg := {report, #{label := {_, progress}}}} = Event, Action) -> answer(true, Action, Event);
progress(_, _) -> ignore.

remote_gl(#{meta := #{gl := Leader}} = Event, Action) when node(Leader) =/= node() -> answer(true, Action, Event);
remote_gl(_, _) -> ignore.

answer(true, log, Event) -> Event;
answer(true, stop, _) -> stop;
answer(false, _, _) -> ignore.
