%% The handler that prints: to the device its config names (type => standard_error, the default handler's; standard_io; {device, PidOrName}),
%% or to a file (file => Name, or type => {file, Name} or {file, Name, Modes}).
%%
%% A file belongs to a process with the handler's name, logger_std_h_ID, so that it stays open when the process that added the handler ends.
%% An event is in the hands of the operating system before log/2 returns. Before each event it is looked whether the file is still the one
%% with that name: who moves or removes it gets a new one. Rotation by size is not there, and refused.
-module(logger_std_h).

-export([adding_handler/1, changing_config/3, removing_handler/1, log/2, filesync/1]).

-include_lib("kernel/include/file.hrl").

-record(s, {name :: string(), modes :: [term()], file :: file:fd() | none,
            identity = none}). % of the open file: device and inode

%% --- Configuration ---

adding_handler(#{config := Config} = Handler) when is_map(Config) -> add(Handler, device(Config));
adding_handler(#{config := Config}) -> {error, {invalid_config, ?MODULE, Config}};
adding_handler(Handler) -> add(Handler, device(#{})).

add(_, {error, _} = Error) -> Error;
add(#{id := Id} = Handler, {ok, #{type := file} = Config}) ->
    case start(server(Id), Config) of
        ok -> {ok, Handler#{config => Config}};
        Error -> Error
    end;
add(Handler, {ok, Config}) -> {ok, Handler#{config => Config}}.

%% The settings as they are kept, with files in one form: type => file, an absolute name, and modes.
device(#{type := {file, Name, Modes}} = Config) when is_list(Modes) -> file(Config, Name, Modes);
device(#{type := {file, Name}} = Config) -> file(Config, Name, maps:get(modes, Config, [append]));
device(#{file := Name} = Config) when map_get(type, Config) =:= file; not is_map_key(type, Config) ->
    file(Config, Name, maps:get(modes, Config, [append]));
device(Config) ->
    Full = maps:merge(#{type => standard_io}, Config),
    case [Pair || {Key, Value} = Pair <- maps:to_list(Full), not is_setting(Key, Value)] of
        [] -> {ok, Full};
        Wrong -> {error, {invalid_config, ?MODULE, maps:from_list(Wrong)}}
    end.

file(Config, Name, Modes) ->
    Full = Config#{type => file, file => Name, modes => Modes},
    case [Pair || {Key, Value} = Pair <- maps:to_list(Full), not is_file_setting(Key, Value)] of
        [] -> {ok, Full#{file := filename:absname(Name), modes := with_raw(Modes)}};
        Wrong -> {error, {invalid_config, ?MODULE, maps:from_list(Wrong)}}
    end.

with_raw(Modes) ->
    Writing = [write || not lists:any(fun(M) -> lists:member(M, [write, append, exclusive]) end, Modes)],
    Writing ++ [raw | lists:delete(raw, Modes)].

is_setting(type, Type) -> Type =:= standard_io orelse Type =:= standard_error orelse is_device(Type);
is_setting(Key, Value) -> is_common(Key, Value).

is_device({device, Device}) -> is_pid(Device) orelse is_atom(Device);
is_device(_) -> false.

is_file_setting(type, file) -> true;
is_file_setting(file, Name) -> Name =/= [] andalso (is_binary(Name) orelse io_lib:char_list(Name));
is_file_setting(modes, Modes) -> is_list(Modes);
is_file_setting(file_check, Milliseconds) -> is_integer(Milliseconds) andalso Milliseconds >= 0;
is_file_setting(max_no_bytes, infinity) -> true;  % no rotation
is_file_setting(max_no_files, 0) -> true;
is_file_setting(compress_on_rotate, Compress) -> is_boolean(Compress);
is_file_setting(Key, Value) -> is_common(Key, Value).

%% What tunes OTP's protection against overload: whoever logs here waits until its event is written, so there is none to be had.
is_common(filesync_repeat_interval, Interval) -> Interval =:= no_repeat orelse is_integer(Interval);
is_common(Key, _) ->
    lists:member(Key, [sync_mode_qlen, drop_mode_qlen, flush_qlen, burst_limit_enable, burst_limit_max_count, burst_limit_window_time,
                       overload_kill_enable, overload_kill_qlen, overload_kill_mem_size, overload_kill_restart_after]).

%% Where it writes is decided when the handler is added.
changing_config(How, #{config := Old}, #{config := Given} = Handler) when is_map(Given) ->
    Fixed = maps:with([type, file, modes], Old),
    Full = case How of
               set -> maps:merge(Fixed, Given);
               update -> maps:merge(Old, Given)
           end,
    case maps:with([type, file, modes], absolute(Full)) of
        Fixed ->
            case device(Full) of
                {ok, Config} -> {ok, Handler#{config => Config}};
                Error -> Error
            end;
        Changed -> {error, {illegal_config_change, ?MODULE, Fixed, Changed}}
    end;
changing_config(_, #{config := Old}, Handler) when not is_map_key(config, Handler) -> {ok, Handler#{config => Old}};
changing_config(_, _, #{config := Given}) -> {error, {invalid_config, ?MODULE, Given}}.

absolute(#{type := file, file := Name} = Config) -> Config#{file := filename:absname(Name)};
absolute(Config) -> Config.

removing_handler(#{id := Id, config := #{type := file}}) ->
    _ = call(server(Id), stop),
    ok;
removing_handler(_) -> ok.

%% --- Events ---

log(Event, #{id := Id, config := Config, formatter := {Module, FormatterConfig}}) ->
    Text = Module:format(Event, FormatterConfig),
    case Config of
        #{type := file} ->
            case call(server(Id), {write, unicode:characters_to_binary(Text)}) of
                ok -> ok;
                {error, Reason} -> error({write_failed, maps:get(file, Config), Reason})
            end;
        #{type := Type} -> io:put_chars(to(Type), Text)
    end.

to(standard_io) -> user;
to(standard_error) -> standard_error;
to({device, Device}) -> Device.

%% What was logged is on the disk when this returns.
filesync(Id) when is_atom(Id) ->
    case logger:get_handler_config(Id) of
        {ok, #{config := #{type := file}}} -> call(server(Id), filesync);
        {ok, _} -> ok;
        Error -> Error
    end;
filesync(_) -> {error, {badarg, {filesync, []}}}.

%% --- The process of a file ---

server(Id) -> list_to_atom("logger_std_h_" ++ atom_to_list(Id)).

start(Name, Config) ->
    Starter = self(),
    {Pid, Ref} = spawn_monitor(fun() -> open(Name, Config, Starter) end),
    receive
        {Pid, Result} ->
            demonitor(Ref, [flush]),
            Result;
        {'DOWN', Ref, _, _, Reason} -> {error, Reason}
    end.

open(Name, #{file := File, modes := Modes}, Starter) ->
    register(Name, self()),
    group_leader(whereis(init), self()),  % it belongs to none of the program's groups
    _ = filelib:ensure_dir(File),
    case reopened(#s{name = File, modes = Modes, file = none}) of
        {ok, S} ->
            Starter ! {self(), ok},
            serve(S);
        {error, Reason} -> Starter ! {self(), {error, {open_failed, File, Reason}}}
    end.

serve(S) ->
    receive
        {From, Ref, {write, Text}} ->
            {Result, S1} = write(Text, S),
            From ! {Ref, Result},
            serve(S1);
        {From, Ref, filesync} ->
            From ! {Ref, file:sync(S#s.file)},
            serve(S);
        {From, Ref, stop} ->
            From ! {Ref, file:close(S#s.file)};
        _ -> serve(S)
    end.

write(Text, #s{identity = Identity} = S) ->
    case identity(S#s.name) of
        Identity -> {file:write(S#s.file, Text), S};
        _ ->
            case reopened(S) of
                {ok, S1} -> {file:write(S1#s.file, Text), S1};
                Error -> {Error, S}
            end
    end.

reopened(#s{file = Old, name = Name, modes = Modes} = S) ->
    case file:open(Name, Modes) of
        {ok, File} ->
            _ = Old =:= none orelse file:close(Old),
            {ok, S#s{file = File, identity = identity(Name)}};
        Error -> Error
    end.

identity(Name) ->
    case file:read_file_info(Name, [raw]) of
        {ok, #file_info{major_device = Device, inode = Inode}} -> {Device, Inode};
        Error -> Error
    end.

call(Server, Request) ->
    Ref = monitor(process, Server),
    catch Server ! {self(), Ref, Request},  % no such process: 'DOWN' says so
    receive
        {Ref, Result} ->
            demonitor(Ref, [flush]),
            Result;
        {'DOWN', Ref, _, _, Reason} -> {error, Reason}
    end.
