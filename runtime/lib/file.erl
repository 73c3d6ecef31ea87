%% SPDX-License-Identifier: Apache-2.0
%% Files. Operations on names are calls to the file server; an open file is a process
%% (file_io_server), or, opened raw, a file_descriptor of the module that serves it.
-module(file).

-export([format_error/1, pid2name/1]).
-export([get_cwd/0, get_cwd/1, set_cwd/1, delete/1, delete/2, rename/2, make_dir/1, del_dir/1, del_dir_r/1,
         list_dir/1, list_dir_all/1, read_file_info/1, read_file_info/2, write_file_info/2, write_file_info/3,
         altname/1, read_link_info/1, read_link_info/2, read_link/1, read_link_all/1, make_link/2,
         make_symlink/2, read_file/1, read_file/2, write_file/2, write_file/3, change_mode/2, change_owner/2,
         change_owner/3, change_group/2, change_time/2, change_time/3]).
-export([open/2, close/1, read/2, read_line/1, write/2, pread/2, pread/3, pwrite/2, pwrite/3, position/2,
         truncate/1, sync/1, datasync/1, advise/4, allocate/3, copy/2, copy/3, copy_opened/3, sendfile/2,
         sendfile/5, ipread_s32bu_p32bu/3, ipread_s32bu_p32bu_int/3]).
-export([consult/1, path_consult/2, eval/1, eval/2, path_eval/2, path_eval/3, script/1, script/2,
         path_script/2, path_script/3, path_open/3]).
-export([raw_read_file_info/1, raw_write_file_info/2]).

-include_lib("kernel/include/file.hrl").

-define(SERVER, file_server_2).
-define(IO_SERVERS, file_io_servers).
-define(COPY_BYTES, 65536).
-define(SEND_BYTES, (1 bsl 20)).

-type filename() :: string().
-type filename_all() :: string() | binary().
-type name() :: string() | atom() | list().
-type name_all() :: name() | binary().
-type fd() :: #file_descriptor{}.
-type io_device() :: pid() | fd().
-type file_info() :: #file_info{}.
-type date_time() :: calendar:datetime().
-type posix() :: atom().
-type mode() :: atom() | tuple().
-export_type([date_time/0, fd/0, file_info/0, filename/0, filename_all/0, io_device/0, mode/0, name/0,
              name_all/0, posix/0]).

-spec format_error(term()) -> io_lib:chars().
format_error({_Line, ?MODULE, undefined_script}) -> "no value returned from script";
format_error({Line, ?MODULE, {Class, Reason, Stack}}) ->
    io_lib:format("~w: evaluation failed with reason ~w:~w and stacktrace ~w", [Line, Class, Reason, Stack]);
format_error({Line, ?MODULE, {Reason, Stack}}) ->
    io_lib:format("~w: evaluation failed with reason ~w and stacktrace ~w", [Line, Reason, Stack]);
format_error({Line, Module, Reason}) -> io_lib:format("~w: ~ts", [Line, Module:format_error(Reason)]);
format_error(badarg) -> "bad argument";
format_error(system_limit) -> "a system limit was hit, probably not enough ports";
format_error(terminated) -> "the file server process is terminated";
format_error(Posix) -> erl_posix_msg:message(Posix).

-spec pid2name(pid()) -> {ok, filename_all()} | undefined.
pid2name(Pid) when is_pid(Pid) ->
    try ets:lookup(?IO_SERVERS, Pid) of
        [{_, Name} | _] -> {ok, Name};
        [] -> undefined
    catch error:badarg -> undefined
    end.

%% Names as prim_file takes them: a string, or the operating system's own bytes

file_name(Name) when is_binary(Name) -> Name;
file_name(Name) ->
    try flat_name(Name)
    catch throw:badarg -> {error, badarg}
    end.

flat_name([C | T]) when is_integer(C) -> [C | flat_name(T)];
flat_name([Part | T]) -> flat_name(Part) ++ flat_name(T);
flat_name([]) -> [];
flat_name(Name) when is_atom(Name) -> atom_to_list(Name);
flat_name(_) -> throw(badarg).

%% Requests to the file server. It is started by the first of them.

call(Request) ->
    Server = server(), % starting it takes messages, which stop the tag
    Saved = erlang:dt_spread_tag(true),
    Answer = gen_server:call(Server, Request, infinity),
    _ = erlang:dt_restore_tag(Saved),
    Answer.

server() ->
    case whereis(?SERVER) of
        undefined -> file_server:ensure_started();
        Pid -> Pid
    end.

%% Request with its names in place, unless one is bad
name_call(Key, Name) ->
    case file_name(Name) of
        {error, _} = Error -> Error;
        File -> call({Key, File})
    end.

name_call(Key, Name, More) ->
    case file_name(Name) of
        {error, _} = Error -> Error;
        File -> call({Key, File, More})
    end.

names_call(Key, Name1, Name2) ->
    case file_name(Name2) of
        {error, _} = Error -> Error;
        File2 -> name_call(Key, Name1, File2)
    end.

%% In the calling process if the options have `raw`
name_call_or_raw(Key, Name, Options, Arguments) ->
    case file_name(Name) of
        {error, _} = Error -> Error;
        File ->
            Request = list_to_tuple([Key, File | Arguments]),
            case lists:member(raw, Options) of
                true -> prim_file:operate(none, Request);
                false -> call(Request)
            end
    end.

get_cwd() -> call({get_cwd}).

get_cwd(Drive) -> name_call(get_cwd, Drive).

set_cwd(Dir) -> name_call(set_cwd, Dir).

delete(Name) -> name_call(delete, Name).

delete(Name, Options) when is_list(Options) -> name_call_or_raw(delete, Name, Options, [Options]).

rename(From, To) -> names_call(rename, From, To).

make_dir(Dir) -> name_call(make_dir, Dir).

del_dir(Dir) -> name_call(del_dir, Dir).

%% With all that is in it; a link is removed, not what it leads to.
del_dir_r(Name) ->
    case read_link_info(Name) of
        {ok, #file_info{type = directory}} ->
            case list_dir_all(Name) of
                {ok, Names} -> lists:foreach(fun(Inner) -> del_dir_r(filename:join(Name, Inner)) end, Names);
                {error, _} -> ok
            end,
            del_dir(Name);
        {ok, _} -> delete(Name);
        Error -> Error
    end.

list_dir(Dir) -> name_call(list_dir, Dir).

list_dir_all(Dir) -> name_call(list_dir_all, Dir).

read_file_info(File) when is_pid(File); is_record(File, file_descriptor) -> read_file_info(File, []);
read_file_info(Name) -> name_call(read_file_info, Name).

read_file_info(Pid, Options) when is_pid(Pid), is_list(Options) -> request(Pid, {read_handle_info, Options});
read_file_info(#file_descriptor{module = Module} = File, Options) when is_list(Options) ->
    Module:read_handle_info(File, Options);
read_file_info(Name, Options) when is_list(Options) ->
    name_call_or_raw(read_file_info, Name, Options, [Options]).

read_link_info(Name) -> name_call(read_link_info, Name).

read_link_info(Name, Options) when is_list(Options) ->
    name_call_or_raw(read_link_info, Name, Options, [Options]).

write_file_info(Name, #file_info{} = Info) -> name_call(write_file_info, Name, Info).

write_file_info(Name, #file_info{} = Info, Options) when is_list(Options) ->
    name_call_or_raw(write_file_info, Name, Options, [Info, Options]).

raw_read_file_info(Name) -> read_file_info(Name, [raw]).

raw_write_file_info(Name, #file_info{} = Info) -> write_file_info(Name, Info, [raw]).

altname(Name) -> name_call(altname, Name).

read_link(Name) -> name_call(read_link, Name).

read_link_all(Name) -> name_call(read_link_all, Name).

make_link(Existing, New) -> names_call(make_link, Existing, New).

make_symlink(Existing, New) -> names_call(make_symlink, Existing, New).

change_mode(Name, Mode) when is_integer(Mode) -> write_file_info(Name, #file_info{mode = Mode}).

change_owner(Name, Uid) when is_integer(Uid) -> write_file_info(Name, #file_info{uid = Uid}).

change_owner(Name, Uid, Gid) when is_integer(Uid), is_integer(Gid) ->
    write_file_info(Name, #file_info{uid = Uid, gid = Gid}).

change_group(Name, Gid) when is_integer(Gid) -> write_file_info(Name, #file_info{gid = Gid}).

-define(IS_TIME(Y, Mo, D, H, Mi, S),
        is_integer(Y), is_integer(Mo), is_integer(D), is_integer(H), is_integer(Mi), is_integer(S)).

change_time(Name, {{Y, Mo, D}, {H, Mi, S}} = Mtime) when ?IS_TIME(Y, Mo, D, H, Mi, S) ->
    write_file_info(Name, #file_info{mtime = Mtime}).

change_time(Name, {{Y, Mo, D}, {H, Mi, S}} = Atime, {{Y2, Mo2, D2}, {H2, Mi2, S2}} = Mtime)
  when ?IS_TIME(Y, Mo, D, H, Mi, S), ?IS_TIME(Y2, Mo2, D2, H2, Mi2, S2) ->
    write_file_info(Name, #file_info{atime = Atime, mtime = Mtime}).

read_file(Name) -> name_call(read_file, Name).

%% The only option is raw, and no file is read any other way here.
read_file(Name, Options) when is_list(Options) -> read_file(Name).

write_file(Name, Data) ->
    case to_binary(Data) of
        {error, _} = Error -> Error;
        Bytes -> name_call(write_file, Name, Bytes)
    end.

write_file(Name, Data, Modes) when is_list(Modes) ->
    case to_binary(Data) of
        {error, _} = Error -> Error;
        Bytes ->
            case open(Name, [binary, write | Modes]) of
                {ok, File} ->
                    case {write(File, Bytes), close_surely(File)} of
                        {ok, Closed} -> Closed;
                        {Error, _} -> Error
                    end;
                Error -> Error
            end
    end.

to_binary(Data) when is_binary(Data) -> Data;
to_binary(Data) ->
    try iolist_to_binary(Data)
    catch error:Reason -> {error, Reason}
    end.

%% Open files

open(Item, Modes) when is_list(Modes) ->
    case {lists:member(raw, Modes), lists:member(ram, Modes)} of
        {true, true} -> error(badarg, [Item, Modes]);
        {false, true} -> ram_file:open(Item, Modes);
        {Raw, false} ->
            case file_name(Item) of
                {error, _} = Error -> Error;
                Name when Raw -> prim_file:open(Name, raw_modes(Modes));
                Name -> call({open, Name, Modes})
            end
    end;
open(Item, Mode) ->
    case old_modes(Mode) of
        {error, _} = Error -> Error;
        Modes -> open(Item, Modes)
    end.

%% A file opened raw answers with lists unless told otherwise, prim_file with binaries.
raw_modes(Modes) ->
    case lists:member(binary, Modes) of
        true -> Modes;
        false -> [list | Modes]
    end.

%% The way of before lists
old_modes(read) -> [read];
old_modes(write) -> [write];
old_modes(read_write) -> [read, write];
old_modes({binary, Mode}) when is_atom(Mode) -> with_binary(old_modes(Mode));
old_modes({character, Mode}) when is_atom(Mode) -> old_modes(Mode);
old_modes(_) -> {error, badarg}.

with_binary({error, _} = Error) -> Error;
with_binary(Modes) -> [binary | Modes].

%% {file_request, …} to the process of a file
request(Pid, _) when Pid =:= self() -> {error, terminated};
request(Pid, Request) ->
    Ref = monitor(process, Pid),
    Pid ! {file_request, self(), Ref, Request},
    receive
        {file_reply, Ref, Reply} ->
            demonitor(Ref, [flush]),
            Reply;
        {'DOWN', Ref, _, _, _} ->
            %% The reply comes before the end of the process it is the last of.
            receive {file_reply, Ref, Reply} -> Reply
            after 0 -> {error, terminated}
            end
    end.

close(Pid) when is_pid(Pid) ->
    case request(Pid, close) of
        {error, terminated} -> ok;
        Reply -> Reply
    end;
close(#file_descriptor{module = Module} = File) -> Module:close(File);
close(_) -> {error, badarg}.

%% A close that tells of a delayed write that failed leaves the file open.
close_surely(File) ->
    case close(File) of
        ok -> ok;
        Error ->
            _ = close(File),
            Error
    end.

read(Device, N) when is_pid(Device), is_integer(N), N >= 0; is_atom(Device), is_integer(N), N >= 0 ->
    ok_data(io:request(Device, {get_chars, latin1, '', N}));
read(#file_descriptor{module = Module} = File, N) when is_integer(N), N >= 0 -> Module:read(File, N);
read(_, _) -> {error, badarg}.

read_line(Device) when is_pid(Device); is_atom(Device) -> ok_data(io:request(Device, {get_line, latin1, ''}));
read_line(#file_descriptor{module = Module} = File) -> Module:read_line(File);
read_line(_) -> {error, badarg}.

ok_data(Data) when is_list(Data); is_binary(Data) -> {ok, Data};
ok_data(Other) -> Other.

write(Device, Data) when is_pid(Device); is_atom(Device) ->
    case to_binary(Data) of
        {error, _} = Error -> Error;
        Bytes -> io:request(Device, {put_chars, latin1, Bytes})
    end;
write(#file_descriptor{module = Module} = File, Data) -> Module:write(File, Data);
write(_, _) -> {error, badarg}.

pread(Pid, Pieces) when is_pid(Pid), is_list(Pieces) -> pread_each(Pid, Pieces, []);
pread(#file_descriptor{module = Module} = File, Pieces) when is_list(Pieces) -> Module:pread(File, Pieces);
pread(_, _) -> {error, badarg}.

pread_each(Pid, [{At, N} | Pieces], Acc) when is_integer(N), N >= 0 ->
    case pread(Pid, At, N) of
        {ok, Data} -> pread_each(Pid, Pieces, [Data | Acc]);
        eof -> pread_each(Pid, Pieces, [eof | Acc]);
        Error -> Error
    end;
pread_each(_, [], Acc) -> {ok, lists:reverse(Acc)};
pread_each(_, _, _) -> {error, badarg}.

pread(Pid, At, N) when is_pid(Pid), is_integer(N), N >= 0 -> request(Pid, {pread, At, N});
pread(#file_descriptor{module = Module} = File, At, N) when is_integer(N), N >= 0 ->
    Module:pread(File, At, N);
pread(_, _, _) -> {error, badarg}.

pwrite(Pid, Pieces) when is_pid(Pid), is_list(Pieces) -> pwrite_each(Pid, Pieces, 0);
pwrite(#file_descriptor{module = Module} = File, Pieces) when is_list(Pieces) -> Module:pwrite(File, Pieces);
pwrite(_, _) -> {error, badarg}.

pwrite_each(Pid, [{At, Data} | Pieces], Done) ->
    case pwrite(Pid, At, Data) of
        ok -> pwrite_each(Pid, Pieces, Done + 1);
        {error, Reason} -> {error, {Done, Reason}}
    end;
pwrite_each(_, [], _) -> ok;
pwrite_each(_, _, _) -> {error, badarg}.

pwrite(Pid, At, Data) when is_pid(Pid) -> request(Pid, {pwrite, At, Data});
pwrite(#file_descriptor{module = Module} = File, At, Data) -> Module:pwrite(File, At, Data);
pwrite(_, _, _) -> {error, badarg}.

position(Pid, At) when is_pid(Pid) -> request(Pid, {position, At});
position(#file_descriptor{module = Module} = File, At) -> Module:position(File, At);
position(_, _) -> {error, badarg}.

truncate(Pid) when is_pid(Pid) -> request(Pid, truncate);
truncate(#file_descriptor{module = Module} = File) -> Module:truncate(File);
truncate(_) -> {error, badarg}.

sync(Pid) when is_pid(Pid) -> request(Pid, sync);
sync(#file_descriptor{module = Module} = File) -> Module:sync(File);
sync(_) -> {error, badarg}.

datasync(Pid) when is_pid(Pid) -> request(Pid, datasync);
datasync(#file_descriptor{module = Module} = File) -> Module:datasync(File);
datasync(_) -> {error, badarg}.

advise(Pid, Offset, Length, Advice) when is_pid(Pid) -> request(Pid, {advise, Offset, Length, Advice});
advise(#file_descriptor{module = Module} = File, Offset, Length, Advice) ->
    Module:advise(File, Offset, Length, Advice);
advise(_, _, _, _) -> {error, badarg}.

allocate(Pid, Offset, Length) when is_pid(Pid) -> request(Pid, {allocate, Offset, Length});
allocate(#file_descriptor{module = Module} = File, Offset, Length) -> Module:allocate(File, Offset, Length).

%% Copying. Each side is a name, {Name, Modes}, or an open file, which stays open. Two
%% names are copied by the file server.

copy(Source, Dest) -> copy(Source, Dest, infinity).

copy(Source, Dest, Length) when is_integer(Length), Length >= 0; is_atom(Length) ->
    copy_sides(side(Source), side(Dest), Length);
copy(_, _, _) -> {error, badarg}.

side(Pid) when is_pid(Pid) -> {opened, Pid};
side(#file_descriptor{} = File) -> {opened, File};
side({Name, Modes}) when is_list(Modes) -> {name, file_name(Name), Modes};
side(Name) -> {name, file_name(Name), []}.

copy_sides({name, {error, _} = Error, _}, _, _) -> Error;
copy_sides(_, {name, {error, _} = Error, _}, _) -> Error;
copy_sides({opened, Source}, {opened, Dest}, Length) -> copy_opened(Source, Dest, Length);
copy_sides({name, Source, Modes}, {name, Dest, DestModes}, Length) ->
    call({copy, Source, Modes, Dest, DestModes, Length});
copy_sides({name, Source, Modes}, {opened, Dest}, Length) ->
    case open(Source, [read | Modes]) of
        {ok, File} ->
            Result = copy_opened(File, Dest, Length),
            _ = close(File),
            Result;
        Error -> Error
    end;
copy_sides({opened, Source}, {name, Dest, Modes}, Length) ->
    case open(Dest, [write | Modes]) of
        {ok, File} ->
            Result = copy_opened(Source, File, Length),
            case {Result, close_surely(File)} of
                {{ok, _}, {error, _} = Error} -> Error;
                _ -> Result
            end;
        Error -> Error
    end.

copy_opened(Source, Dest, Length)
  when is_pid(Source) orelse is_record(Source, file_descriptor), is_pid(Dest) orelse is_record(Dest,
      file_descriptor),
       is_atom(Length) orelse (is_integer(Length) andalso Length >= 0) -> copy_data(Source, Dest, Length, 0);
copy_opened(_, _, _) -> {error, badarg}.

%% Left is a number or an atom, which is greater than any.
copy_data(_, _, 0, Copied) -> {ok, Copied};
copy_data(Source, Dest, Left, Copied) ->
    N = min(Left, ?COPY_BYTES),
    case read(Source, N) of
        {ok, Data} ->
            Size = iolist_size(Data),
            case write(Dest, Data) of
                ok when Size < N -> {ok, Copied + Size};
                ok when is_atom(Left) -> copy_data(Source, Dest, Left, Copied + Size);
                ok -> copy_data(Source, Dest, Left - Size, Copied + Size);
                Error -> Error
            end;
        eof -> {ok, Copied};
        Error -> Error
    end.

%% Sending: to a socket, or to a function that takes data and answers ok or {error, _}.

sendfile(Name, To) ->
    case open(Name, [read, raw, binary]) of
        {ok, File} ->
            Result = sendfile(File, To, 0, 0, []),
            _ = close(File),
            Result;
        Error -> Error
    end.

sendfile(#file_descriptor{module = Module} = File, To, Offset, Bytes, Options)
  when is_integer(Offset), is_integer(Bytes) ->
    case chunk_size(Options) of
        error -> {error, badarg};
        _ when Bytes < 0 -> {error, einval};
        Chunk when is_function(To, 1) -> send_read(File, To, Offset, Bytes, Chunk);
        Chunk ->
            case is_port(To) andalso Module:sendfile(File, To, Offset, Bytes, Chunk, [], [], Options) of
                Answer when Answer =/= false, Answer =/= {error, enotsup} -> Answer;
                _ -> send_read(File, fun(Data) -> gen_tcp:send(To, Data) end, Offset, Bytes, Chunk)
            end
    end;
sendfile(_, _, _, _, _) -> {error, badarg}.

send_read(File, To, Offset, Bytes, Chunk) ->
    {ok, Before} = position(File, cur),
    case position(File, {bof, Offset}) of
        {ok, _} ->
            Result = send_data(File, To, Bytes, Chunk, 0),
            _ = position(File, {bof, Before}),
            Result;
        Error -> Error
    end.

chunk_size(Options) ->
    try proplists:get_value(chunk_size, Options, ?SEND_BYTES) of
        0 -> ?SEND_BYTES;
        Size when is_integer(Size), Size > 0 -> min(Size, ?SEND_BYTES);
        _ -> error
    catch error:_ -> error
    end.

%% Bytes 0: to the end
send_data(_, _, Bytes, _, Bytes) when Bytes > 0 -> {ok, Bytes};
send_data(File, To, Bytes, Chunk, Sent) ->
    N = case Bytes of
            0 -> Chunk;
            _ -> min(Chunk, Bytes - Sent)
        end,
    case read(File, N) of
        {ok, Data} ->
            case To(Data) of
                ok -> send_data(File, To, Bytes, Chunk, Sent + iolist_size(Data));
                Other -> Other
            end;
        eof -> {ok, Sent};
        Error -> Error
    end.

%% What dets keeps: size and place of a block in eight bytes

ipread_s32bu_p32bu(Pid, Offset, MaxSize) when is_pid(Pid) -> ipread_s32bu_p32bu_int(Pid, Offset, MaxSize);
ipread_s32bu_p32bu(#file_descriptor{module = Module} = File, Offset, MaxSize) ->
    Module:ipread_s32bu_p32bu(File, Offset, MaxSize);
ipread_s32bu_p32bu(_, _, _) -> {error, badarg}.

ipread_s32bu_p32bu_int(File, Offset, MaxSize) when is_atom(MaxSize) ->
    ipread_s32bu_p32bu_int(File, Offset, (1 bsl 31) - 1);
ipread_s32bu_p32bu_int(_, _, MaxSize) when is_integer(MaxSize), MaxSize >= 1 bsl 31 -> {error, einval};
ipread_s32bu_p32bu_int(File, Offset, MaxSize) when is_integer(MaxSize), MaxSize >= 0 ->
    case pread(File, Offset, 8) of
        {ok, Header} ->
            case iolist_to_binary(Header) of
                <<0:32, Pos:32>> -> {ok, {0, Pos, eof}};
                <<Size:32, Pos:32>> when Size =< MaxSize ->
                    case pread(File, Pos, Size) of
                        {ok, Data} -> {ok, {Size, Pos, Data}};
                        eof -> {ok, {Size, Pos, eof}};
                        Error -> Error
                    end;
                _ -> eof
            end;
        Other -> Other
    end;
ipread_s32bu_p32bu_int(_, _, _) -> {error, badarg}.

%% Files of terms and of expressions

consult(Name) ->
    case open(Name, [read]) of
        {ok, File} ->
            Result = consult_open(File),
            _ = close(File),
            Result;
        Error -> Error
    end.

path_consult(Path, Name) ->
    case path_open(Path, Name, [read]) of
        {ok, File, Full} ->
            Result = consult_open(File),
            _ = close(File),
            case Result of
                {ok, Terms} -> {ok, Terms, Full};
                Error -> Error
            end;
        Error -> Error
    end.

consult_open(File) ->
    _ = epp:set_encoding(File),
    consult_terms(File, 1, []).

consult_terms(File, Line, Acc) ->
    case io:read(File, '', Line) of
        {ok, Term, Next} -> consult_terms(File, Next, [Term | Acc]);
        {error, Error, _} -> {error, Error};
        {error, Error} -> {error, Error};
        {eof, _} -> {ok, lists:reverse(Acc)}
    end.

eval(Name) -> eval(Name, []).

eval(Name, Bindings) -> evaluate_named(Name, Bindings, fun eval_result/1).

script(Name) -> script(Name, []).

script(Name, Bindings) -> evaluate_named(Name, Bindings, fun script_result/1).

path_eval(Path, Name) -> path_eval(Path, Name, []).

path_eval(Path, Name, Bindings) ->
    case path_evaluate(Path, Name, Bindings, fun eval_result/1) of
        {ok, Full} -> {ok, Full};
        {ok, Full, ok} -> {ok, Full};
        Error -> Error
    end.

path_script(Path, Name) -> path_script(Path, Name, []).

path_script(Path, Name, Bindings) ->
    case path_evaluate(Path, Name, Bindings, fun script_result/1) of
        {ok, Full, {ok, Value}} -> {ok, Value, Full};
        Error -> Error
    end.

evaluate_named(Name, Bindings, Result) ->
    case open(Name, [read]) of
        {ok, File} ->
            Outcome = evaluate(File, Bindings),
            _ = close(File),
            Result(Outcome);
        Error -> Error
    end.

path_evaluate(Path, Name, Bindings, Result) ->
    case path_open(Path, Name, [read]) of
        {ok, File, Full} ->
            Outcome = evaluate(File, Bindings),
            _ = close(File),
            case Result(Outcome) of
                {error, _} = Error -> Error;
                Value -> {ok, Full, Value}
            end;
        Error -> Error
    end.

eval_result({_, []}) -> ok;
eval_result({_, Errors}) -> {error, lists:last(Errors)}.

script_result({{value, Value, _}, []}) -> {ok, Value};
script_result({{none, Line}, []}) -> {error, {Line, ?MODULE, undefined_script}};
script_result({_, Errors}) -> {error, lists:last(Errors)}.

%% {What the last expressions gave, Errors, last first}. Evaluation goes on after an error.
evaluate(File, Bindings) ->
    _ = epp:set_encoding(File),
    evaluate(File, 1, none, file_eval:bindings(Bindings), []).

evaluate(File, Line, Last, Bindings, Errors) ->
    case io:scan_erl_exprs(File, '', Line) of
        {ok, Tokens, Next} ->
            try file_eval:evaluate(Tokens, Bindings) of
                {value, Value, Bindings1} -> evaluate(File, Next, {value, Value, Next}, Bindings1, Errors);
                {error, Error} -> evaluate(File, Next, Last, Bindings, [Error | Errors])
            catch
                Class:Reason:Stack ->
                    evaluate(File, Next, Last, Bindings, [{Next, ?MODULE, {Class, Reason, Stack}} | Errors])
            end;
        {error, Error, Next} -> evaluate(File, Next, Last, Bindings, [Error | Errors]);
        {error, Error} -> {Last, [Error | Errors]};
        {eof, Next} when Last =:= none -> {{none, Next}, Errors};
        {eof, _} -> {Last, Errors}
    end.

%% {ok, File, its full name}: the first of the path's directories that has it
path_open(Path, Name, Modes) ->
    case file_name(Name) of
        {error, _} = Error -> Error;
        File ->
            case filename:pathtype(File) of
                relative -> open_first(Path, File, Modes);
                _ ->
                    case open(Name, Modes) of
                        {ok, Device} -> {ok, Device, Name};
                        Error -> Error
                    end
            end
    end.

open_first([Dir | Path], Name, Modes) ->
    case file_name(Dir) of
        {error, _} = Error -> Error;
        Where ->
            Full = case Where of
                       "." -> Name;
                       _ -> filename:join(Where, Name)
                   end,
            case open(Full, Modes) of
                {ok, File} -> {ok, File, Full};
                {error, Reason} when Reason =:= enoent; Reason =:= enotdir -> open_first(Path, Name, Modes);
                Error -> Error
            end
    end;
open_first([], _, _) -> {error, enoent}.
