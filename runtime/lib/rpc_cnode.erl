%% Group leader of a call that a node in C has made and whose output it wants: what is printed goes there as {rex_stdout, Bytes}.
%% There is no input.
-module(rpc_cnode).

-export([start/1, stop/2]).

start(Caller) -> spawn_link(fun() -> loop(Caller) end).

%% Runs the function when all that was printed has been sent on.
stop(Leader, Last) ->
    Ref = make_ref(),
    Leader ! {stop, self(), Ref, Last},
    receive Ref -> ok end.

loop(Caller) ->
    receive
        {io_request, From, ReplyAs, Request} ->
            From ! {io_reply, ReplyAs, request(Request, Caller)},
            loop(Caller);
        {stop, From, Ref, Last} ->
            Last(),
            From ! Ref;
        _ -> loop(Caller)
    end.

request({put_chars, Encoding, Chars}, Caller) ->
    case unicode:characters_to_binary(Chars, Encoding, utf8) of
        Bytes when is_binary(Bytes) ->
            Caller ! {rex_stdout, Bytes},
            ok;
        Error -> {error, Error}
    end;
request({put_chars, Encoding, M, F, A}, Caller) ->
    try apply(M, F, A) of
        Chars -> request({put_chars, Encoding, Chars}, Caller)
    catch _:_ -> {error, F}
    end;
request({requests, Requests}, Caller) ->
    lists:foldl(fun(Request, ok) -> request(Request, Caller); (_, Error) -> Error end, ok, Requests);
request(Request, _) ->
    Known = [get_until, get_chars, get_line, get_geometry, setopts, getopts, get_password],
    case lists:member(case is_tuple(Request) of true -> element(1, Request); false -> Request end, Known) of
        true -> {error, enotsup};
        false -> {error, request}
    end.
