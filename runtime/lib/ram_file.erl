%% Files in memory: file:open(Data, [ram | Modes]), by way of the driver `ram_file_drv`. An open file
%% is a port of that driver, owned by the process that opened it: answers come to that process
%% alone, and the file goes when it ends. docs/internals/files.md has the commands and answers.
-module(ram_file).

-export([open/2, close/1, read/2, write/2, pread/2, pread/3, pwrite/2, pwrite/3, position/2, truncate/1, sync/1,
         datasync/1, advise/4, allocate/3, copy/3, ipread_s32bu_p32bu/3]).
-export([get_file/1, get_size/1]).

-include_lib("kernel/include/file.hrl").

%% Commands
-define(OPEN, 1).
-define(READ, 2).
-define(LSEEK, 3).
-define(WRITE, 4).
-define(FSYNC, 9).
-define(TRUNCATE, 14).
-define(PREAD, 17).
-define(PWRITE, 18).
-define(FDATASYNC, 19).
-define(GET, 30).
-define(SIZE, 37).
-define(ADVISE, 38).
-define(ALLOCATE, 39).

%% Answers
-define(OK, 0).
-define(ERROR, 1).
-define(DATA, 2).
-define(NUMBER, 3).

%% Flags of OPEN
-define(MODE_READ, 1).
-define(MODE_WRITE, 2).

-define(IS_S32(N), is_integer(N), N >= -(1 bsl 31), N < 1 bsl 31).
-define(IS_SIZE(N), is_integer(N), N >= 0).

open(Data, Modes) when is_list(Modes) ->
    case flags(Modes, 0, []) of
        {error, _} = Error -> Error;
        {0, Options} -> open(Data, ?MODE_READ, Options);
        {Flags, Options} -> open(Data, Flags, Options)
    end.

open(Data, Flags, Options) ->
    try open_port({spawn_driver, "ram_file_drv"}, Options) of
        Port ->
            case ask(Port, [<<?OPEN, Flags:32>> | Data]) of
                {ok, _} -> {ok, #file_descriptor{module = ?MODULE, data = Port}};
                Error ->
                    ok = close_port(Port),
                    Error
            end
    catch error:Reason -> {error, Reason}
    end.

flags([ram | Modes], Flags, Options) -> flags(Modes, Flags, Options);
flags([read | Modes], Flags, Options) -> flags(Modes, Flags bor ?MODE_READ, Options);
flags([write | Modes], Flags, Options) -> flags(Modes, Flags bor ?MODE_WRITE, Options);
flags([binary | Modes], Flags, Options) -> flags(Modes, Flags, [binary | Options]);
flags([], Flags, Options) -> {Flags, Options};
flags(_, _, _) -> {error, badarg}.

close(#file_descriptor{module = ?MODULE, data = Port}) -> close_port(Port).

close_port(Port) ->
    try port_close(Port)
    catch error:_ -> true
    end,
    receive {'EXIT', Port, _} -> ok % to who traps exits
    after 0 -> ok
    end.

read(#file_descriptor{module = ?MODULE, data = Port}, Size) when ?IS_SIZE(Size) ->
    if ?IS_S32(Size) -> data(ask(Port, <<?READ, Size:32>>), Size);
       true -> {error, einval}
    end.

write(#file_descriptor{module = ?MODULE, data = Port}, Data) -> written(ask(Port, [?WRITE | Data])).

%% Nothing is read, or written, unless all of the list is as it should be.
pread(#file_descriptor{module = ?MODULE, data = Port}, Pieces) when is_list(Pieces) ->
    case first_error(fun readable/1, Pieces) of
        none -> pread_each(Port, Pieces, []);
        {_, Reason} -> {error, Reason}
    end.

readable({At, Size}) when ?IS_S32(At), ?IS_S32(Size), Size >= 0 -> ok;
readable({At, Size}) when is_integer(At), ?IS_SIZE(Size) -> einval;
readable(_) -> badarg.

pread_each(_, [], Acc) -> {ok, lists:reverse(Acc)};
pread_each(Port, [{At, Size} | Pieces], Acc) ->
    case data(ask(Port, <<?PREAD, At:32, Size:32>>), Size) of
        {ok, Data} -> pread_each(Port, Pieces, [Data | Acc]);
        eof -> pread_each(Port, Pieces, [eof | Acc]);
        Error -> Error
    end.

pread(#file_descriptor{module = ?MODULE} = File, At, Size) ->
    case pread(File, [{At, Size}]) of
        {ok, [eof]} -> eof;
        {ok, [Data]} -> {ok, Data};
        Error -> Error
    end.

pwrite(#file_descriptor{module = ?MODULE, data = Port}, Pieces) when is_list(Pieces) ->
    case first_error(fun writable/1, Pieces) of
        none -> pwrite_each(Port, Pieces, 0);
        {Done, einval} -> {error, {Done, einval}};
        {_, Reason} -> {error, Reason}
    end.

writable({At, Data}) when ?IS_S32(At) ->
    try iolist_size(Data) of
        _ -> ok
    catch error:Reason -> Reason
    end;
writable({At, _}) when is_integer(At) -> einval;
writable(_) -> badarg.

pwrite_each(_, [], _) -> ok;
pwrite_each(Port, [{At, Data} | Pieces], Done) ->
    case ask(Port, [<<?PWRITE, At:32>> | Data]) of
        {ok, _} -> pwrite_each(Port, Pieces, Done + 1);
        {error, Reason} -> {error, {Done, Reason}}
    end.

pwrite(#file_descriptor{module = ?MODULE} = File, At, Data) ->
    case pwrite(File, [{At, Data}]) of
        {error, {0, Reason}} -> {error, Reason};
        Answer -> Answer
    end.

%% The place of the first element that is not ok, and what it is.
first_error(Check, List) -> first_error(Check, List, 0).

first_error(_, [], _) -> none;
first_error(Check, [X | List], N) ->
    case Check(X) of
        ok -> first_error(Check, List, N + 1);
        Reason -> {N, Reason}
    end;
first_error(_, _, N) -> {N, badarg}.

position(#file_descriptor{module = ?MODULE, data = Port}, To) ->
    case place(To) of
        {Origin, Offset} when ?IS_S32(Offset) -> ask(Port, <<?LSEEK, Offset:32, Origin:32>>);
        {_, _} -> {error, einval};
        badarg -> {error, badarg}
    end.

place({bof, Offset}) when is_integer(Offset) -> {0, Offset};
place({cur, Offset}) when is_integer(Offset) -> {1, Offset};
place({eof, Offset}) when is_integer(Offset) -> {2, Offset};
place(Origin) when Origin =:= bof; Origin =:= cur; Origin =:= eof -> place({Origin, 0});
place(Offset) when is_integer(Offset) -> place({bof, Offset});
place(_) -> badarg.

truncate(#file_descriptor{module = ?MODULE, data = Port}) -> ask(Port, <<?TRUNCATE>>).

sync(#file_descriptor{module = ?MODULE, data = Port}) -> ask(Port, <<?FSYNC>>).

datasync(#file_descriptor{module = ?MODULE, data = Port}) -> ask(Port, <<?FDATASYNC>>).

advise(#file_descriptor{module = ?MODULE, data = Port}, Offset, Length, Advice) ->
    case advice(Advice) of
        undefined -> {error, einval};
        Number -> ask(Port, <<?ADVISE, Offset:64, Length:64, Number:32>>)
    end;
advise(#file_descriptor{}, _, _, _) -> {error, enotsup}.

advice(normal) -> 0;
advice(random) -> 1;
advice(sequential) -> 2;
advice(will_need) -> 3;
advice(dont_need) -> 4;
advice(no_reuse) -> 5;
advice(_) -> undefined.

allocate(#file_descriptor{module = ?MODULE, data = Port}, Offset, Length) ->
    ask(Port, <<?ALLOCATE, Offset:64, Length:64>>);
allocate(#file_descriptor{}, _, _) -> {error, enotsup}.

copy(#file_descriptor{module = ?MODULE} = Source, #file_descriptor{module = ?MODULE} = Dest, Length)
  when ?IS_SIZE(Length); is_atom(Length) -> file:copy_opened(Source, Dest, Length).

ipread_s32bu_p32bu(#file_descriptor{module = ?MODULE} = File, At, MaxSize) ->
    file:ipread_s32bu_p32bu_int(File, At, MaxSize).

%% All there is

get_file(#file_descriptor{module = ?MODULE, data = Port}) -> data(ask(Port, <<?GET>>), 0);
get_file(#file_descriptor{}) -> {error, enotsup}.

get_size(#file_descriptor{module = ?MODULE, data = Port}) -> ask(Port, <<?SIZE>>);
get_size(#file_descriptor{}) -> {error, enotsup}.

%% A command and its answer

ask(Port, Command) ->
    try port_command(Port, Command) of
        true ->
            receive
                {Port, {data, [Code | Rest]}} -> answer(Code, Rest);
                {'EXIT', Port, _} -> {error, port_died}
            end
    catch
        error:badarg ->
            %% Either the command is not bytes, or the port is closed.
            try iolist_size(Command) of
                _ -> {error, einval}
            catch error:Reason -> {error, Reason}
            end;
        error:Reason -> {error, Reason}
    end.

answer(?OK, []) -> ok;
answer(?ERROR, Reason) -> {error, list_to_atom(Reason)};
answer(?NUMBER, [_, _, _, _] = Number) -> {ok, number(Number)};
answer(?DATA, [A, B, C, D | Data]) -> {ok, {number([A, B, C, D]), Data}}.

number(Bytes) -> binary:decode_unsigned(list_to_binary(Bytes)).

%% Of what was asked for. When that was something, nothing is the end of the file.
data({ok, {0, _}}, Asked) when Asked > 0 -> eof;
data({ok, {_, Data}}, _) -> {ok, Data};
data(Error, _) -> Error.

written({ok, _}) -> ok;
written(Error) -> Error.
