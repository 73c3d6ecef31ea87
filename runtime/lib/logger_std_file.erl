%% SPDX-License-Identifier: Apache-2.0
%% The file of a handler of logger_std_h: it belongs to a process with the handler's name, logger_std_h_ID, so
%% that it stays open when the process that added the handler ends.
%%
%% Before each event it is looked whether the file is still the one with that name: who moves or removes it
%% gets a new one. A file of more than max_no_bytes is put aside as NAME.0, that as NAME.1 and so on,
%% max_no_files of them, compressed if compress_on_rotate says so (NAME.0.gz). Archives beyond these are
%% removed.
%%
%% What cannot be written is lost and told once, on standard error, until something can be written again, or
%% fails in another way.
-module(logger_std_file).

-export([start/2, rotate_by/2, write/2, sync/1, stop/1]).

-include_lib("kernel/include/file.hrl").

-record(s, {id :: atom(), name :: string(), modes :: [term()], file :: file:fd() | none,
            identity = none, % of the open file: device and inode
            size = 0 :: non_neg_integer(),
            most = infinity :: pos_integer() | infinity, archives = 0 :: non_neg_integer(),
            compress = false :: boolean(),
            % what came of it the last time
            written = ok :: ok | {error, term()}, synced = ok :: ok | {error, term()}}).

%% Of the settings that logger_std_h has checked. ok or {error, Reason}, as all here.
start(Id, Config) ->
    Starter = self(),
    {Pid, Ref} = spawn_monitor(fun() -> open(Id, Config, Starter) end),
    receive
        {Pid, Result} ->
            demonitor(Ref, [flush]),
            Result;
        {'DOWN', Ref, _, _, Reason} -> {error, Reason}
    end.

rotate_by(Id, Config) -> call(Id, {rotate_by, Config}).
write(Id, Text) -> call(Id, {write, Text}).
sync(Id) -> call(Id, sync).

stop(Id) ->
    _ = call(Id, stop),
    ok.

name(Id) -> list_to_atom("logger_std_h_" ++ atom_to_list(Id)).

call(Id, Request) ->
    Server = name(Id),
    Ref = monitor(process, Server),
    catch Server ! {self(), Ref, Request},  % no such process: 'DOWN' says so
    receive
        {Ref, Result} ->
            demonitor(Ref, [flush]),
            Result;
        {'DOWN', Ref, _, _, Reason} -> {error, Reason}
    end.

%% --- The process ---

open(Id, #{file := File, modes := Modes} = Config, Starter) ->
    alone(name(Id)),
    process_flag(trap_exit, true),
    group_leader(whereis(init), self()),  % it belongs to none of the program's groups
    case reopened(#s{id = Id, name = File, modes = without_delay(Modes), file = none}) of
        {ok, S} ->
            Starter ! {self(), ok},
            serve(rotating_by(Config, S#s{modes = [append | S#s.modes -- [write, append, exclusive]]}));
        {error, Reason} -> Starter ! {self(), {error, {open_failed, File, Reason}}}
    end.

%% Another process may be adding the same handler.
alone(Name) ->
    try register(Name, self())
    catch error:badarg -> exit({already_started, whereis(Name)})
    end.

without_delay(Modes) -> [Mode || Mode <- Modes, Mode =/= delayed_write, not is_tuple(Mode)
    orelse element(1, Mode) =/= delayed_write].

serve(S) ->
    receive
        {From, Ref, stop} -> From ! {Ref, file:close(S#s.file)};
        {From, Ref, Request} ->
            {Result, S1} = answer(Request, S),
            From ! {Ref, Result},
            serve(S1);
        _ -> serve(S)
    end.

answer({write, Text}, S) ->
    case current(S) of
        {ok, #s{file = File, size = Size} = S1} ->
            case file:write(File, Text) of
                ok -> {ok, rotated_if_full(S1#s{size = Size + byte_size(Text), written = ok})};
                Error -> {ok, not_written(Error, S1)}
            end;
        Error -> {ok, not_written(Error, S)}
    end;
answer(sync, S) ->
    Result = file:sync(S#s.file),
    tell(filesync, Result, S#s.synced, S),
    {ok, S#s{synced = Result}};
answer({rotate_by, Config}, S) -> {ok, rotating_by(Config, S)}.

not_written(Error, S) ->
    tell(write, Error, S#s.written, S),
    S#s{written = Error}.

tell(_, ok, _, _) -> ok;
tell(_, Error, Error, _) -> ok;
tell(Operation, Error, _, #s{id = Id, name = Name}) ->
    erlang:display_string(lists:flatten(io_lib:format("Logger - error: ~0tp~n",
        [{Id, Operation, Name, Error}]))).

%% With the file that has the name now.
current(#s{identity = Identity} = S) ->
    case identity(S#s.name) of
        {Identity, _} -> {ok, S};
        _ -> reopened(S)
    end.

reopened(#s{file = Old, name = Name, modes = Modes} = S) ->
    _ = filelib:ensure_dir(Name),
    case file:open(Name, Modes) of
        {ok, File} ->
            _ = Old =:= none orelse file:close(Old),
            {Identity, Size} = identity(Name),
            {ok, S#s{file = File, identity = Identity, size = Size}};
        Error -> Error
    end.

identity(Name) ->
    case file:read_file_info(Name, [raw]) of
        {ok, #file_info{major_device = Device, inode = Inode, size = Size}} -> {{Device, Inode}, Size};
        Error -> Error
    end.

%% --- Rotation ---

rotating_by(#{max_no_bytes := infinity}, S) ->
    remove_archives(0, S),
    S#s{most = infinity, archives = 0};
rotating_by(#{max_no_bytes := Most, max_no_files := Archives, compress_on_rotate := Compress}, S) ->
    remove_archives(Archives, S),
    [change_compression(N, Compress, S) || N <- lists:seq(0, Archives - 1)],
    rotated_if_full(S#s{most = Most, archives = Archives, compress = Compress}).

%% From number N on, as far as there are any.
remove_archives(N, S) ->
    Removed = [file:delete(archive(N, Compress, S)) || Compress <- [false, true]],
    _ = lists:member(ok, Removed) andalso remove_archives(N + 1, S).

archive(N, false, #s{name = Name}) -> Name ++ "." ++ integer_to_list(N);
archive(N, true, S) -> archive(N, false, S) ++ ".gz".

change_compression(N, Compress, S) ->
    From = archive(N, not Compress, S),
    _ = filelib:is_file(From, prim_file) andalso rewrite(From, archive(N, Compress, S)).

%% One of the two is compressed. What cannot be written stays as it is.
rewrite(From, To) ->
    case file:copy({From, modes(From, [read])}, {To, modes(To, [write])}) of
        {ok, _} -> file:delete(From);
        {error, _} -> file:delete(To)
    end.

modes(Name, Modes) -> [compressed || filename:extension(Name) =:= ".gz"] ++ [raw, binary | Modes].

%% No number is greater than infinity: an atom.
rotated_if_full(#s{size = Size, most = Most} = S) when Size > Most -> rotated(S);
rotated_if_full(S) -> S.

rotated(#s{archives = 0} = S) ->
    _ = file:delete(S#s.name),
    anew(S);
rotated(#s{archives = Archives, compress = Compress} = S) ->
    [file:rename(archive(N - 1, Compress, S), archive(N, Compress, S)) || N <- lists:seq(Archives - 1, 1,
        -1)],
    _ = file:rename(S#s.name, archive(0, false, S)),
    _ = Compress andalso rewrite(archive(0, false, S), archive(0, true, S)),
    anew(S).

%% If that fails now, the next event fails.
anew(S) ->
    case reopened(S) of
        {ok, S1} -> S1;
        {error, _} -> S#s{identity = none}
    end.
