%% SPDX-License-Identifier: Apache-2.0
%% Files by way of the driver `efile`. An open file is a port of that driver, owned by
%% the process that opened it: it is closed when that process ends. Operations on
%% names run on any port of the driver, the file server's or one opened for the call.
%%
%% A command is a byte and its arguments, followed by the caller's user tag (in the
%% commands that carry data the tag comes first); the answer is one message
%% {Port, {data, [Code | Bytes]}}. docs/internals/files.md has both tables.
-module(prim_file).

-export([open/2, close/1, read/2, read_line/1, pread/2, pread/3, write/2, pwrite/2, pwrite/3, position/2,
         truncate/1, sync/1, datasync/1, advise/4, allocate/3, copy/3, sendfile/4, sendfile/8,
         ipread_s32bu_p32bu/3, read_handle_info/1, read_handle_info/2, get_handle/1,
         internal_get_nif_resource/1]).
-export([start/0, stop/1, operate/2]).
-export([read_file/1, write_file/2, write_file/3, get_cwd/0, get_cwd/1, set_cwd/1, delete/1, rename/2,
         make_dir/1, del_dir/1, list_dir/1, list_dir_all/1, read_file_info/1, read_file_info/2,
         read_link_info/1, read_link_info/2, write_file_info/2, write_file_info/3, read_link/1,
         read_link_all/1, make_link/2, make_symlink/2, altname/1]).
-export([internal_name2native/1, internal_native2name/1, internal_normalize_utf8/1, is_translatable/1]).
-export([file_desc_to_ref/2, on_load/0]).

-include_lib("kernel/include/file.hrl").

%% Commands, codes of replies and flags of OPEN: drivers/efile/*.tab.
-include("efile_commands.hrl").

-define(DEFAULT_BUFFER, 65536).
-define(DEFAULT_DELAY_MS, 2000).
-define(LOOK_MS, 2000). % how often a port that does not answer is looked at
-define(LEAVE_ALONE, 16#FFFFFFFF).
-define(IS_INT64(N), is_integer(N), N >= -(1 bsl 63), N < 1 bsl 63).

%% What is in a file_descriptor
-record(raw, {port :: port(),
              owner :: pid(),
              as :: list | binary, % what reading answers
              fd :: integer() | compressed}).

%% What OTP's first process calls. The driver is part of the machine.
on_load() -> ok.

%% Talking to the driver

%% The answer's way is not the caller's: while a port works for it, the user tag does not spread. Most
%% processes have none.
command(Port, Command) ->
    case erlang:dt_get_tag_data() of
        undefined -> send(Port, [Command, 0]);
        _ ->
            Saved = erlang:dt_spread_tag(false),
            Answer = send(Port, erlang:dt_append_vm_tag_data(Command)),
            _ = erlang:dt_restore_tag(Saved),
            Answer
    end.

data_command(Port, Code, Data) ->
    case erlang:dt_get_tag_data() of
        undefined -> send(Port, [Code, 0 | Data]);
        _ ->
            Saved = erlang:dt_spread_tag(false),
            Answer = send(Port, [Code | erlang:dt_prepend_vm_tag_data(Data)]),
            _ = erlang:dt_restore_tag(Saved),
            Answer
    end.

send(Port, Command) ->
    try port_command(Port, Command) of
        true -> await(Port)
    catch
        error:_ ->
            case erlang:port_info(Port, connected) of
                undefined -> {error, einval}; % closed
                _ -> {error, badarg}
            end
    end.

%% Of a port that somebody else closes nothing is heard, unless exits are trapped.
await(Port) ->
    receive
        {Port, {data, [Code | Bytes]}} -> answer(Code, Bytes);
        {'EXIT', Port, _} -> {error, einval}
    after ?LOOK_MS ->
        case erlang:port_info(Port, connected) of
            undefined -> last_answer(Port);
            _ -> await(Port)
        end
    end.

last_answer(Port) ->
    receive {Port, {data, [Code | Bytes]}} -> answer(Code, Bytes)
    after 0 -> {error, einval}
    end.

answer(?REPLY_DATA, []) -> {ok, <<>>};
answer(?REPLY_DATA, Data) -> {ok, Data};
answer(?REPLY_NUMBER, <<N:64/signed>>) -> {ok, N};
answer(?REPLY_OK, _) -> ok;
answer(?REPLY_END_OF_FILE, _) -> eof;
answer(?REPLY_ERROR, Name) -> {error, binary_to_atom(Name, latin1)};
answer(?REPLY_ALL_DATA, []) -> {ok, <<>>};
answer(?REPLY_ALL_DATA, Data) -> {ok, Data};
answer(?REPLY_PIECES, Bytes) -> {ok, Bytes};
answer(?REPLY_NAME, Name) -> {ok, name_bytes(Name)};
answer(?REPLY_NAMES, Names) -> {ok, [Name || <<Length:16, Name:Length/binary>> <= name_bytes(Names)]};
answer(?REPLY_NUMBER_AND_ERROR, <<N:32, Name/binary>>) -> {error, {N, binary_to_atom(Name, latin1)}};
answer(?REPLY_INFO, <<Size:64, Type:32, Mode:32, Links:32, Major:32, Minor:32, Inode:64, Uid:32, Gid:32,
    Access:32,
                Atime:64/signed, Mtime:64/signed, Ctime:64/signed>>) ->
    {ok, #file_info{size = Size, type = element(Type, {device, directory, regular, symlink, other}),
                    access = element(Access + 1, {none, write, read, read_write}),
                    atime = Atime, mtime = Mtime, ctime = Ctime, mode = Mode, links = Links,
                    major_device = Major, minor_device = Minor, inode = Inode, uid = Uid, gid = Gid}}.

name_bytes([]) -> <<>>;
name_bytes(Name) -> Name.

open_driver() ->
    try {ok, open_port({spawn_driver, "efile"}, [binary])}
    catch error:Reason -> {error, Reason}
    end.

%% A port's 'EXIT' takes the token of sequential tracing away from an owner that traps exits, and files
%% are no senders. Without a token the port stays linked until it is closed, for its owner may be killed.
close_driver(Port) ->
    _ = erlang:seq_trace_info(label) =:= [] orelse unlink(Port),
    try port_close(Port)
    catch error:_ -> ok
    end,
    receive {'EXIT', Port, _} -> ok
    after 0 -> ok
    end.

%% Open files

open(Name, Modes) -> open_as(0, Name, Modes).

%% What is open already, by its number: it gets a descriptor of its own.
file_desc_to_ref(Descriptor, Modes) when is_integer(Descriptor) ->
    open_as(?MODE_DESCRIPTOR, integer_to_list(Descriptor), Modes);
file_desc_to_ref(_, _) -> {error, badarg}.

open_as(Mode, Name, Modes) ->
    try {native(Name), parse_modes(Modes)} of
        {_, {error, _} = Error} -> Error;
        {Native, {Flags, As, Options}} ->
            case open_driver() of
                {ok, Port} -> open(Port, Native, Flags bor Mode, As, Options);
                Error -> Error
            end
    catch error:_ -> {error, badarg}
    end.

open(Port, Native, Flags, As, Options) ->
    case command(Port, [<<?OPEN, Flags:32>>, Native, 0]) of
        {ok, Fd} ->
            [ok = command(Port, Option) || Option <- Options],
            Raw = #raw{port = Port, owner = self(), as = As, fd = plain_fd(Flags, Fd)},
            {ok, #file_descriptor{module = ?MODULE, data = Raw}};
        Error ->
            close_driver(Port),
            Error
    end.

%% Modes of other layers are no concern of this one.
parse_modes(Modes) ->
    case parse_modes(Modes, 0, binary, []) of
        {Flags, As, Options} when Flags band 3 =:= 0 -> checked_modes(Flags bor ?MODE_READ, As, Options);
        {Flags, As, Options} -> checked_modes(Flags, As, Options);
        Error -> Error
    end.

parse_modes([Mode | Modes], Flags, As, Options) ->
    case Mode of
        read -> parse_modes(Modes, Flags bor ?MODE_READ, As, Options);
        write -> parse_modes(Modes, Flags bor ?MODE_WRITE, As, Options);
        append -> parse_modes(Modes, Flags bor ?MODE_WRITE bor ?MODE_APPEND, As, Options);
        exclusive -> parse_modes(Modes, Flags bor ?MODE_WRITE bor ?MODE_EXCLUSIVE, As, Options);
        compressed -> parse_modes(Modes, Flags bor ?MODE_COMPRESSED, As, Options);
        compressed_one -> parse_modes(Modes, Flags bor ?MODE_COMPRESSED, As, Options);
        directory -> parse_modes(Modes, Flags bor ?MODE_DIRECTORY, As, Options);
        sync -> parse_modes(Modes, Flags bor ?MODE_SYNC, As, Options);
        list -> parse_modes(Modes, Flags, list, Options);
        delayed_write -> parse_modes([{delayed_write, ?DEFAULT_BUFFER, ?DEFAULT_DELAY_MS} | Modes], Flags, As,
            Options);
        {delayed_write, Size, Delay} when is_integer(Size), Size >= 0, is_integer(Delay), Delay >= 0 ->
            parse_modes(Modes, Flags, As, [<<?SETOPT, 0, Size:64, Delay:64>> | Options]);
        {delayed_write, _, _} -> {error, badarg};
        read_ahead -> parse_modes([{read_ahead, ?DEFAULT_BUFFER} | Modes], Flags, As, Options);
        {read_ahead, Size} when is_integer(Size), Size >= 0 ->
            parse_modes(Modes, Flags, As, [<<?SETOPT, 1, Size:64>> | Options]);
        {read_ahead, _} -> {error, badarg};
        _ -> parse_modes(Modes, Flags, As, Options)
    end;
parse_modes([], Flags, As, Options) -> {Flags, As, Options}.

checked_modes(Flags, _, _)
  when Flags band ?MODE_COMPRESSED =/= 0, Flags band 3 =:= 3;
       Flags band ?MODE_COMPRESSED =/= 0, Flags band ?MODE_APPEND =/= 0 -> {error, einval};
checked_modes(Flags, As, Options) -> {Flags, As, Options}.

%% The bytes behind the descriptor of a compressed file are not what it contains.
plain_fd(Flags, _) when Flags band ?MODE_COMPRESSED =/= 0 -> compressed;
plain_fd(_, Fd) -> Fd.

%% Only the process that opened a file may use it.
port(#file_descriptor{data = #raw{port = Port, owner = Owner}}) when Owner =:= self() -> Port;
port(#file_descriptor{}) -> error(not_on_controlling_process).

close(File) ->
    Port = port(File),
    case command(Port, <<?CLOSE>>) of
        % of a delayed write; it is still open
        {error, Reason} = Error when Reason =/= ebadf, Reason =/= einval -> Error;
        Answer ->
            close_driver(Port),
            Answer
    end.

read(File, Size) when is_integer(Size), Size >= 0 ->
    Port = port(File),
    if
        Size < 1 bsl 63 -> read_as(command(Port, <<?READ, Size:64>>), File);
        true -> {error, einval}
    end;
read(_, _) -> {error, badarg}.

read_line(File) -> read_as(command(port(File), <<?READ_LINE>>), File).

read_as({ok, Data}, #file_descriptor{data = #raw{as = list}}) -> {ok, binary_to_list(Data)};
read_as(Answer, _) -> Answer.

pread(File, At, Size) ->
    case pread(File, [{At, Size}]) of
        {ok, [eof]} -> eof;
        {ok, [Data]} -> {ok, Data};
        Error -> Error
    end.

pread(File, Pieces) ->
    Port = port(File),
    case pieces_text(Pieces, <<>>, 0) of
        Error when is_atom(Error) -> {error, Error};
        {_, 0} -> {ok, []};
        {Text, N} ->
            case data_command(Port, ?PREADV, <<0:32, N:32, Text/binary>>) of
                {ok, <<N:32, Sizes:(8 * N)/binary, Data/binary>>} ->
                    {ok, split_pieces(Sizes, Data, File#file_descriptor.data#raw.as)};
                Error -> Error
            end
    end.

pieces_text([{At, Size} | Pieces], Text, N) when ?IS_INT64(At), is_integer(Size), Size >= 0,
    Size < 1 bsl 63 ->
    pieces_text(Pieces, <<Text/binary, At:64, Size:64>>, N + 1);
pieces_text([{At, Size} | _], _, _) when is_integer(At), is_integer(Size) -> einval;
pieces_text([{_, _} | _], _, _) -> badarg;
pieces_text([], Text, N) -> {Text, N}.

%% Nothing is what there is after the end.
split_pieces(<<Size:64, Sizes/binary>>, Data, As) when Size =:= 0; Size =:= 16#FFFFFFFFFFFFFFFF ->
    [eof | split_pieces(Sizes, Data, As)];
split_pieces(<<Size:64, Sizes/binary>>, Data, As) ->
    <<Piece:Size/binary, Rest/binary>> = Data,
    [case As of list -> binary_to_list(Piece); binary -> Piece end | split_pieces(Sizes, Rest, As)];
split_pieces(<<>>, _, _) -> [].

write(File, Data) ->
    case data_command(port(File), ?WRITE, Data) of
        {ok, _} -> ok;
        Error -> Error
    end.

pwrite(File, At, Data) ->
    case pwrite(File, [{At, Data}]) of
        {error, {_, Reason}} -> {error, Reason};
        Answer -> Answer
    end.

pwrite(File, Pieces) ->
    Port = port(File),
    try write_pieces(Pieces, <<>>, [], 0) of
        {_, _, 0} -> ok;
        {Places, Data, N} ->
            case data_command(Port, ?PWRITEV, [<<N:32>>, Places | Data]) of
                {ok, N} -> ok;
                {ok, Fewer} -> {error, {Fewer, eio}};
                {error, Reason} when Reason =/= badarg, not is_tuple(Reason) -> {error, {0, Reason}};
                Error -> Error
            end
    catch
        throw:einval -> {error, {0, einval}};
        error:badarg -> {error, badarg}
    end.

write_pieces([{At, Data} | Pieces], Places, Acc, N) when ?IS_INT64(At) ->
    write_pieces(Pieces, <<Places/binary, At:64, (iolist_size(Data)):64>>, [Data | Acc], N + 1);
write_pieces([{At, _} | _], _, _, _) when is_integer(At) -> throw(einval);
write_pieces([{_, _} | _], _, _, _) -> error(badarg);
write_pieces([], Places, Acc, N) -> {Places, lists:reverse(Acc), N}.

position(File, {Origin, Offset}) when ?IS_INT64(Offset) ->
    Port = port(File),
    case Origin of
        bof -> command(Port, <<?LSEEK, Offset:64, 0:32>>);
        cur -> command(Port, <<?LSEEK, Offset:64, 1:32>>);
        eof -> command(Port, <<?LSEEK, Offset:64, 2:32>>);
        _ -> {error, badarg}
    end;
position(_, {_, _}) -> {error, badarg};
position(File, Origin) when is_atom(Origin) -> position(File, {Origin, 0});
position(File, Offset) -> position(File, {bof, Offset}).

truncate(File) -> command(port(File), <<?TRUNCATE>>).

sync(File) -> command(port(File), <<?FSYNC>>).

datasync(File) -> command(port(File), <<?FDATASYNC>>).

advise(File, Offset, Length, Advice) when ?IS_INT64(Offset), ?IS_INT64(Length), is_atom(Advice) ->
    Port = port(File),
    case advice(Advice) of
        unknown -> {error, einval};
        N -> command(Port, <<?FADVISE, Offset:64, Length:64, N:32>>)
    end;
advise(_, _, _, _) -> {error, badarg}.

advice(normal) -> 0;
advice(random) -> 1;
advice(sequential) -> 2;
advice(will_need) -> 3;
advice(dont_need) -> 4;
advice(no_reuse) -> 5;
advice(_) -> unknown.

allocate(File, Offset, Length) when ?IS_INT64(Offset), ?IS_INT64(Length) ->
    command(port(File), <<?FALLOCATE, Offset:64, Length:64>>);
allocate(_, _, _) -> {error, badarg}.

copy(Source, Dest, Length) -> file:copy_opened(Source, Dest, Length).

%% To a descriptor of the operating system; Bytes 0: all there is.
sendfile(File, OutFd, Offset, Bytes)
  when is_integer(OutFd), OutFd >= 0, OutFd < 1 bsl 31, ?IS_INT64(Offset), Offset >= 0, ?IS_INT64(Bytes),
      Bytes >= 0 ->
    command(port(File), <<?SENDFILE, OutFd:32, Offset:64, Bytes:64>>);
sendfile(_, _, _, _) -> {error, badarg}.

%% To a socket, whose driver does it.
sendfile(#file_descriptor{data = #raw{fd = Fd}} = File, Socket, Offset, Bytes, _, [], [], _)
  when Fd =/= compressed, is_port(Socket) ->
    _ = port(File),
    prim_inet:sendfile(Socket, get_handle(File), Offset, Bytes);
sendfile(_, _, _, _, _, _, _, _) -> {error, enotsup}.

%% A block whose size and place stand in eight bytes at Offset
ipread_s32bu_p32bu(File, Offset, Infinity) when is_atom(Infinity) ->
    ipread_s32bu_p32bu(File, Offset, (1 bsl 31) - 1);
ipread_s32bu_p32bu(File, Offset, MaxSize) when ?IS_INT64(Offset), is_integer(MaxSize), MaxSize < 1 bsl 31 ->
    Port = port(File),
    case command(Port, <<?IPREAD, 0, Offset:64, (max(MaxSize, 0)):32>>) of
        {ok, <<0:32, Pos:32, _/binary>>} -> {ok, {0, Pos, eof}};
        {ok, <<Size:32, _/binary>>} when Size > MaxSize -> eof;
        {ok, <<Size:32, Pos:32>>} -> {ok, {Size, Pos, eof}};
        {ok, <<Size:32, Pos:32, Data/binary>>} ->
            {ok, Read} = read_as({ok, Data}, File),
            {ok, {Size, Pos, Read}};
        Answer -> Answer
    end;
ipread_s32bu_p32bu(_, Offset, MaxSize) when ?IS_INT64(Offset), is_integer(MaxSize) -> {error, einval};
ipread_s32bu_p32bu(_, _, _) -> {error, badarg}.

read_handle_info(File) -> read_handle_info(File, []).

%% No name: the open file itself
read_handle_info(File, Options) -> info_times(command(port(File), [?FSTAT, 0]), Options).

get_handle(#file_descriptor{data = #raw{fd = Fd}}) -> <<Fd:32/native>>.

%% What prim_socket:sendfile/5 takes for a file: its descriptor, -1 when it is closed.
internal_get_nif_resource(#file_descriptor{data = #raw{owner = Owner}}) when Owner =/= self() ->
    error(not_on_controlling_process);
internal_get_nif_resource(#file_descriptor{data = #raw{port = Port, fd = Fd}}) ->
    case erlang:port_info(Port, connected) of
        undefined -> -1;
        _ -> Fd
    end.

%% Operations on names. operate(Port, Request) is what the file server calls; with `none`
%% the port is opened for the one operation.

start() -> open_driver().

stop(Port) -> close_driver(Port).

operate(Port, {read_file_info, Name}) -> operate(Port, {read_file_info, Name, []});
operate(Port, {read_link_info, Name}) -> operate(Port, {read_link_info, Name, []});
operate(Port, {write_file_info, Name, Info}) -> operate(Port, {write_file_info, Name, Info, []});
operate(Port, {delete, Name, _Options}) -> operate(Port, {delete, Name});
operate(_, {get_cwd, Drive}) -> drive_cwd(Drive);
operate(Port, Request) ->
    try text(Request) of
        {error, _} = Error -> Error;
        Text -> result(Request, run(Port, Text))
    catch error:_ -> {error, badarg}
    end.

text({delete, Name}) -> [?DELETE, native(Name), 0];
text({rename, From, To}) -> [?RENAME, native(From), 0, native(To), 0];
text({make_dir, Name}) -> [?MKDIR, native(Name), 0];
text({del_dir, Name}) -> [?RMDIR, native(Name), 0];
text({list_dir, Name}) -> [?READDIR, native(Name), 0];
text({list_dir_all, Name}) -> [?READDIR, native(Name), 0];
text({get_cwd}) -> [?PWD, 0];
text({set_cwd, Name}) ->
    Text = [?CHDIR, native(Name), 0],
    case is_translatable(Name) of
        true -> Text;
        false -> {error, no_translation}
    end;
text({read_file_info, Name, Options}) when is_list(Options) -> [?FSTAT, native(Name), 0];
text({read_link_info, Name, Options}) when is_list(Options) -> [?LSTAT, native(Name), 0];
text({write_file_info, Name, #file_info{mode = Mode, uid = Uid, gid = Gid} = Info, Options}) ->
    {Atime, Mtime, Ctime} = seconds_to_set(Info, time_kind(Options)),
    [<<?WRITE_INFO, (number_or_all_ones(Mode)):32, (number_or_all_ones(Uid)):32, (number_or_all_ones(Gid)):32,
       Atime:64, Mtime:64, Ctime:64>>, native(Name), 0];
text({read_link, Name}) -> [?READLINK, native(Name), 0];
text({read_link_all, Name}) -> [?READLINK, native(Name), 0];
text({make_link, Existing, New}) -> [?LINK, native(Existing), 0, native(New), 0];
text({make_symlink, Existing, New}) -> [?SYMLINK, native(Existing), 0, native(New), 0];
text({altname, Name}) -> [?ALTNAME, native(Name), 0];
text({read_file, Name}) -> [?READ_FILE, native(Name), 0].

number_or_all_ones(undefined) -> ?LEAVE_ALONE;
number_or_all_ones(N) when is_integer(N), N >= -1, N =< 16#FFFFFFFF -> N.

result({list_dir, _}, {ok, Names}) -> readable_names(Names, []);
result({list_dir_all, _}, {ok, Names}) -> {ok, [name_or_raw(Name) || Name <- Names]};
result({get_cwd}, {ok, Name}) -> {ok, name_or_raw(Name)};
result({altname, _}, {ok, Name}) -> {ok, name_or_raw(Name)};
result({read_link_all, _}, {ok, Name}) -> {ok, name_or_raw(Name)};
result({read_link, _}, {ok, Raw}) ->
    case internal_native2name(Raw) of
        {error, _} -> {error, einval};
        Name -> {ok, Name}
    end;
result({read_file_info, _, Options}, Answer) -> info_times(Answer, Options);
result({read_link_info, _, Options}, Answer) -> info_times(Answer, Options);
result(_, Answer) -> Answer.

run(none, Text) ->
    case open_driver() of
        {ok, Port} ->
            Answer = command(Port, Text),
            close_driver(Port),
            Answer;
        Error -> Error
    end;
run(Port, Text) -> command(Port, Text).

drive_cwd([Letter, $:]) when Letter >= $A, Letter =< $Z; Letter >= $a, Letter =< $z -> {error, enotsup};
drive_cwd([_ | _]) -> {error, einval};
drive_cwd(_) -> {error, badarg}.

read_file(Name) -> operate(none, {read_file, Name}).
get_cwd() -> operate(none, {get_cwd}).
get_cwd(Drive) -> operate(none, {get_cwd, Drive}).
set_cwd(Name) -> operate(none, {set_cwd, Name}).
delete(Name) -> operate(none, {delete, Name}).
rename(From, To) -> operate(none, {rename, From, To}).
make_dir(Name) -> operate(none, {make_dir, Name}).
del_dir(Name) -> operate(none, {del_dir, Name}).
list_dir(Name) -> operate(none, {list_dir, Name}).
list_dir_all(Name) -> operate(none, {list_dir_all, Name}).
read_file_info(Name) -> operate(none, {read_file_info, Name}).
read_file_info(Name, Options) -> operate(none, {read_file_info, Name, Options}).
read_link_info(Name) -> operate(none, {read_link_info, Name}).
read_link_info(Name, Options) -> operate(none, {read_link_info, Name, Options}).
write_file_info(Name, Info) -> operate(none, {write_file_info, Name, Info}).
write_file_info(Name, Info, Options) -> operate(none, {write_file_info, Name, Info, Options}).
read_link(Name) -> operate(none, {read_link, Name}).
read_link_all(Name) -> operate(none, {read_link_all, Name}).
make_link(Existing, New) -> operate(none, {make_link, Existing, New}).
make_symlink(Existing, New) -> operate(none, {make_symlink, Existing, New}).
altname(Name) -> operate(none, {altname, Name}).

write_file(Name, Data) -> write_file(Name, Data, []).

write_file(Name, Data, Modes) ->
    case open(Name, [write, binary | Modes]) of
        {ok, File} ->
            Written = write(File, Data),
            Closed = close(File),
            close_driver(port(File)),
            case Written of
                ok -> Closed;
                _ -> Written
            end;
        Error -> Error
    end.

%% Times are seconds since 1970 here, and local or universal date and time outside.

%% (Before stdlib is loaded this is called, too: what is used here is built in.)
time_kind([{time, Kind} | _]) -> Kind;
time_kind([_ | Options]) -> time_kind(Options);
time_kind([]) -> local.

info_times({ok, #file_info{atime = Atime, mtime = Mtime, ctime = Ctime} = Info}, Options) ->
    try
        Kind = time_kind(Options),
        {ok, Info#file_info{atime = from_posix(Atime, Kind), mtime = from_posix(Mtime, Kind),
                            ctime = from_posix(Ctime, Kind)}}
    catch error:_ -> {error, badarg}
    end;
info_times(Answer, _) -> Answer.

from_posix(Seconds, posix) -> Seconds;
from_posix(Seconds, universal) -> erlang:posixtime_to_universaltime(Seconds);
from_posix(Seconds, local) -> erlang:universaltime_to_localtime(erlang:posixtime_to_universaltime(Seconds)).

to_posix(Seconds, posix) when is_integer(Seconds) -> Seconds;
to_posix({_, _} = Time, universal) -> erlang:universaltime_to_posixtime(Time);
to_posix({_, _} = Time, local) -> erlang:universaltime_to_posixtime(erlang:localtime_to_universaltime(Time)).

%% What is not given is now, for the time of access, and that for the others.
seconds_to_set(#file_info{atime = A, mtime = M, ctime = C}, Kind) ->
    Atime = case A of
                undefined when Kind =:= local; Kind =:= universal; Kind =:= posix -> os:system_time(second);
                _ -> to_posix(A, Kind)
            end,
    Mtime = case M of
                undefined -> Atime;
                _ -> to_posix(M, Kind)
            end,
    Ctime = case C of
                undefined -> Mtime;
                _ -> to_posix(C, Kind)
            end,
    {Atime, Mtime, Ctime}.

%% Names. Those of the operating system are bytes, UTF-8 for a name given as characters;
%% a binary is taken as it is. No name has a zero in it.

native(Name) ->
    Native = internal_name2native(Name),
    case binary:match(Native, <<0>>) of
        nomatch -> Native;
        _ -> error(badarg)
    end.

internal_name2native(Name) when is_binary(Name) -> Name;
internal_name2native(Name) when is_list(Name) ->
    case unicode:characters_to_binary(Name, unicode) of
        Native when is_binary(Native) -> Native;
        _ -> error(badarg)
    end.

internal_native2name(Native) ->
    case unicode:characters_to_list(Native, unicode) of
        Name when is_list(Name) -> Name;
        _ -> {error, unreadable_names()}
    end.

is_translatable(Name) when is_list(Name) -> true;
is_translatable(Name) -> is_list(internal_native2name(Name)).

name_or_raw(Raw) ->
    case internal_native2name(Raw) of
        {error, _} -> Raw;
        Name -> Name
    end.

%% Of the machine, by its flag +fn: what becomes of names that are no UTF-8.
unreadable_names() -> erlang:nif_error(undef).

%% In the directory's order, as in OTP. What is no UTF-8 is left out, and logged, or it is an error: see the
%% flag +fn.
readable_names([Raw | Names], Readable) ->
    case internal_native2name(Raw) of
        {error, warning} ->
            warn_of(Raw),
            readable_names(Names, Readable);
        {error, ignore} -> readable_names(Names, Readable);
        {error, error} -> {error, {no_translation, Raw}};
        Name -> readable_names(Names, [Name | Readable])
    end;
readable_names([], Readable) -> {ok, lists:reverse(Readable)}.

warn_of(Raw) ->
    Meta = #{pid => self(), gl => group_leader(), time => os:system_time(microsecond),
             error_logger => #{tag => warning_msg}},
    case whereis(logger) of
        undefined -> ok;
        Logger -> Logger ! {log, warning, "Non-unicode filename ~p ignored\n", [Raw], Meta}
    end.

%% What a file system that keeps its own form of Unicode (macOS) makes of a name, in the usual form.
internal_normalize_utf8(Name) when is_binary(Name) ->
    unicode:characters_to_nfc_list(Name).
