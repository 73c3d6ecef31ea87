%% SPDX-License-Identifier: Apache-2.0
%% The process behind a file that was not opened raw: it owns the open file, serves the
%% I/O protocol on it (io:get_line, io:format …) and the requests of `file`, and ends
%% with the process that opened it.
%%
%% `buffer` holds bytes that have been read from the file and not been asked for: the
%% file's own position is that many bytes further than the one its users see, so
%% whatever else than reading on is asked first goes back by as many.
%%
%% An error of the file ends the server, as what was written before may be lost.
-module(file_io_server).

-export([start/3, start_link/3, format_error/1]).

-include_lib("kernel/include/file.hrl").

-define(READ_BYTES, 8192).
-define(WIDE_PIECE_BYTES, 256). % UTF-16 and UTF-32, where lines are not looked for

-record(s, {file :: #file_descriptor{},
            monitor :: reference(), % of the owner
            as = list :: list | binary,
            encoding = latin1,
            buffer = <<>> :: binary()}).

format_error({_Line, ?MODULE, Reason}) -> io_lib:format("~w", [Reason]);
format_error({_Line, Module, Reason}) -> Module:format_error(Reason);
format_error(invalid_unicode) -> io_lib:format("cannot translate from UTF-8", []);
format_error(Posix) -> erl_posix_msg:message(Posix).

%% {ok, Pid} | {error, Reason}
start(Owner, Name, Modes) -> start(fun spawn/1, Owner, Name, Modes).

start_link(Owner, Name, Modes) -> start(fun spawn_link/1, Owner, Name, Modes).

%% The opener's user tag goes along, so that the opening bears it.
start(Spawn, Owner, Name, Modes) ->
    Starter = self(),
    Ref = make_ref(),
    Tag = erlang:dt_spread_tag(true),
    Pid = Spawn(fun() ->
                        _ = erlang:dt_restore_tag(Tag),
                        init(Starter, Ref, Owner, Name, Modes)
                end),
    _ = erlang:dt_restore_tag(Tag),
    Monitor = monitor(process, Pid),
    receive
        {Ref, Answer} ->
            demonitor(Monitor, [flush]),
            case Answer of
                ok -> {ok, Pid};
                Error -> Error
            end;
        {'DOWN', Monitor, _, _, Reason} -> {error, Reason}
    end.

init(Starter, Ref, Owner, Name, Modes) ->
    case open(Name, Modes) of
        {ok, S} ->
            Monitor = monitor(process, Owner),
            Starter ! {Ref, ok},
            loop(S#s{monitor = Monitor});
        {error, Reason} = Error ->
            Starter ! {Ref, Error},
            exit(Reason)
    end.

open(Name, Modes) ->
    case own_modes(Modes, #s{}) of
        #s{} = S ->
            case prim_file:open(Name, [binary | Modes]) of
                {ok, File} -> {ok, S#s{file = File}};
                Error -> Error
            end;
        Error -> Error
    end.

own_modes([binary | Modes], S) -> own_modes(Modes, S#s{as = binary});
own_modes([Encoding | Modes], S) when Encoding =:= latin1; Encoding =:= unicode ->
    own_modes(Modes, S#s{encoding = Encoding});
own_modes([{encoding, Encoding} | Modes], S) ->
    case encoding(Encoding) of
        {ok, E} -> own_modes(Modes, S#s{encoding = E});
        Error -> Error
    end;
own_modes([_ | Modes], S) -> own_modes(Modes, S);
own_modes([], S) -> S.

encoding(latin1) -> {ok, latin1};
encoding(unicode) -> {ok, unicode};
encoding(utf8) -> {ok, unicode};
encoding(utf16) -> {ok, {utf16, big}};
encoding(utf32) -> {ok, {utf32, big}};
encoding({Utf, Endian} = E) when Utf =:= utf16, Endian =:= big; Utf =:= utf16, Endian =:= little;
                                 Utf =:= utf32, Endian =:= big; Utf =:= utf32, Endian =:= little -> {ok, E};
encoding(_) -> {error, badarg}.

loop(#s{monitor = Monitor} = S) ->
    receive
        {io_request, From, ReplyAs, Request} when is_pid(From) ->
            answered(From, io_reply, ReplyAs, io_request(Request, S));
        {file_request, From, ReplyAs, Request} when is_pid(From) ->
            answered(From, file_reply, ReplyAs, file_request(Request, S));
        {'DOWN', Monitor, _, _, Reason} -> exit(Reason);
        _ -> loop(S)
    end.

%% Requests are answered {Reply, State}, or {stop, Reason, Reply}.
answered(From, Kind, ReplyAs, {stop, Reason, Reply}) ->
    From ! {Kind, ReplyAs, Reply},
    exit(Reason);
answered(From, Kind, ReplyAs, {Reply, S}) ->
    From ! {Kind, ReplyAs, Reply},
    loop(S).

%% Requests of `file`

file_request({pread, At, Size}, S) when At =:= cur; At =:= {cur, 0} -> ok_chars(get_chars(Size, latin1, S));
file_request({pread, At, Size}, S) ->
    case seek(At, S) of
        {{ok, _}, S1} -> ok_chars(get_chars(Size, latin1, S1));
        Error -> Error
    end;
file_request({pwrite, At, Data}, #s{buffer = <<>>} = S) when At =:= cur; At =:= {cur, 0} ->
    put_chars(Data, latin1, S);
file_request({pwrite, At, Data}, S) ->
    case seek(At, S) of
        {{ok, _}, S1} -> put_chars(Data, latin1, S1);
        Error -> Error
    end;
file_request({position, At}, S) -> seek(At, S);
file_request(truncate, S) ->
    %% At the users' position
    case seek_back(S) of
        {ok, S1} -> stop_on_error(prim_file:truncate(S1#s.file), S1);
        Stop -> Stop
    end;
file_request(sync, S) -> stop_on_error(prim_file:sync(S#s.file), S);
file_request(datasync, S) -> stop_on_error(prim_file:datasync(S#s.file), S);
file_request({advise, Offset, Length, Advice}, S) ->
    stop_on_error(prim_file:advise(S#s.file, Offset, Length, Advice), S);
file_request({allocate, Offset, Length}, S) -> {prim_file:allocate(S#s.file, Offset, Length), S};
file_request({read_handle_info, Options}, S) ->
    stop_on_error(prim_file:read_handle_info(S#s.file, Options), S);
file_request(close, S) ->
    case prim_file:close(S#s.file) of
        {error, Reason} = Error -> {stop, Reason, Error};
        Reply -> {stop, normal, Reply}
    end;
file_request(Unknown, S) -> {{error, {request, Unknown}}, S}.

ok_chars({Reply, S}) when is_list(Reply); is_binary(Reply) -> {{ok, Reply}, S};
ok_chars(Other) -> Other.

stop_on_error({error, Reason} = Error, _) -> {stop, Reason, Error};
stop_on_error(Reply, S) -> {Reply, S}.

%% To where the users mean
seek(At, #s{file = File, buffer = Buffer} = S) ->
    To = case At of
             cur -> {cur, -byte_size(Buffer)};
             {cur, N} when is_integer(N) -> {cur, N - byte_size(Buffer)};
             _ -> At
         end,
    case prim_file:position(File, To) of
        {ok, _} = Ok -> {Ok, S#s{buffer = <<>>}};
        Error -> {Error, S}
    end.

%% {ok, State} with nothing in the buffer, or {stop, …}
seek_back(#s{buffer = <<>>} = S) -> {ok, S};
seek_back(S) ->
    case seek(cur, S) of
        {{ok, _}, S1} -> {ok, S1};
        {{error, Reason} = Error, _} -> {stop, Reason, Error}
    end.

%% Requests of the I/O protocol

io_request({put_chars, Encoding, Chars}, S) ->
    case seek_back(S) of
        {ok, S1} -> put_chars(Chars, Encoding, S1);
        Stop -> Stop
    end;
io_request({put_chars, Encoding, M, F, Args}, S) ->
    try apply(M, F, Args) of
        Chars when is_list(Chars); is_binary(Chars) -> io_request({put_chars, Encoding, Chars}, S);
        _ -> {{error, F}, S}
    catch _:_ -> {{error, F}, S}
    end;
io_request({get_line, Encoding, _Prompt}, S) -> get_line(Encoding, S);
io_request({get_chars, Encoding, _Prompt, N}, S) -> get_chars(N, Encoding, S);
io_request({get_until, Encoding, _Prompt, M, F, Args}, S) -> get_until(start, Encoding, {M, F, Args}, S);
io_request({setopts, Options}, S) when is_list(Options) -> setopts(Options, S);
io_request(getopts, S) -> {[{binary, S#s.as =:= binary}, {encoding, S#s.encoding}], S};
io_request({put_chars, Chars}, S) -> io_request({put_chars, latin1, Chars}, S);
io_request({put_chars, M, F, Args}, S) -> io_request({put_chars, latin1, M, F, Args}, S);
io_request({get_line, Prompt}, S) -> io_request({get_line, latin1, Prompt}, S);
io_request({get_chars, Prompt, N}, S) -> io_request({get_chars, latin1, Prompt, N}, S);
io_request({get_until, Prompt, M, F, Args}, S) -> io_request({get_until, latin1, Prompt, M, F, Args}, S);
io_request({requests, Requests}, S) when is_list(Requests) -> io_requests(Requests, {ok, S});
io_request(Unknown, S) -> {{error, {request, Unknown}}, S}.

%% One after the other as long as none fails
io_requests([Request | Requests], {Reply, S}) when not is_tuple(Reply); element(1, Reply) =/= error ->
    io_requests(Requests, io_request(Request, S));
io_requests(_, Result) -> Result.

%% Output

put_chars(Chars, latin1, #s{encoding = latin1} = S) -> write(Chars, S);
put_chars(Chars, From, #s{encoding = To} = S) ->
    try unicode:characters_to_binary(Chars, From, To) of
        Bytes when is_binary(Bytes) -> write(Bytes, S);
        _ -> {stop, no_translation, {error, {no_translation, From, To}}}
    catch error:_ -> {stop, badarg, {error, badarg}}
    end.

write(Bytes, S) -> stop_on_error(prim_file:write(S#s.file, Bytes), S).

%% Input

%% {ok, State} with more in the buffer, eof, or {stop, …}
read_more(Bytes, #s{file = File, buffer = Buffer} = S) ->
    case prim_file:read(File, max(Bytes, ?READ_BYTES)) of
        {ok, Data} when Buffer =:= <<>> -> {ok, S#s{buffer = Data}};
        {ok, Data} -> {ok, S#s{buffer = <<Buffer/binary, Data/binary>>}};
        eof -> eof;
        {error, Reason} = Error -> {stop, Reason, Error}
    end.

%% The first bytes of the buffer in the form asked for
take(Bytes, To, #s{buffer = Buffer} = S) ->
    {Taken, Rest} = split_binary(Buffer, Bytes),
    case text(Taken, To, S) of
        {error, Reason} = Error -> {stop, Reason, Error};
        Text -> {Text, S#s{buffer = Rest}}
    end.

text(Bytes, latin1, #s{encoding = latin1, as = binary}) -> Bytes;
text(Bytes, _, #s{encoding = latin1, as = list}) -> binary_to_list(Bytes);
text(Bytes, To, #s{encoding = From, as = As}) ->
    case unicode:characters_to_binary(Bytes, From, To) of
        Text when is_binary(Text), As =:= binary -> Text;
        Text when is_binary(Text) -> unicode:characters_to_list(Text, To);
        _ -> {error, {no_translation, From, To}}
    end.

%% Lines: the bytes of the end of a line are looked for, each byte once.

get_line(To, S) -> get_line(0, To, S).

get_line(Looked, To, #s{buffer = Buffer, encoding = Encoding} = S) ->
    case find_newline(Buffer, Looked, Encoding) of
        {found, End, NewlineBytes} -> line(End, NewlineBytes, To, S);
        {none, Looked1} ->
            case read_more(0, S) of
                {ok, S1} -> get_line(Looked1, To, S1);
                eof when Buffer =:= <<>> -> {eof, S};
                eof -> take(byte_size(Buffer), To, S);
                Stop -> Stop
            end
    end.

%% CR and LF are given as LF alone.
line(End, Bytes, To, #s{buffer = Buffer, encoding = Encoding} = S) ->
    CrAt = End - 2 * Bytes,
    Cr = case Encoding of
             {_, big} -> <<$\r:(8 * Bytes)>>;
             {_, little} -> <<$\r:(8 * Bytes)/little>>;
             _ -> <<$\r>>
         end,
    case Buffer of
        <<Before:CrAt/binary, Cr:Bytes/binary, Newline:Bytes/binary, Rest/binary>> ->
            case take(CrAt + Bytes, To, S#s{buffer = <<Before/binary, Newline/binary>>}) of
                {Line, S1} -> {Line, S1#s{buffer = Rest}};
                Stop -> Stop
            end;
        _ -> take(End, To, S)
    end.

find_newline(Buffer, Looked, {Utf, Endian}) ->
    Bytes = case Utf of utf16 -> 2; utf32 -> 4 end,
    Newline = case Endian of big -> <<$\n:(8 * Bytes)>>; little -> <<$\n:(8 * Bytes)/little>> end,
    find_wide(Buffer, Looked, Newline, Bytes);
find_newline(Buffer, Looked, _) ->
    case binary:match(Buffer, <<$\n>>, [{scope, {Looked, byte_size(Buffer) - Looked}}]) of
        {At, 1} -> {found, At + 1, 1};
        nomatch -> {none, byte_size(Buffer)}
    end.

find_wide(Buffer, At, Newline, Bytes) ->
    case Buffer of
        <<_:At/binary, Newline:Bytes/binary, _/binary>> -> {found, At + Bytes, Bytes};
        <<_:At/binary, _:Bytes/binary, _/binary>> -> find_wide(Buffer, At + Bytes, Newline, Bytes);
        _ -> {none, At}
    end.

%% A number of characters: what one read gives, as a device may have no more now.

get_chars(0, _, #s{as = As} = S) -> {nothing(As), S};
get_chars(N, To, S) when is_integer(N), N > 0 ->
    case bytes_of(N, S) of
        {all, Bytes} -> take(Bytes, To, S);
        {some, Chars} -> get_more_chars(N, Chars, To, S);
        invalid -> invalid_chars()
    end;
get_chars(_, _, S) -> {{error, get_chars}, S}.

get_more_chars(N, Chars, To, #s{encoding = Encoding, buffer = Buffer} = S) ->
    Wanted = case Encoding of latin1 -> N - Chars; _ -> 4 * (N - Chars) end,
    case read_more(Wanted, S) of
        {ok, S1} ->
            case bytes_of(N, S1) of
                {all, Bytes} -> take(Bytes, To, S1);
                {some, _} -> take(byte_size(S1#s.buffer), To, S1);
                invalid -> invalid_chars()
            end;
        eof when Buffer =:= <<>> -> {eof, S};
        eof -> take(byte_size(Buffer), To, S);
        Stop -> Stop
    end.

invalid_chars() -> {stop, invalid_unicode, {error, invalid_unicode}}.

nothing(list) -> [];
nothing(binary) -> <<>>.

%% {all, Bytes}: so many hold N characters; {some, Chars}: there are fewer; invalid
bytes_of(N, #s{encoding = latin1, buffer = Buffer}) when byte_size(Buffer) >= N -> {all, N};
bytes_of(_, #s{encoding = latin1, buffer = Buffer}) -> {some, byte_size(Buffer)};
bytes_of(N, #s{encoding = Encoding, buffer = Buffer}) -> count(N, N, Buffer, byte_size(Buffer), Encoding).

count(0, _, Rest, Size, _) -> {all, Size - byte_size(Rest)};
count(Left, N, Bytes, Size, Encoding) ->
    case next_char(Bytes, Encoding) of
        {ok, Rest} -> count(Left - 1, N, Rest, Size, Encoding);
        none ->
            case unicode:characters_to_list(Bytes, Encoding) of
                {error, _, _} -> invalid;
                _ -> {some, N - Left}
            end
    end.

next_char(Bytes, Encoding) ->
    case {Encoding, Bytes} of
        {unicode, <<_/utf8, Rest/binary>>} -> {ok, Rest};
        {{utf16, big}, <<_/utf16, Rest/binary>>} -> {ok, Rest};
        {{utf16, little}, <<_/utf16-little, Rest/binary>>} -> {ok, Rest};
        {{utf32, big}, <<_/utf32, Rest/binary>>} -> {ok, Rest};
        {{utf32, little}, <<_/utf32-little, Rest/binary>>} -> {ok, Rest};
        _ -> none
    end.

%% A function of the caller's is fed a line at a time, so that little is decoded twice.

get_until(Continuation, To, MFA, #s{buffer = <<>>} = S) ->
    case read_more(0, S) of
        {ok, S1} -> get_until(Continuation, To, MFA, S1);
        eof -> feed(Continuation, eof, To, MFA, S);
        Stop -> Stop
    end;
get_until(Continuation, To, MFA, S) ->
    {Piece, Rest} = next_piece(S),
    case decoded(Piece, To, S) of
        {ok, Chars, <<>>} -> feed(Continuation, Chars, To, MFA, S#s{buffer = Rest});
        {ok, Chars, Incomplete} when Rest =/= <<>>; Chars =/= [], Chars =/= <<>> ->
            feed(Continuation, Chars, To, MFA, S#s{buffer = <<Incomplete/binary, Rest/binary>>});
        {ok, _, _} ->
            case read_more(0, S) of
                {ok, S1} -> get_until(Continuation, To, MFA, S1);
                eof -> invalid(Continuation, MFA);
                Stop -> Stop
            end;
        invalid -> invalid(Continuation, MFA)
    end.

next_piece(#s{buffer = Buffer, encoding = {_, _}}) ->
    split_binary(Buffer, min(?WIDE_PIECE_BYTES, byte_size(Buffer)));
next_piece(#s{buffer = Buffer}) ->
    case binary:match(Buffer, <<$\n>>) of
        {At, 1} -> split_binary(Buffer, At + 1);
        nomatch -> {Buffer, <<>>}
    end.

%% {ok, Characters, What is left of an incomplete one}
decoded(Bytes, latin1, #s{as = binary, encoding = latin1}) -> {ok, Bytes, <<>>};
decoded(Bytes, _, #s{as = list, encoding = latin1}) -> {ok, binary_to_list(Bytes), <<>>};
decoded(Bytes, To, #s{as = As, encoding = From}) ->
    Converted = case As of
                    list -> unicode:characters_to_list(Bytes, From);
                    binary -> unicode:characters_to_binary(Bytes, From, To)
                end,
    case Converted of
        {error, Chars, _} when Chars =:= []; Chars =:= <<>> -> invalid;
        {_, Chars, Rest} -> {ok, Chars, iolist_to_binary(Rest)};
        Chars -> {ok, Chars, <<>>}
    end.

feed(Continuation, Chars, To, {M, F, Args} = MFA, S) ->
    try io_lib:get_until(Continuation, Chars, To, MFA) of
        {stop, Result, Rest} ->
            try {Result, S#s{buffer = <<(encoded(Rest, To, S))/binary, (S#s.buffer)/binary>>}}
            catch error:Reason -> {stop, Reason, {error, F}}
            end;
        Continuation1 when Chars =/= eof -> get_until(Continuation1, To, MFA, S);
        _ -> {stop, {M, F, length(Args) + 2}, {error, F}} % wants more than there is
    catch
        _:Reason -> {stop, Reason, {error, F}}
    end.

encoded(Rest, _, #s{encoding = Encoding}) when is_list(Rest) ->
    Bytes = unicode:characters_to_binary(Rest, unicode, Encoding),
    true = is_binary(Bytes),
    Bytes;
encoded(Rest, To, #s{encoding = Encoding}) when is_binary(Rest) ->
    Bytes = unicode:characters_to_binary(Rest, To, Encoding),
    true = is_binary(Bytes),
    Bytes;
encoded(_, _, _) -> <<>>.

%% The scanner's continuation knows where it is. The io_lib of OTP 26 and later has it in a pair.
invalid(start, MFA) -> invalid([], MFA);
invalid({_, Continuation}, MFA) -> invalid(Continuation, MFA);
invalid(Continuation, {erl_scan, tokens, _} = MFA) ->
    try erl_scan:continuation_location(Continuation) of
        Location -> {stop, invalid_unicode, {error, {Location, ?MODULE, invalid_unicode}, Location}}
    catch _:_ -> invalid_unknown_place(MFA)
    end;
invalid(_, MFA) -> invalid_unknown_place(MFA).

invalid_unknown_place({_, F, _}) -> {stop, invalid_unicode, {error, F}}.

%% Options

setopts(Options, S) ->
    try lists:foldl(fun option/2, S, proplists:unfold(Options)) of
        #s{} = S1 -> {ok, S1}
    catch throw:Reason -> {{error, Reason}, S}
    end.

option({binary, true}, S) -> S#s{as = binary};
option({binary, false}, S) -> S#s{as = list};
option({list, true}, S) -> S#s{as = list};
option({list, false}, S) -> S#s{as = binary};
option({Encoding, true}, S) when Encoding =:= latin1; Encoding =:= unicode -> S#s{encoding = Encoding};
option({encoding, Encoding}, S) ->
    case encoding(Encoding) of
        {ok, E} -> S#s{encoding = E};
        {error, Reason} -> throw(Reason)
    end;
option(_, _) -> throw(enotsup).
