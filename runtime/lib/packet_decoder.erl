%% erlang:decode_packet/3 behind its check of arguments: the first packet of some bytes.
%% total/5 tells how long the packet is, body/2 what is answered for it.
-module(packet_decoder).

-export([decode/5]).

%% Max and Cut: packet_size and line_length, 0 for no limit.
decode(Type, Bits, Max, Cut, Delimiter) ->
    Size = bit_size(Bits) div 8,
    <<Bytes:Size/binary, _/bits>> = Bits,
    case total(Type, Bytes, Max, Cut, Delimiter) of
        more -> {more, undefined};
        error -> {error, invalid};
        N when N > Size -> {more, N};
        N ->
            <<Packet:N/binary, Rest/bits>> = Bits,
            {ok, body(Type, Packet), Rest}
    end.

%% Bytes of the packet with its header; `more`: not known yet.
total(raw, <<_, _/binary>> = B, _, _, _) -> byte_size(B);
total(1, <<N, _/binary>>, Max, _, _) -> whole(1, N, Max);
total(2, <<N:16, _/binary>>, Max, _, _) -> whole(2, N, Max);
total(4, <<N:32, _/binary>>, Max, _, _) -> whole(4, N, Max);
total(sunrm, <<_:1, N:31, _/binary>>, Max, _, _) -> whole(4, N, Max);
total(cdr, <<"GIOP", _:16, _:7, 0:1, _, N:32, _/binary>>, Max, _, _) -> whole(12, N, Max);
total(cdr, <<"GIOP", _:16, _:7, 1:1, _, N:32/little, _/binary>>, Max, _, _) -> whole(12, N, Max);
total(cdr, <<_:12/binary, _/binary>>, _, _, _) -> error;
total(fcgi, <<1, _:24, N:16, Padding, _, _/binary>>, Max, _, _) -> whole(8, N + Padding, Max);
total(fcgi, <<_:8/binary, _/binary>>, _, _, _) -> error;
total(tpkt, <<3, _, N:16, _/binary>>, Max, _, _) -> whole(4, N - 4, Max);
total(tpkt, <<_:4/binary, _/binary>>, _, _, _) -> error;
total(ssl_tls, <<1:1, N:15, 1, _:16, _/binary>>, Max, _, _) -> whole(5, N - 3, Max);  % a client's hello of version 2
total(ssl_tls, <<_:24, N:16, _/binary>>, Max, _, _) -> whole(5, N, Max);
total(asn1, <<_:3, 31:5, T/binary>> = B, Max, _, _) -> asn1(after_tag(T), B, Max);
total(asn1, <<_, T/binary>> = B, Max, _, _) -> asn1(T, B, Max);
total(line, B, Max, Cut, Delimiter) -> line(B, Max, Cut, Delimiter);
total(Http, B, Max, Cut, _) when Http =:= http; Http =:= http_bin -> http(B, 0, false, limit(Max, Cut));
total(Http, B, Max, Cut, _) when Http =:= httph; Http =:= httph_bin -> http(B, 0, true, limit(Max, Cut));
total(_, _, _, _, _) -> more.

whole(Header, N, Max) when N < 0; Max =/= 0, N > Max; Header + N >= 1 bsl 31 -> error;
whole(Header, N, _) -> Header + N.

%% A tag of several bytes ends with one below 128.
after_tag(<<1:1, _:7, T/binary>>) -> after_tag(T);
after_tag(<<_, T/binary>>) -> T;
after_tag(<<>>) -> <<>>.

asn1(<<0:1, N:7, T/binary>>, B, Max) -> whole(byte_size(B) - byte_size(T), N, Max);
asn1(<<1:1, K:7, T/binary>>, _, _) when byte_size(T) < K -> more;
asn1(<<1:1, K:7, T/binary>>, B, Max) when K =< 4 ->
    <<N:K/unit:8, _/binary>> = T,
    whole(byte_size(B) - byte_size(T) + K, N, Max);
asn1(<<>>, _, _) -> more;
asn1(_, _, _) -> error.

line(B, Max, Cut, Delimiter) ->
    case binary:match(B, <<Delimiter>>) of
        nomatch when Max =/= 0, byte_size(B) > Max -> error;
        nomatch when Cut =/= 0, byte_size(B) >= Cut -> Cut;
        nomatch -> more;
        {At, 1} when Max =/= 0, At + 1 > Max -> error;
        {At, 1} when Cut =/= 0, At + 1 > Cut -> Cut;
        {At, 1} -> At + 1
    end.

limit(0, Cut) -> Cut;
limit(Max, _) -> Max.

%% A header goes on in lines that begin with a space, so the byte after it must be known.
http(<<"\n">>, _, _, _) -> 1;
http(<<"\r\n">>, _, _, _) -> 2;
http(B, From, Folded, Max) ->
    Size = byte_size(B),
    case binary:match(B, <<"\n">>, [{scope, {From, Size - From}}]) of
        nomatch when Max =/= 0, Size >= Max -> error;
        nomatch -> more;
        {At, 1} ->
            <<_:At/binary, _, T/binary>> = B,
            case T of
                <<C, _/binary>> when Folded, At > 1, C =:= $\s orelse C =:= $\t -> http(B, At + 1, Folded, Max);
                _ when Max =/= 0, At + 1 > Max -> error;
                <<>> when Folded -> more;
                _ -> At + 1
            end
    end.

body(1, <<_, B/binary>>) -> B;
body(2, <<_:16, B/binary>>) -> B;
body(4, <<_:32, B/binary>>) -> B;
body(fcgi, <<_:48, Padding, _/binary>> = B) -> binary:part(B, 0, byte_size(B) - Padding);
body(ssl_tls, <<1:1, _:15, 1, Hello/binary>>) ->
    <<Major, Minor, _/binary>> = Hello,
    {ssl_tls, [], 22, {Major, Minor}, <<1, (byte_size(Hello)):24, Hello/binary>>};
body(ssl_tls, <<Type, Major, Minor, _:16, B/binary>>) -> {ssl_tls, [], Type, {Major, Minor}, B};
body(http, B) -> http_packet(fun start_line/2, B, fun binary_to_list/1);
body(http_bin, B) -> http_packet(fun start_line/2, B, fun(T) -> T end);
body(httph, B) -> http_packet(fun header/2, B, fun binary_to_list/1);
body(httph_bin, B) -> http_packet(fun header/2, B, fun(T) -> T end);
body(_, B) -> B.

http_packet(Parse, B, Text) ->
    Size = byte_size(B),
    Line = case B of
               <<L:(Size - 2)/binary, $\r, _>> -> L;
               <<L:(Size - 1)/binary, $\n>> -> L;
               _ -> B
           end,
    try Parse(Line, Text)
    catch throw:invalid -> {http_error, Text(B)}
    end.

start_line(<<"HTTP/", T/binary>>, Text) ->
    {Version, T1} = version(T),
    {Status, T2} = digits(spaces(T1), 0),
    Phrase = case T2 of
                 <<>> -> <<>>;
                 _ -> spaces(T2)
             end,
    {http_response, Version, Status, Text(Phrase)};
start_line(Line, Text) ->
    {Method, T} = token(Line, 0),
    Method =:= <<>> andalso throw(invalid),
    {Uri, T1} = word(spaces(T)),
    Version = case T1 of
                  <<>> -> {0, 9};
                  <<"HTTP/", V:3/binary, More/binary>> -> element(1, version(<<V/binary, More/binary>>));
                  _ -> throw(invalid)
              end,
    {http_request, method(Method, Text), uri(Uri, Text), Version}.

header(<<>>, _) -> http_eoh;
header(Line, Text) ->
    case token(Line, 0) of
        {Name, <<$:, Value/binary>>} ->
            {Index, Field} = field(Name, Text),
            {http_header, Index, Field, Text(Name), Text(skip_spaces(Value))};
        _ -> throw(invalid)
    end.

version(T) ->
    case number(T) of
        {Major, <<$., T1/binary>>} ->
            {Minor, T2} = number(T1),
            {{Major, Minor}, T2};
        _ -> throw(invalid)
    end.

number(<<C, _/binary>> = T) when C >= $0, C =< $9 -> digits(T, 0);
number(_) -> throw(invalid).

digits(<<C, T/binary>>, N) when C >= $0, C =< $9 -> digits(T, N * 10 + C - $0);
digits(T, N) -> {N, T}.

%% At least one.
spaces(<<C, T/binary>>) when C =:= $\s; C =:= $\t -> skip_spaces(T);
spaces(_) -> throw(invalid).

skip_spaces(<<C, T/binary>>) when C =:= $\s; C =:= $\t -> skip_spaces(T);
skip_spaces(T) -> T.

token(B, N) ->
    case B of
        <<_:N/binary, C, _/binary>> when C > 32, C < 128 ->
            case lists:member(C, "()<>@,;:\\\"/[]?={}") of
                true -> split_binary(B, N);
                false -> token(B, N + 1)
            end;
        _ -> split_binary(B, N)
    end.

%% Up to the next space, and what follows the spaces.
word(<<>>) -> throw(invalid);
word(B) ->
    case binary:match(B, [<<" ">>, <<"\t">>]) of
        nomatch -> {B, <<>>};
        {At, 1} ->
            {Word, T} = split_binary(B, At),
            {Word, skip_spaces(T)}
    end.

method(Method, Text) ->
    Known = existing_atom(Method),
    case lists:member(Known, ['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'TRACE']) of
        true -> Known;
        false -> Text(Method)
    end.

uri(<<"*">>, _) -> '*';
uri(B, Text) when byte_size(B) =< 1; binary_part(B, 0, 1) =:= <<"/">> -> {abs_path, Text(B)};
uri(B, Text) ->
    case binary:split(B, <<":">>) of
        [Scheme, <<"//", T/binary>>] when byte_size(Scheme) =:= 4; byte_size(Scheme) =:= 5 ->
            case [C bor 32 || <<C>> <= Scheme] of
                "http" -> absolute_uri(http, T, Text);
                "https" -> absolute_uri(https, T, Text);
                _ -> {scheme, Text(Scheme), Text(<<"//", T/binary>>)}
            end;
        [Scheme, T] -> {scheme, Text(Scheme), Text(T)};
        [_] -> Text(B)
    end.

absolute_uri(Scheme, B, Text) ->
    {Authority, Path} = case binary:match(B, <<"/">>) of
                            nomatch -> {B, <<"/">>};
                            {At, 1} -> split_binary(B, At)
                        end,
    {Host, Port} = case binary:split(Authority, <<":">>) of
                       [H, P] -> {H, port(digits(P, 0))};
                       [H] -> {H, undefined}
                   end,
    {absoluteURI, Scheme, Text(Host), Port, Text(Path)}.

port({N, <<>>}) when N > 0 -> N;
port(_) -> undefined.

%% Known fields are atoms and have a number, their place in this list.
-define(FIELDS, ['Cache-Control', 'Connection', 'Date', 'Pragma', 'Transfer-Encoding', 'Upgrade', 'Via', 'Accept', 'Accept-Charset',
                 'Accept-Encoding', 'Accept-Language', 'Authorization', 'From', 'Host', 'If-Modified-Since', 'If-Match', 'If-None-Match',
                 'If-Range', 'If-Unmodified-Since', 'Max-Forwards', 'Proxy-Authorization', 'Range', 'Referer', 'User-Agent', 'Age',
                 'Location', 'Proxy-Authenticate', 'Public', 'Retry-After', 'Server', 'Vary', 'Warning', 'Www-Authenticate', 'Allow',
                 'Content-Base', 'Content-Encoding', 'Content-Language', 'Content-Length', 'Content-Location', 'Content-Md5',
                 'Content-Range', 'Content-Type', 'Etag', 'Expires', 'Last-Modified', 'Accept-Ranges', 'Set-Cookie', 'Set-Cookie2',
                 'X-Forwarded-For', 'Cookie', 'Keep-Alive', 'Proxy-Connection']).
-define(LONGEST, 50).

field(Name, Text) when byte_size(Name) > ?LONGEST -> {0, Text(Name)};
field(Name, Text) ->
    Proper = capitals(Name, upper, <<>>),
    Known = existing_atom(Proper),
    case place(Known, ?FIELDS, 1) of
        0 -> {0, Text(Proper)};
        N -> {N, Known}
    end.

place(X, [X | _], N) -> N;
place(X, [_ | Xs], N) -> place(X, Xs, N + 1);
place(_, [], _) -> 0.

existing_atom(B) ->
    try binary_to_existing_atom(B, latin1)
    catch error:badarg -> none
    end.

%% Content-type as Content-Type.
capitals(<<C, T/binary>>, upper, Acc) when C >= $a, C =< $z -> capitals(T, lower, <<Acc/binary, (C - 32)>>);
capitals(<<C, T/binary>>, lower, Acc) when C >= $A, C =< $Z -> capitals(T, lower, <<Acc/binary, (C + 32)>>);
capitals(<<$-, T/binary>>, lower, Acc) -> capitals(T, upper, <<Acc/binary, $->>);
capitals(<<C, T/binary>>, _, Acc) -> capitals(T, lower, <<Acc/binary, C>>);
capitals(<<>>, _, Acc) -> Acc.
