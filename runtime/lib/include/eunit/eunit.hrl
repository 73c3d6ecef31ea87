%% SPDX-License-Identifier: Apache-2.0
%% For modules with tests. Functions NAME_test/0 and NAME_test_/0 are exported by themselves and test/0 runs
%% them all; with NOTEST defined they are left out of the module (EUNIT_NOAUTO: neither). The macros whose
%% names begin with _ make test objects: a line and a fun. Running tests takes the application eunit.

-ifndef(EUNIT_HRL_).
-define(EUNIT_HRL_, 1).

-ifdef(TEST).
-undef(NOTEST).
-endif.
-ifdef(DEBUG).
-undef(NODEBUG).
-endif.

-ifdef(NOTEST).
-undef(EUNIT).
-else.
-ifndef(ASSERT).
-define(ASSERT, true).
-endif.
-ifndef(TEST).
-define(TEST, true).
-endif.
-ifndef(EUNIT).
-define(EUNIT, true).
-endif.
-endif.

-include_lib("stdlib/include/assert.hrl").

-ifndef(EUNIT_NOAUTO).
-ifdef(NOTEST).
-compile({parse_transform, eunit_striptests}).
-else.
-compile({parse_transform, eunit_autoexport}).
-endif.
-endif.

-ifndef(LET).
-define(LET(Var, Value, Expr), ((fun(Var) -> Expr end)(Value))).
-endif.
-ifndef(IF).
-define(IF(Test, Then, Else), (case (Test) of true -> Then; false -> Else end)).
-endif.
-ifndef(MATCHES).
-define(MATCHES(Pattern, Expr), (case (Expr) of Pattern -> true; _ -> false end)).
-endif.

%% Whether this process runs in a test: a process of eunit's takes its output then.
-ifndef(UNDER_EUNIT).
-define(UNDER_EUNIT,
        (?MATCHES({current_function, {eunit_proc, _, _}},
                  erlang:process_info(erlang:group_leader(), current_function)))).
-endif.
-ifndef(capturedOutput).
-define(capturedOutput, (case ?UNDER_EUNIT of true -> eunit_proc:get_output(); false -> "" end)).
-endif.

-define(_test(Expr), {?LINE, fun() -> Expr end}).
-define(_assert(Expr), ?_test(?assert(Expr))).
-define(_assertNot(Expr), ?_test(?assertNot(Expr))).
-define(_assertMatch(Pattern, Expr), ?_test(?assertMatch(Pattern, Expr))).
-define(_assertNotMatch(Pattern, Expr), ?_test(?assertNotMatch(Pattern, Expr))).
-define(_assertEqual(Expected, Expr), ?_test(?assertEqual(Expected, Expr))).
-define(_assertNotEqual(Unexpected, Expr), ?_test(?assertNotEqual(Unexpected, Expr))).
-define(_assertException(Class, Pattern, Expr), ?_test(?assertException(Class, Pattern, Expr))).
-define(_assertError(Pattern, Expr), ?_test(?assertError(Pattern, Expr))).
-define(_assertExit(Pattern, Expr), ?_test(?assertExit(Pattern, Expr))).
-define(_assertThrow(Pattern, Expr), ?_test(?assertThrow(Pattern, Expr))).
-define(_assertNotException(Class, Pattern, Expr), ?_test(?assertNotException(Class, Pattern, Expr))).

%% Commands of the operating system: a command's output if it ends with the status expected
-define(_cmd_(Cmd), (eunit_lib:command(Cmd))).
-define(cmdStatus(Status, Cmd),
        ((fun() ->
                  case ?_cmd_(Cmd) of
                      {(Status), Cmd__Output} ->
                          Cmd__Output;
                      {Cmd__Status, _} ->
                          ?command_failed_(command_failed, Cmd, [{expected_status, (Status)},
                              {status, Cmd__Status}])
                  end
          end)())).
-define(cmd(Cmd), ?cmdStatus(0, Cmd)).
-define(_cmdStatus(Status, Cmd), ?_test(?cmdStatus(Status, Cmd))).
-define(_cmd(Cmd), ?_test(?cmd(Cmd))).
-define(command_failed_(Kind, Cmd, Details),
        erlang:error({Kind, [{module, ?MODULE}, {line, ?LINE}, {command, (Cmd)} | Details]})).

-ifdef(NOASSERT).
-define(assertCmdStatus(Status, Cmd), ok).
-define(assertCmdOutput(Output, Cmd), ok).
-else.
-define(assertCmdStatus(Status, Cmd),
        ((fun() ->
                  case ?_cmd_(Cmd) of
                      {(Status), _} ->
                          ok;
                      {Cmd__Status, _} ->
                          ?command_failed_(assertCmd_failed, Cmd, [{expected_status, (Status)},
                              {status, Cmd__Status}])
                  end
          end)())).
-define(assertCmdOutput(Output, Cmd),
        ((fun() ->
                  case ?_cmd_(Cmd) of
                      {_, (Output)} ->
                          ok;
                      {_, Cmd__Output} ->
                          ?command_failed_(assertCmdOutput_failed, Cmd,
                                           [{expected_output, (Output)}, {output, Cmd__Output}])
                  end
          end)())).
-endif.
-define(assertCmd(Cmd), ?assertCmdStatus(0, Cmd)).
-define(_assertCmdStatus(Status, Cmd), ?_test(?assertCmdStatus(Status, Cmd))).
-define(_assertCmd(Cmd), ?_test(?assertCmd(Cmd))).
-define(_assertCmdOutput(Output, Cmd), ?_test(?assertCmdOutput(Output, Cmd))).

%% Words for a developer, to the user's terminal even where the output is taken
-ifdef(NODEBUG).
-define(debugMsg(Text), ok).
-define(debugHere, ok).
-define(debugFmt(Format, Args), ok).
-define(debugVal(Expr), (Expr)).
-define(debugVal(Expr, Depth), (Expr)).
-define(debugTime(Text, Expr), (Expr)).
-else.
-ifndef(EUNIT_DEBUG_VAL_DEPTH).
-define(EUNIT_DEBUG_VAL_DEPTH, 15).
-endif.
-define(debugMsg(Text),
        (io:format(user, <<"~ts:~w:~w: ~ts\n">>, [?FILE, ?LINE, self(), Text]))).
-define(debugHere, (?debugMsg("<-"))).
-define(debugFmt(Format, Args), (?debugMsg(io_lib:format(Format, Args)))).
-define(debugVal(Expr), ?debugVal(Expr, ?EUNIT_DEBUG_VAL_DEPTH)).
-define(debugVal(Expr, Depth),
        ((fun(Debug__Value) ->
                  ?debugFmt(<<"~ts = ~tP">>, [??Expr, Debug__Value, Depth]),
                  Debug__Value
          end)(Expr))).
-define(debugTime(Text, Expr),
        ((fun() ->
                  {Debug__Start, _} = erlang:statistics(wall_clock),
                  Debug__Value = (Expr),
                  {Debug__End, _} = erlang:statistics(wall_clock),
                  ?debugFmt(<<"~ts: ~.3f s">>, [Text, (Debug__End - Debug__Start) / 1000]),
                  Debug__Value
          end)())).
-endif.

-endif.
