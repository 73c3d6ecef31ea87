%% SPDX-License-Identifier: Apache-2.0
%% What the operating system offers that is not built in: shell commands, the search path.
-module(os).

-export([cmd/1, cmd/2, find_executable/1, find_executable/2]).

%% --- cmd ---

%% The command runs with no input; after it the shell prints this byte, so that the answer is known to be
%% complete even when the command has left something running that holds on to its output.
-define(END, 4).

cmd(Command) ->
    case output_of(Command, #{}) of
        {refused, Info} -> error(badarg, [Command], [{error_info, Info}]);
        Output -> Output
    end.

cmd(Command, Options) ->
    case output_of(Command, Options) of
        {refused, Info} -> error(badarg, [Command, Options], [{error_info, Info}]);
        Output -> Output
    end.

%% The output, or {refused, Info}, which erl_kernel_errors explains.
output_of(Command, Options) ->
    Info = #{module => erl_kernel_errors},
    case {command_text(Command), max_size(Options)} of
        {_, error} -> {refused, Info#{cause => badopt}};
        {error, _} -> {refused, Info};
        {Text, Max} ->
            case in_own_process(fun() -> run(Text, Max) end) of
                {no_port, _} = Why -> {refused, Info#{cause => setelement(1, Why, open_port)}};
                Output -> as_list(Output)
            end
    end.

command_text(Command) when is_atom(Command) -> command_text(atom_to_list(Command));
command_text(Command) ->
    try lists:flatten(Command) of
        Text ->
            case lists:all(fun(C) -> is_integer(C) andalso C > 0 end, Text)
                andalso unicode:characters_to_binary(Text) of
                Bytes when is_binary(Bytes) -> Bytes;
                _ -> error
            end
    catch error:_ -> error
    end.

max_size(#{max_size := N}) when is_integer(N), N >= 0 -> N;
max_size(#{max_size := infinity}) -> infinity;
max_size(#{max_size := _}) -> error;
max_size(#{}) -> infinity;
max_size(_) -> error.

%% The caller's mailbox has nothing to do with it.
in_own_process(Fun) ->
    {Pid, Monitor} = spawn_monitor(fun() -> exit({?MODULE, Fun()}) end),
    receive
        {'DOWN', Monitor, process, Pid, {?MODULE, Result}} -> Result;
        {'DOWN', Monitor, process, Pid, Reason} -> exit(Reason)
    end.

run(Text, Max) ->
    Script = <<"(", Text/binary, "\n) </dev/null; printf '\\004'">>,
    try open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Script]}, in, binary, stderr_to_stdout, eof,
        hide]) of
        Port ->
            Output = collect(Port, Max, 0, []),
            port_close(Port),
            Output
    catch
        error:Why -> {no_port, Why}
    end.

collect(_, Max, Size, Parts) when Max =/= infinity, Size >= Max -> binary:part(joined(Parts), 0, Max);
collect(Port, Max, Size, Parts) ->
    receive
        {Port, {data, Bytes}} ->
            case binary:last(Bytes) of
                ?END -> collect_rest(Max, joined([binary:part(Bytes, 0, byte_size(Bytes) - 1) | Parts]));
                _ -> collect(Port, Max, Size + byte_size(Bytes), [Bytes | Parts])
            end;
        {Port, eof} -> collect_rest(Max, joined(Parts))
    end.

collect_rest(Max, Output) when Max =/= infinity, byte_size(Output) > Max -> binary:part(Output, 0, Max);
collect_rest(_, Output) -> Output.

joined(Parts) -> iolist_to_binary(lists:reverse(Parts)).

as_list(Output) ->
    case unicode:characters_to_list(Output) of
        Text when is_list(Text) -> Text;
        _ -> binary_to_list(Output)
    end.

%% --- find_executable ---

%% Of a #file_info{}.
-define(TYPE(Info), element(3, Info)).
-define(MODE(Info), element(8, Info)).

find_executable(Name) -> find_executable(Name, os:getenv("PATH", "")).

find_executable(Name, Path) ->
    case filename:pathtype(Name) of
        relative -> first_executable([filename:join(folder(Folder), Name) || Folder <- string:split(Path, ":",
            all)]);
        _ -> first_executable([Name])
    end.

folder("") -> ".";
folder(Folder) -> Folder.

first_executable([File | Files]) ->
    case prim_file:read_file_info(File) of
        {ok, Info} when ?TYPE(Info) =:= regular, ?MODE(Info) band 8#111 =/= 0 -> filename:flatten(File);
        _ -> first_executable(Files)
    end;
first_executable([]) -> false.
