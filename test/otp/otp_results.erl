%% A hook of common_test that writes a line for each thing a case does, as soon as it is known: "WHAT NAME
%% REASON", WHAT being began, ended, failed or skipped, NAME a case or GROUP/CASE. A case that began, and has
%% no other line, has ended well, if it has ended. Cases and groups that are named in VMRUN_OTP_LEFT_OUT, with
%% commas between them, are not run. A case that skips itself has no "ended": what is skipped after that is
%% another run of the case, in another group.
-module(otp_results).
-export([id/1, init/2, pre_init_per_group/4, pre_init_per_testcase/4, post_end_per_testcase/5, on_tc_fail/4,
    on_tc_skip/4]).

id(_) -> ?MODULE.

init(_, _) ->
    File = os:getenv("VMRUN_OTP_RESULTS"),
    {ok, #{writer => spawn(fun() -> writer(File) end),
        left_out => string:lexemes(os:getenv("VMRUN_OTP_LEFT_OUT", ""), ",")}}.

pre_init_per_group(_, Group, Config, State) -> {or_left_out(atom_to_list(Group), Config, State), State}.

pre_init_per_testcase(_, Case, Config, State) ->
    Name = name(Case, group(Config)),
    write(began, Name, "", State),
    {or_left_out(Name, Config, State), State}.

or_left_out(Name, Config, #{left_out := LeftOut}) ->
    case lists:member(Name, LeftOut) of
        true -> {skip, "left out"};
        false -> Config
    end.

post_end_per_testcase(_, Case, Config, Return, State) ->
    Name = name(Case, group(Config)),
    case Return of
        {How, Reason} when How =:= skip; How =:= skipped -> write(skipped, Name, Reason, State);
        {skip_and_save, Reason, _} -> write(skipped, Name, Reason, State);
        _ -> write(ended, Name, "", State)
    end,
    {Return, State}.

on_tc_fail(_, Case, Reason, State) ->
    write(failed, name(Case), Reason, State),
    State.

%% What common_test skips by itself, because what comes before has failed, is no wish of the suite.
on_tc_skip(_, Case, {tc_user_skip, Reason}, State) ->
    write(skipped, name(Case), Reason, State),
    State;
on_tc_skip(_, Case, {_, Reason}, State) ->
    write(failed, name(Case), Reason, State),
    State.

group(Config) -> proplists:get_value(name, proplists:get_value(tc_group_properties, Config, []), undefined).

name({Case, Group}) -> name(Case, Group);
name(Case) -> name(Case, undefined).

name(Case, undefined) -> lists:flatten(io_lib:format("~ts", [Case]));
name(Case, Group) -> lists:flatten(io_lib:format("~ts/~ts", [Group, Case])).

write(What, Name, Reason, #{writer := Writer}) ->
    Text = string:slice(io_lib:format("~0tP", [Reason, 60]), 0, 600),
    Line = io_lib:format("~s ~ts ~ts~n", [What, string:replace(Name, " ", "_", all),
        string:replace(Text, "\n", " ", all)]),
    Writer ! {self(), unicode:characters_to_binary(Line)},
    receive {Writer, Result} -> ok = Result end.

%% Has the file open all the time: a case may take all ports and descriptors there are.
writer(File) ->
    {ok, Device} = file:open(File, [append, raw]),
    write_lines(Device).

write_lines(Device) ->
    receive {From, Line} -> From ! {self(), file:write(Device, Line)} end,
    write_lines(Device).
