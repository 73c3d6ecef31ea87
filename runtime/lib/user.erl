%% SPDX-License-Identifier: Apache-2.0
%% I/O servers for the operating system's standard files: `user` on standard
%% input and output, `standard_error` on file descriptor 2.
%%
%% The server never waits for input in a way that would keep output back:
%% vmrun_io:read_request/2 asks the machine for bytes, which arrive as a message
%% {vmrun_io, Fd, {data, Bytes} | eof | {error, Reason}}; input requests queue
%% up until then. Output of requests that are waiting in the mailbox at the
%% same time is written with one vmrun_io:write/2; each is answered when its
%% bytes are written.
-module(user).

-export([server/2]).

-define(READ_BYTES, 65536).
-define(MAX_BATCH_BYTES, 65536).

-record(s, {in :: integer() | none | eof, % file descriptors; eof: always at its end
            out :: integer(),
            encoding = unicode :: unicode | latin1,
            binary = false :: boolean(), % input is answered as binaries
            echo = true :: boolean(),
            buffer = <<>> :: binary(),   % bytes read and not yet asked for
            eof = false :: boolean(),    % end of input was seen; told once
            reading = false :: boolean(),
            current = none,              % the input request being served
            waiting = [] :: list(),      % later ones, last first
            batch = [] :: list(),        % output not yet written, reversed
            batch_bytes = 0 :: non_neg_integer(),
            replies = [] :: list()}).    % and who is to be told, reversed

%% Body of a server process.
server(In, Out) ->
    process_flag(trap_exit, true),
    loop(#s{in = In, out = Out}).

loop(#s{replies = []} = S) ->
    receive Message -> loop(handle(Message, S)) end;
loop(#s{batch_bytes = N} = S) when N >= ?MAX_BATCH_BYTES ->
    loop(flush(S));
loop(S) ->
    receive Message -> loop(handle(Message, S))
    after 0 -> loop(flush(S))
    end.

handle({io_request, From, ReplyAs, Request}, S) -> request(Request, From, ReplyAs, S);
handle({vmrun_io, Fd, Input}, #s{in = Fd} = S) -> input(Input, S#s{reading = false});
handle({flush, From, Ref}, S) ->
    S1 = flush(S),
    From ! {flushed, Ref},
    S1;
handle(_, S) -> S.

flush(#s{replies = []} = S) -> S;
flush(#s{out = Out, batch = Batch, replies = Replies} = S) ->
    %% A descriptor that takes no more is to its users what a server that has ended is.
    Result = case vmrun_io:write(Out, lists:reverse(Batch)) of
                 ok -> ok;
                 {error, _} -> {error, terminated}
             end,
    [reply(From, ReplyAs, case Reply of ok -> Result; _ -> Reply end)
     || {From, ReplyAs, Reply} <- lists:reverse(Replies)],
    S#s{batch = [], batch_bytes = 0, replies = []}.

reply(From, ReplyAs, Reply) -> From ! {io_reply, ReplyAs, Reply}.

%% Requests

request(Request, From, ReplyAs, S) ->
    case kind(Request) of
        input when S#s.in =:= none ->
            reply(From, ReplyAs, {error, enotsup}),
            S;
        input when S#s.in =:= eof ->
            reply(From, ReplyAs, eof),
            S;
        input when S#s.current =:= none -> begin_input(Request, From, ReplyAs, S);
        input -> S#s{waiting = [{Request, From, ReplyAs} | S#s.waiting]};
        other ->
            {Reply, S1} = output(Request, S),
            S1#s{replies = [{From, ReplyAs, Reply} | S1#s.replies]}
    end.

kind(Request) when is_tuple(Request) ->
    case element(1, Request) of
        get_line -> input;
        get_chars -> input;
        get_until -> input;
        get_password -> input;
        _ -> other
    end;
kind(_) -> other.

output({put_chars, unicode, Chars}, S) -> put_chars(Chars, unicode, S);
output({put_chars, latin1, Chars}, S) -> put_chars(Chars, latin1, S);
output({put_chars, Encoding, M, F, Args}, S) ->
    try apply(M, F, Args) of
        Chars -> output({put_chars, Encoding, Chars}, S)
    catch _:_ -> {{error, F}, S}
    end;
output({put_chars, Chars}, S) -> put_chars(Chars, latin1, S);
output({put_chars, M, F, Args}, S) -> output({put_chars, latin1, M, F, Args}, S);
output({requests, Requests}, S) when is_list(Requests) -> requests(Requests, ok, S);
output({setopts, Options}, S) when is_list(Options) -> setopts(Options, S);
output(getopts, S) -> {options(S), S};
output({get_geometry, What}, S) ->
    case vmrun_io:geometry(S#s.out) of
        {Columns, _} when What =:= columns -> {Columns, S};
        {_, Rows} when What =:= rows -> {Rows, S};
        _ -> {{error, enotsup}, S}
    end;
output(_, S) -> {{error, request}, S}.

requests([R | Rs], ok, S) ->
    case kind(R) of
        other ->
            {Reply, S1} = output(R, S),
            requests(Rs, Reply, S1);
        input -> {{error, enotsup}, S}
    end;
requests([_ | _], Error, S) when is_tuple(Error), element(1, Error) =:= error -> {Error, S};
requests([_ | _] = Rs, _, S) -> requests(Rs, ok, S);
requests([], Reply, S) -> {Reply, S}.

put_chars(Chars, From, #s{encoding = To} = S) ->
    case encode(Chars, From, To) of
        Bytes when is_binary(Bytes) ->
            {ok, S#s{batch = [Bytes | S#s.batch], batch_bytes = S#s.batch_bytes + byte_size(Bytes)}};
        Error -> {{error, Error}, S}
    end.

encode(Chars, unicode, unicode) when is_binary(Chars) -> Chars;
encode(Chars, latin1, latin1) when is_binary(Chars) -> Chars;
encode(Chars, From, To) ->
    try unicode:characters_to_list(Chars, From) of
        L when is_list(L), To =:= unicode -> unicode:characters_to_binary(L, unicode);
        L when is_list(L) -> << <<(latin1(C))/binary>> || C <- L>>;
        _ -> {no_translation, From, To}
    catch error:_ -> put_chars
    end.

%% Latin-1 output shows other characters the way they are written in source.
latin1(C) when C =< 255 -> <<C>>;
latin1(C) -> list_to_binary(["\\x{", integer_to_list(C, 16), $}]).

options(S) -> [{binary, S#s.binary}, {echo, S#s.echo}, {encoding, S#s.encoding}].

setopts(Options, S) ->
    try lists:foldl(fun option/2, S, proplists:unfold(Options)) of
        S1 -> {ok, S1}
    catch throw:bad_option -> {{error, enotsup}, S}
    end.

option({binary, B}, S) when is_boolean(B) -> S#s{binary = B};
option({list, B}, S) when is_boolean(B) -> S#s{binary = not B};
option({echo, B}, S) when is_boolean(B) -> S#s{echo = B};
option({encoding, E}, S) when E =:= unicode; E =:= utf8 -> S#s{encoding = unicode};
option({encoding, latin1}, S) -> S#s{encoding = latin1};
option(_, _) -> throw(bad_option).

%% Input. The current request is {Kind, Encoding, From, ReplyAs}, where Kind is
%% {line, From where to look for its end}, {chars, N}, or {until, Cont, M, F, Args}.

begin_input(Request, From, ReplyAs, S) ->
    {Kind, Encoding, Prompt} = input_kind(Request),
    S1 = prompt(Prompt, Encoding, S),
    serve(S1#s{current = {Kind, Encoding, From, ReplyAs}}).

input_kind({get_line, Encoding, Prompt}) -> {{line, 0}, Encoding, Prompt};
input_kind({get_line, Prompt}) -> {{line, 0}, latin1, Prompt};
input_kind({get_password, Encoding}) -> {{line, 0}, Encoding, ""};
input_kind({get_chars, Encoding, Prompt, N}) -> {{chars, N}, Encoding, Prompt};
input_kind({get_chars, Prompt, N}) -> {{chars, N}, latin1, Prompt};
input_kind({get_until, Encoding, Prompt, M, F, Args}) -> {{until, [], M, F, Args}, Encoding, Prompt};
input_kind({get_until, Prompt, M, F, Args}) -> {{until, [], M, F, Args}, latin1, Prompt};
input_kind(Request) -> {{bad, Request}, latin1, ""}.

%% The prompt is out before anybody waits for the answer.
prompt("", _, S) -> S;
prompt('', _, S) -> S;
prompt(<<>>, _, S) -> S;
prompt(Prompt, Encoding, S) ->
    {_, S1} = put_chars(io_lib:format_prompt(Prompt, Encoding), unicode, S),
    flush(S1#s{replies = [{self(), prompt, ok} | S1#s.replies]}).

input({data, Bytes}, #s{buffer = Buffer} = S) -> serve(S#s{buffer = <<Buffer/binary, Bytes/binary>>});
input(eof, S) -> serve(S#s{eof = true});
input({error, Reason}, #s{current = {_, _, _, _}} = S) -> finish({error, Reason}, S);
input(_, S) -> S.

serve(#s{current = none} = S) -> S;
serve(#s{current = {Kind, Encoding, From, ReplyAs}} = S) ->
    case take(Kind, S) of
        {done, Reply, Buffer} -> finish(Reply, S#s{buffer = Buffer});
        {done, Reply, Buffer, used_eof} -> finish(Reply, S#s{buffer = Buffer, eof = false});
        {more, Kind1, Buffer} ->
            want(S#s{buffer = Buffer, current = {Kind1, Encoding, From, ReplyAs}})
    end.

want(#s{reading = true} = S) -> S;
want(S) ->
    vmrun_io:read_request(S#s.in, ?READ_BYTES),
    S#s{reading = true}.

finish(Reply, #s{current = {_, _, From, ReplyAs}, waiting = Waiting} = S0) ->
    S = flush(S0),
    reply(From, ReplyAs, Reply),
    case lists:reverse(Waiting) of
        [] -> S#s{current = none};
        [{Request, From1, ReplyAs1} | More] ->
            begin_input(Request, From1, ReplyAs1, S#s{current = none, waiting = lists:reverse(More)})
    end.

take({bad, _}, S) -> {done, {error, request}, S#s.buffer};
take({line, Looked}, #s{buffer = B, eof = Eof} = S) ->
    case binary:match(B, <<$\n>>, [{scope, {Looked, byte_size(B) - Looked}}]) of
        {At, 1} ->
            Line = without_cr(B, At),
            {done, result(Line, S, get_line), binary:part(B, At + 1, byte_size(B) - At - 1)};
        nomatch when Eof, B =:= <<>> -> {done, eof, <<>>, used_eof};
        nomatch when Eof -> {done, result(B, S, get_line), <<>>};
        nomatch -> {more, {line, byte_size(B)}, B}
    end;
take({chars, N}, #s{buffer = B, eof = Eof, encoding = Encoding} = S) ->
    case bytes_of_chars(B, N, Encoding, 0) of
        enough -> {done, eof_or_empty(S), B};
        Bytes when is_integer(Bytes) ->
            {done, result(binary:part(B, 0, Bytes), S, get_chars),
                binary:part(B, Bytes, byte_size(B) - Bytes)};
        more when Eof, B =:= <<>> -> {done, eof, <<>>, used_eof};
        more when Eof -> {done, result(B, S, get_chars), <<>>};
        more -> {more, {chars, N}, B}
    end;
take({until, Cont, M, F, Args}, #s{buffer = B, eof = Eof} = S) ->
    case next_piece(B) of
        {Piece, Rest} -> until(Cont, decoded(Piece, S), Rest, M, F, Args, S);
        none when Eof, B =:= <<>> -> until(Cont, eof, <<>>, M, F, Args, S);
        none when Eof -> until(Cont, decoded(B, S), <<>>, M, F, Args, S);
        none -> {more, {until, Cont, M, F, Args}, B}
    end.

%% A line at a time is fed to the function.
next_piece(B) ->
    case binary:match(B, <<$\n>>) of
        {At, 1} -> split_binary(B, At + 1);
        nomatch -> none
    end.

until(Cont, {error, _}, Rest, _, F, _, _) ->
    _ = Cont,
    {done, {error, F}, Rest};
until(Cont, Data, Rest, M, F, Args, S) ->
    try apply(M, F, [Cont, Data | Args]) of
        {done, Result, eof} -> {done, converted(Result, S), Rest, used_eof};
        {done, Result, Left} -> {done, converted(Result, S), <<(encoded(Left, S))/binary, Rest/binary>>};
        {more, Cont1} -> take({until, Cont1, M, F, Args}, S#s{buffer = Rest});
        _ -> {done, {error, F}, Rest}
    catch _:_ -> {done, {error, F}, Rest}
    end.

decoded(Bytes, #s{encoding = Encoding}) ->
    case unicode:characters_to_list(Bytes, Encoding) of
        L when is_list(L) -> L;
        _ -> {error, Encoding}
    end.

encoded([], _) -> <<>>;
encoded(Left, #s{encoding = unicode}) -> unicode:characters_to_binary(Left, unicode);
encoded(Left, #s{encoding = latin1}) -> list_to_binary(Left).

%% Text found by a function of the older kind is answered as the options say.
converted(Result, #s{binary = true}) when is_list(Result), Result =/= [] ->
    case io_lib:char_list(Result) of
        true -> unicode:characters_to_binary(Result, unicode);
        false -> Result
    end;
converted(Result, _) -> Result.

without_cr(B, At) when At > 0 ->
    case binary:at(B, At - 1) of
        $\r -> <<(binary:part(B, 0, At - 1))/binary, $\n>>;
        _ -> binary:part(B, 0, At + 1)
    end;
without_cr(B, At) -> binary:part(B, 0, At + 1).

%% get_chars of nothing
eof_or_empty(#s{buffer = <<>>, eof = true}) -> eof;
eof_or_empty(#s{binary = true}) -> <<>>;
eof_or_empty(_) -> [].

bytes_of_chars(_, 0, _, 0) -> enough;
bytes_of_chars(_, 0, _, Bytes) -> Bytes;
bytes_of_chars(B, N, latin1, 0) when byte_size(B) >= N -> N;
bytes_of_chars(_, _, latin1, _) -> more;
bytes_of_chars(B, N, unicode, At) ->
    case B of
        <<_:At/binary, C, _/binary>> ->
            case At + utf8_bytes(C) of
                Next when Next =< byte_size(B) -> bytes_of_chars(B, N - 1, unicode, Next);
                _ -> more
            end;
        _ -> more
    end.

utf8_bytes(C) when C < 16#C0 -> 1;
utf8_bytes(C) when C < 16#E0 -> 2;
utf8_bytes(C) when C < 16#F0 -> 3;
utf8_bytes(_) -> 4.

result(Bytes, #s{encoding = unicode, binary = true}, _) -> Bytes;
result(Bytes, #s{encoding = latin1, binary = true}, _) -> unicode:characters_to_binary(Bytes, latin1);
result(Bytes, #s{encoding = Encoding}, What) ->
    case unicode:characters_to_list(Bytes, Encoding) of
        L when is_list(L) -> L;
        _ -> {error, What}
    end.
