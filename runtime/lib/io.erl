%% SPDX-License-Identifier: Apache-2.0
%% The client side of the I/O protocol. A device is a pid, a registered name or
%% standard_io (the group leader). Every call is one request
%%   {io_request, From, ReplyAs, Request}  answered by  {io_reply, ReplyAs, Reply}.
%%
%% Output for the system's own server `user` is formatted by the caller, so
%% that the server only writes; to other servers the request carries the format
%% and its arguments, as the protocol has it.
-module(io).
-compile({no_auto_import, [put_chars/2]}).
%% OTP's module explains: by what this module says, or the device.
-define(ERRORS(Device, Reason),
    [{error_info, #{module => erl_stdlib_errors, cause => cause(Device, Reason)}}]).

-export([put_chars/1, put_chars/2, nl/0, nl/1, format/1, format/2, format/3, fwrite/1,
         fwrite/2, fwrite/3, write/1, write/2]).
-export([get_chars/2, get_chars/3, get_line/1, get_line/2, get_password/0,
         get_password/1, fread/2, fread/3, read/1, read/2, read/3, read/4,
         scan_erl_exprs/1, scan_erl_exprs/2, scan_erl_exprs/3, scan_erl_exprs/4,
         scan_erl_form/1, scan_erl_form/2, scan_erl_form/3, scan_erl_form/4,
         parse_erl_exprs/1, parse_erl_exprs/2, parse_erl_exprs/3, parse_erl_exprs/4,
         parse_erl_form/1, parse_erl_form/2, parse_erl_form/3, parse_erl_form/4]).
-export([columns/0, columns/1, rows/0, rows/1, getopts/0, getopts/1, setopts/1,
         setopts/2, request/1, request/2, requests/1, requests/2]).

-type device() :: atom() | pid().
-type format() :: atom() | string() | binary().
-export_type([device/0, format/0]).

%% Output

put_chars(Chars) ->
    case put_text(standard_io, Chars) of
        ok -> ok;
        {error, Reason} -> error(reason(Reason), [Chars], ?ERRORS(standard_io, Reason))
    end.

put_chars(Device, Chars) ->
    case put_text(Device, Chars) of
        ok -> ok;
        {error, Reason} -> error(reason(Reason), [Device, Chars], ?ERRORS(Device, Reason))
    end.

put_text(Device, Chars) -> request(Device, {put_chars, unicode, to_binary(Chars)}).

%% What is no character data is left for the server to complain about.
to_binary(Chars) when is_binary(Chars) -> Chars;
to_binary(Chars) ->
    try unicode:characters_to_binary(Chars, unicode) of
        B when is_binary(B) -> B;
        _ -> Chars
    catch error:_ -> Chars
    end.

nl() -> nl(standard_io).

nl(Device) ->
    case request(Device, {put_chars, unicode, <<$\n>>}) of
        ok -> ok;
        {error, Reason} -> error(reason(Reason), [Device], ?ERRORS(Device, Reason))
    end.

fwrite(Format) -> format(Format).
fwrite(Format, Args) -> format(Format, Args).
fwrite(Device, Format, Args) -> format(Device, Format, Args).

format(Format) ->
    case format_request(standard_io, Format, []) of
        ok -> ok;
        {error, Reason} -> error(reason(Reason), [Format], ?ERRORS(standard_io, Reason))
    end.

format(Format, Args) ->
    case format_request(standard_io, Format, Args) of
        ok -> ok;
        {error, Reason} -> error(reason(Reason), [Format, Args], ?ERRORS(standard_io, Reason))
    end.

format(Device, Format, Args) ->
    case format_request(Device, Format, Args) of
        ok -> ok;
        {error, Reason} -> error(reason(Reason), [Device, Format, Args], ?ERRORS(Device, Reason))
    end.

format_request(Device, Format, Args) ->
    case pid_of(Device) of
        undefined -> {error, arguments};
        Pid ->
            case is_own_server(Device, Pid) of
                true ->
                    try unicode:characters_to_binary(io_lib:format(Format, Args), unicode) of
                        Text when is_binary(Text) -> call(Pid, {put_chars, unicode, Text});
                        _ -> {error, arguments}
                    catch error:_ -> {error, arguments}
                    end;
                false ->
                    call(Pid, {put_chars, unicode, io_lib, format, [Format, Args]})
            end
    end.

is_own_server(standard_error, _) -> true;
is_own_server(_, Pid) -> whereis(user) =:= Pid.

write(Term) -> write(standard_io, Term).

write(Device, Term) ->
    case request(Device, {put_chars, unicode, to_binary(io_lib:write(Term))}) of
        ok -> ok;
        {error, Reason} -> error(reason(Reason), [Device, Term], ?ERRORS(Device, Reason))
    end.

reason(arguments) -> badarg;
reason(terminated) -> terminated;
reason(calling_self) -> calling_self;
reason({no_translation, _, _}) -> no_translation;
reason(_) -> badarg.

%% Input

get_chars(Prompt, N) -> get_chars(standard_io, Prompt, N).

get_chars(Device, Prompt, N) when is_integer(N), N >= 0 ->
    request(Device, {get_chars, unicode, Prompt, N}).

get_line(Prompt) -> get_line(standard_io, Prompt).

get_line(Device, Prompt) -> request(Device, {get_line, unicode, Prompt}).

get_password() -> get_password(standard_io).

get_password(Device) -> request(Device, {get_password, unicode}).

fread(Prompt, Format) -> fread(standard_io, Prompt, Format).

%% The device calls io_lib, which has that of an installed OTP: without one it is this call that is undefined.
fread(Device, Prompt, Format) ->
    io_lib_fread = io_lib_fread:module_info(module),
    request(Device, {get_until, unicode, Prompt, io_lib, fread, [Format]}).

%% A term, ended by a full stop.
read(Prompt) -> read(standard_io, Prompt).

read(Device, Prompt) -> io_input:term(Device, Prompt).

read(Device, Prompt, Location) -> read(Device, Prompt, Location, []).

read(Device, Prompt, Location, Options) -> io_input:parsed(Device, Prompt, Location, Options, parse_term).

scan(Device, Prompt, Location, Options) ->
    request(Device, {get_until, unicode, Prompt, erl_scan, tokens, [Location, Options]}).

scan_erl_exprs(Prompt) -> scan_erl_exprs(standard_io, Prompt, 1).
scan_erl_exprs(Device, Prompt) -> scan_erl_exprs(Device, Prompt, 1).
scan_erl_exprs(Device, Prompt, Location) -> scan_erl_exprs(Device, Prompt, Location, []).
scan_erl_exprs(Device, Prompt, Location, Options) -> scan(Device, Prompt, Location, Options).

scan_erl_form(Prompt) -> scan_erl_form(standard_io, Prompt, 1).
scan_erl_form(Device, Prompt) -> scan_erl_form(Device, Prompt, 1).
scan_erl_form(Device, Prompt, Location) -> scan_erl_form(Device, Prompt, Location, []).
scan_erl_form(Device, Prompt, Location, Options) -> scan(Device, Prompt, Location, Options).

parse_erl_exprs(Prompt) -> parse_erl_exprs(standard_io, Prompt, 1).
parse_erl_exprs(Device, Prompt) -> parse_erl_exprs(Device, Prompt, 1).
parse_erl_exprs(Device, Prompt, Location) -> parse_erl_exprs(Device, Prompt, Location, []).
parse_erl_exprs(Device, Prompt, Location, Options) ->
    io_input:parsed(Device, Prompt, Location, Options, parse_exprs).

parse_erl_form(Prompt) -> parse_erl_form(standard_io, Prompt, 1).
parse_erl_form(Device, Prompt) -> parse_erl_form(Device, Prompt, 1).
parse_erl_form(Device, Prompt, Location) -> parse_erl_form(Device, Prompt, Location, []).
parse_erl_form(Device, Prompt, Location, Options) ->
    io_input:parsed(Device, Prompt, Location, Options, parse_form).

%% Properties of the device

columns() -> columns(standard_io).

columns(Device) -> geometry(Device, columns).

rows() -> rows(standard_io).

rows(Device) -> geometry(Device, rows).

geometry(Device, What) ->
    case request(Device, {get_geometry, What}) of
        N when is_integer(N), N > 0 -> {ok, N};
        _ -> {error, enotsup}
    end.

getopts() -> getopts(standard_io).

getopts(Device) -> request(Device, getopts).

setopts(Options) -> setopts(standard_io, Options).

setopts(Device, Options) -> request(Device, {setopts, Options}).

cause(_, Reason) when Reason =:= calling_self; Reason =:= terminated -> {?MODULE, Reason};
cause(Device, arguments) ->
    case pid_of(Device) of
        undefined -> {?MODULE, arguments};
        _ -> {device, arguments}
    end;
cause(_, Reason) -> {device, Reason}.

%% Requests

request(Request) -> request(standard_io, Request).

request(Device, Request) ->
    case pid_of(Device) of
        undefined -> {error, arguments};
        Pid -> call(Pid, Request)
    end.

requests(Requests) -> requests(standard_io, Requests).

requests(Device, Requests) -> request(Device, {requests, [plain(R) || R <- Requests]}).

plain(nl) -> {put_chars, unicode, <<$\n>>};
plain(Request) -> Request.

pid_of(standard_io) -> group_leader();
pid_of(Pid) when is_pid(Pid) -> Pid;
pid_of(Name) when is_atom(Name) -> whereis(Name);
pid_of(_) -> undefined.

call(Pid, _) when Pid =:= self() -> {error, calling_self};
call(Pid, Request) ->
    Ref = monitor(process, Pid),
    Pid ! {io_request, self(), Ref, Request},
    receive
        {io_reply, Ref, Reply} ->
            demonitor(Ref, [flush]),
            Reply;
        {'DOWN', Ref, _, _, _} ->
            %% A reply may have been sent before the server ended.
            receive
                {io_reply, Ref, Reply} -> Reply
            after 0 -> {error, terminated}
            end
    end.
