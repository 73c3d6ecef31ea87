%% Files in memory: file:open(Data, [ram | Modes]). The contents are with a process of their own, which
%% ends with the one that opened the file.
-module(ram_file).

-export([open/2, close/1, read/2, read_line/1, write/2, pread/2, pread/3, pwrite/2, pwrite/3, position/2, truncate/1,
         sync/1, datasync/1, advise/4, allocate/3, copy/3, ipread_s32bu_p32bu/3]).
-export([get_file/1, get_size/1]).

-include_lib("kernel/include/file.hrl").

-record(s, {read :: boolean(),
            write :: boolean(),
            as = list :: list | binary,
            contents :: binary(),
            at = 0 :: non_neg_integer()}).

open(Data, Modes) when is_list(Modes) ->
    case modes(Modes, #s{read = false, write = false, contents = <<>>}) of
        #s{} = S ->
            try iolist_to_binary(Data) of
                Contents ->
                    Owner = self(),
                    Start = S#s{contents = Contents, read = S#s.read orelse not S#s.write},
                    Pid = spawn(fun() -> serve(Start, monitor(process, Owner)) end),
                    {ok, #file_descriptor{module = ?MODULE, data = Pid}}
            catch error:_ -> {error, badarg}
            end;
        Error -> Error
    end;
open(_, _) -> {error, badarg}.

modes([ram | Modes], S) -> modes(Modes, S);
modes([read | Modes], S) -> modes(Modes, S#s{read = true});
modes([write | Modes], S) -> modes(Modes, S#s{write = true});
modes([binary | Modes], S) -> modes(Modes, S#s{as = binary});
modes([], S) -> S;
modes(_, _) -> {error, badarg}.

close(File) -> call(File, close).

read(File, Size) when is_integer(Size), Size >= 0 -> call(File, {read, Size});
read(_, _) -> {error, badarg}.

read_line(File) -> call(File, read_line).

write(File, Data) -> with_bytes(Data, fun(Bytes) -> call(File, {write, Bytes}) end).

pread(File, At, Size) -> one(pread(File, [{At, Size}])).

one({ok, [eof]}) -> eof;
one({ok, [Data]}) -> {ok, Data};
one(Error) -> Error.

pread(File, Pieces) ->
    case lists:all(fun({At, Size}) -> is_integer(At) andalso is_integer(Size) andalso Size >= 0; (_) -> false end, Pieces) of
        true -> call(File, {pread, Pieces});
        false -> {error, badarg}
    end.

pwrite(File, At, Data) ->
    case pwrite(File, [{At, Data}]) of
        {error, {_, Reason}} -> {error, Reason};
        Answer -> Answer
    end.

pwrite(File, Pieces) -> pwrite(File, Pieces, 0, ok).

pwrite(File, [{At, Data} | Pieces], Done, ok) when is_integer(At) ->
    case with_bytes(Data, fun(Bytes) -> call(File, {pwrite, At, Bytes}) end) of
        ok -> pwrite(File, Pieces, Done + 1, ok);
        {error, Reason} -> {error, {Done, Reason}}
    end;
pwrite(_, [], _, ok) -> ok;
pwrite(_, _, _, _) -> {error, badarg}.

position(File, At) -> call(File, {position, At}).

truncate(File) -> call(File, truncate).

%% Nothing has to go anywhere.
sync(File) -> call(File, nothing).

datasync(File) -> call(File, nothing).

advise(File, Offset, Length, Advice) when is_integer(Offset), is_integer(Length) ->
    case lists:member(Advice, [normal, random, sequential, will_need, dont_need, no_reuse]) of
        true -> call(File, nothing);
        false -> {error, einval}
    end;
advise(_, _, _, _) -> {error, badarg}.

allocate(File, Offset, Length) when is_integer(Offset), is_integer(Length) -> call(File, nothing);
allocate(_, _, _) -> {error, badarg}.

copy(Source, Dest, Length) -> file:copy_opened(Source, Dest, Length).

ipread_s32bu_p32bu(File, At, MaxSize) -> file:ipread_s32bu_p32bu_int(File, At, MaxSize).

%% All there is

get_file(File) -> call(File, get_file).

get_size(File) -> call(File, get_size).

with_bytes(Data, Then) ->
    try iolist_to_binary(Data) of
        Bytes -> Then(Bytes)
    catch error:badarg -> {error, badarg}
    end.

call(#file_descriptor{module = ?MODULE, data = Pid}, Request) when is_pid(Pid) ->
    Ref = monitor(process, Pid),
    Pid ! {ram_file, self(), Ref, Request},
    receive
        {Ref, Answer} ->
            demonitor(Ref, [flush]),
            Answer;
        {'DOWN', Ref, _, _, _} -> {error, einval}
    end;
call(_, _) -> {error, badarg}.

%% The process

serve(S, Monitor) ->
    receive
        {ram_file, From, Ref, close} -> From ! {Ref, ok};
        {ram_file, From, Ref, Request} ->
            {Answer, S1} = answer(Request, S),
            From ! {Ref, Answer},
            serve(S1, Monitor);
        {'DOWN', Monitor, _, _, _} -> ok;
        _ -> serve(S, Monitor)
    end.

answer({Read, _}, #s{read = false} = S) when Read =:= read; Read =:= pread -> {{error, ebadf}, S};
answer(read_line, #s{read = false} = S) -> {{error, ebadf}, S};
answer({write, _}, #s{write = false} = S) -> {{error, ebadf}, S};
answer({pwrite, _, _}, #s{write = false} = S) -> {{error, ebadf}, S};
answer(truncate, #s{write = false} = S) -> {{error, ebadf}, S};
answer({read, 0}, S) -> {{ok, given(<<>>, S)}, S};
answer({read, Size}, #s{at = At} = S) ->
    case piece(At, Size, S) of
        eof -> {eof, S};
        Bytes -> {{ok, given(Bytes, S)}, S#s{at = At + byte_size(Bytes)}}
    end;
answer(read_line, #s{at = At, contents = Contents} = S) ->
    case piece(At, byte_size(Contents), S) of
        eof -> {eof, S};
        Rest ->
            case binary:split(Rest, <<"\n">>) of
                [Line, _] -> {{ok, given(without_cr(Line), S)}, S#s{at = At + byte_size(Line) + 1}};
                [Line] -> {{ok, given(Line, S)}, S#s{at = byte_size(Contents)}}
            end
    end;
answer({write, Bytes}, #s{at = At} = S) -> {ok, (put_at(At, Bytes, S))#s{at = At + byte_size(Bytes)}};
answer({pread, Pieces}, S) ->
    case lists:any(fun({At, _}) -> At < 0 end, Pieces) of
        true -> {{error, einval}, S};
        false -> {{ok, [case piece(At, Size, S) of eof -> eof; Bytes -> given(Bytes, S) end || {At, Size} <- Pieces]}, S}
    end;
answer({pwrite, At, _}, S) when At < 0 -> {{error, einval}, S};
answer({pwrite, At, Bytes}, S) -> {ok, put_at(At, Bytes, S)};
answer({position, To}, S) ->
    case place(To, S) of
        At when is_integer(At), At >= 0 -> {{ok, At}, S#s{at = At}};
        badarg -> {{error, badarg}, S};
        _ -> {{error, einval}, S}
    end;
answer(truncate, #s{at = At, contents = Contents} = S) when At < byte_size(Contents) ->
    {ok, S#s{contents = binary:part(Contents, 0, At)}};
answer(truncate, S) -> {ok, S};
answer(nothing, S) -> {ok, S};
answer(get_file, S) -> {{ok, given(S#s.contents, S)}, S};
answer(get_size, S) -> {{ok, byte_size(S#s.contents)}, S}.

given(Bytes, #s{as = list}) -> binary_to_list(Bytes);
given(Bytes, _) -> Bytes.

piece(At, Size, #s{contents = Contents}) when At < byte_size(Contents) ->
    binary:part(Contents, At, min(Size, byte_size(Contents) - At));
piece(_, _, _) -> eof.

without_cr(Line) ->
    Before = byte_size(Line) - 1,
    case Line of
        <<Text:Before/binary, $\r>> -> <<Text/binary, $\n>>;
        _ -> <<Line/binary, $\n>>
    end.

put_at(_, <<>>, S) -> S;
put_at(At, Bytes, #s{contents = Contents} = S) ->
    Size = byte_size(Contents),
    End = At + byte_size(Bytes),
    S#s{contents = if
                       At =:= Size -> <<Contents/binary, Bytes/binary>>;
                       At > Size -> <<Contents/binary, 0:(8 * (At - Size)), Bytes/binary>>;
                       End >= Size -> <<(binary:part(Contents, 0, At))/binary, Bytes/binary>>;
                       true ->
                           After = binary:part(Contents, End, Size - End),
                           <<(binary:part(Contents, 0, At))/binary, Bytes/binary, After/binary>>
                   end}.

place({bof, N}, _) when is_integer(N) -> N;
place({cur, N}, #s{at = At}) when is_integer(N) -> At + N;
place({eof, N}, #s{contents = Contents}) when is_integer(N) -> byte_size(Contents) + N;
place(Origin, S) when Origin =:= bof; Origin =:= cur; Origin =:= eof -> place({Origin, 0}, S);
place(N, _) when is_integer(N) -> N;
place(_, _) -> badarg.
