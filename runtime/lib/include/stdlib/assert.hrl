%% SPDX-License-Identifier: Apache-2.0
%% Assertions for tests: ok, or an error that tells the place, the expression and what came of it. With
%% NOASSERT defined they are ok and nothing is evaluated; NODEBUG defines it, ASSERT or DEBUG prevent that.
%% Each has a variant with a comment of the caller's as last argument.
%%
%% What is asserted stands in a fun that is called at once, so that variables bound in it stay there.

-ifndef(ASSERT_HRL_).
-define(ASSERT_HRL_, 1).

-ifdef(NODEBUG).
-ifndef(DEBUG).
-ifndef(NOASSERT).
-define(NOASSERT, true).
-endif.
-endif.
-endif.
-ifdef(ASSERT).
-undef(NOASSERT).
-endif.

-ifdef(NOASSERT).

-define(assert(Expr), ok).
-define(assert(Expr, Comment), ok).
-define(assertNot(Expr), ok).
-define(assertNot(Expr, Comment), ok).
-define(assertMatch(Pattern, Expr), ok).
-define(assertMatch(Pattern, Expr, Comment), ok).
-define(assertNotMatch(Pattern, Expr), ok).
-define(assertNotMatch(Pattern, Expr, Comment), ok).
-define(assertEqual(Expected, Expr), ok).
-define(assertEqual(Expected, Expr, Comment), ok).
-define(assertNotEqual(Unexpected, Expr), ok).
-define(assertNotEqual(Unexpected, Expr, Comment), ok).
-define(assertException(Class, Pattern, Expr), ok).
-define(assertException(Class, Pattern, Expr, Comment), ok).
-define(assertNotException(Class, Pattern, Expr), ok).
-define(assertNotException(Class, Pattern, Expr, Comment), ok).

-else.

-define(assertion_failed_(Kind, Comment, Details),
        erlang:error({Kind, [{module, ?MODULE}, {line, ?LINE}] ++ Comment ++ Details})).

-define(assert(Expr), ?assert_(Expr, [])).
-define(assert(Expr, Comment), ?assert_(Expr, [{comment, (Comment)}])).
-define(assertNot(Expr), ?assertNot_(Expr, [])).
-define(assertNot(Expr, Comment), ?assertNot_(Expr, [{comment, (Comment)}])).
-define(assertMatch(Pattern, Expr), ?assertMatch_(Pattern, Expr, [])).
-define(assertMatch(Pattern, Expr, Comment), ?assertMatch_(Pattern, Expr, [{comment, (Comment)}])).
-define(assertNotMatch(Pattern, Expr), ?assertNotMatch_(Pattern, Expr, [])).
-define(assertNotMatch(Pattern, Expr, Comment), ?assertNotMatch_(Pattern, Expr, [{comment, (Comment)}])).
-define(assertEqual(Expected, Expr), ?assertEqual_(Expected, Expr, [])).
-define(assertEqual(Expected, Expr, Comment), ?assertEqual_(Expected, Expr, [{comment, (Comment)}])).
-define(assertNotEqual(Unexpected, Expr), ?assertNotEqual_(Unexpected, Expr, [])).
-define(assertNotEqual(Unexpected, Expr, Comment), ?assertNotEqual_(Unexpected, Expr,
    [{comment, (Comment)}])).
-define(assertException(Class, Pattern, Expr), ?assertException_(Class, Pattern, Expr, [])).
-define(assertException(Class, Pattern, Expr, Comment), ?assertException_(Class, Pattern, Expr,
    [{comment, (Comment)}])).
-define(assertNotException(Class, Pattern, Expr), ?assertNotException_(Class, Pattern, Expr, [])).
-define(assertNotException(Class, Pattern, Expr, Comment), ?assertNotException_(Class, Pattern, Expr,
    [{comment, (Comment)}])).

%% That this process is alive is what no compiler knows: no clause can be said never to match.
-define(assert_(Expr, Note), ?asserted_boolean_(Expr, ??Expr, is_process_alive(self()), true, Note)).
-define(assertNot_(Expr, Note), ?asserted_boolean_(Expr, ??Expr, not is_process_alive(self()), false, Note)).
-define(asserted_boolean_(Expr, Text, Wanted, Expected, Note),
        ((fun() ->
                  case {Wanted, (Expr)} of
                      {Assert__Value, Assert__Value} ->
                          ok;
                      {_, Assert__Value} ->
                          ?assertion_failed_(assert, Note,
                                             [{expression, Text},
                                              {expected, Expected},
                                              case is_boolean(Assert__Value) of
                                                  true -> {value, Assert__Value};
                                                  false -> {not_boolean, Assert__Value}
                                              end])
                  end
          end)())).

-define(assertMatch_(Pattern, Expr, Note),
        ((fun() ->
                  case (Expr) of
                      Pattern ->
                          ok;
                      Assert__Value ->
                          ?assertion_failed_(assertMatch, Note,
                                             [{expression, ??Expr}, {pattern, ??Pattern},
                                                 {value, Assert__Value}])
                  end
          end)())).

-define(assertNotMatch_(Pattern, Expr, Note),
        ((fun() ->
                  Assert__Value = (Expr),
                  case Assert__Value of
                      Pattern ->
                          ?assertion_failed_(assertNotMatch, Note,
                                             [{expression, ??Expr}, {pattern, ??Pattern},
                                                 {value, Assert__Value}]);
                      _ ->
                          ok
                  end
          end)())).

-define(assertEqual_(Expected, Expr, Note),
        ((fun() ->
                  case {(Expected), (Expr)} of
                      {Assert__Value, Assert__Value} ->
                          ok;
                      {Assert__Expected, Assert__Value} ->
                          ?assertion_failed_(assertEqual, Note,
                                             [{expression, ??Expr}, {expected, Assert__Expected},
                                                 {value, Assert__Value}])
                  end
          end)())).

-define(assertNotEqual_(Unexpected, Expr, Note),
        ((fun() ->
                  case {(Unexpected), (Expr)} of
                      {Assert__Value, Assert__Value} ->
                          ?assertion_failed_(assertNotEqual, Note,
                              [{expression, ??Expr}, {value, Assert__Value}]);
                      _ ->
                          ok
                  end
          end)())).

-define(exception_pattern_(Class, Pattern), {pattern, "{ " ++ Class ++ " , " ++ Pattern ++ " , [...] }"}).

-define(assertException_(Class, Pattern, Expr, Note),
        ((fun() ->
                  try Expr of
                      Assert__Value ->
                          ?assertion_failed_(assertException, Note,
                                             [{expression, ??Expr},
                                              ?exception_pattern_(??Class, ??Pattern),
                                              {unexpected_success, Assert__Value}])
                  catch
                      Class:Pattern ->
                          ok;
                      Assert__Class:Assert__Reason:Assert__Stack ->
                          ?assertion_failed_(assertException, Note,
                                             [{expression, ??Expr},
                                              ?exception_pattern_(??Class, ??Pattern),
                                              {unexpected_exception, {Assert__Class, Assert__Reason,
                                                  Assert__Stack}}])
                  end
          end)())).

-define(assertNotException_(Class, Pattern, Expr, Note),
        ((fun() ->
                  try Expr of
                      _ -> ok
                  catch
                      Assert__Class:Assert__Reason:Assert__Stack ->
                          case {Assert__Class, Assert__Reason} of
                              {Class, Pattern} ->
                                  ?assertion_failed_(assertNotException, Note,
                                                     [{expression, ??Expr},
                                                      ?exception_pattern_(??Class, ??Pattern),
                                                      {unexpected_exception,
                                                       {Assert__Class, Assert__Reason, Assert__Stack}}]);
                              _ ->
                                  ok
                          end
                  end
          end)())).

-endif.

-define(assertError(Pattern, Expr), ?assertException(error, Pattern, Expr)).
-define(assertError(Pattern, Expr, Comment), ?assertException(error, Pattern, Expr, Comment)).
-define(assertExit(Pattern, Expr), ?assertException(exit, Pattern, Expr)).
-define(assertExit(Pattern, Expr, Comment), ?assertException(exit, Pattern, Expr, Comment)).
-define(assertThrow(Pattern, Expr), ?assertException(throw, Pattern, Expr)).
-define(assertThrow(Pattern, Expr, Comment), ?assertException(throw, Pattern, Expr, Comment)).

-endif.
