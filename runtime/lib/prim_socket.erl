%% Sockets as the system has them, below module `socket`: names become numbers here, and what the
%% native functions (drivers/socket) refuse is said in the words of the caller's arguments. Functions
%% and results are those of OTP's module of that name.
%%
%% A native function that would have to wait answers `select`; when it is worth while to call it again
%% a message {'$socket', Socket, select, Handle} comes.
-module(prim_socket).

-export([on_load/0, on_load/1, init/0]).
-export([info/0, info/1, debug/1, socket_debug/1, use_registry/1, supports/0, supports/1, supports/2,
         is_supported/1, is_supported/2]).
-export([open/2, open/4, bind/2, bind/3, connect/1, connect/3, listen/2, accept/2, close/1, finalize_close/1,
         shutdown/2, sockname/1, peername/1, cancel/3]).
-export([send/4, sendto/4, sendto/5, sendmsg/4, sendmsg/5, sendfile/4, sendfile/5, sendfile_deferred_close/1,
         recv/4, recvfrom/4, recvmsg/5]).
-export([setopt/3, setopt_native/3, getopt/2, getopt_native/3, ioctl/2, ioctl/3, ioctl/4]).
-export([enc_sockaddr/1, p_get/1]).

-nifs([nif_info/0, nif_info/1, nif_supports/0, nif_supports/1, nif_command/1, nif_open/2, nif_open/4, nif_bind/2,
       nif_connect/1, nif_connect/3, nif_listen/2, nif_accept/2, nif_send/4, nif_sendto/5, nif_sendmsg/5,
       nif_sendfile/5, nif_sendfile/4, nif_sendfile/1, nif_recv/4, nif_recvfrom/4, nif_recvmsg/5, nif_close/1,
       nif_finalize_close/1, nif_shutdown/2, nif_setopt/5, nif_getopt/3, nif_getopt/4, nif_sockname/1,
       nif_peername/1, nif_ioctl/2, nif_ioctl/3, nif_ioctl/4, nif_cancel/3]).

-define(MAX_PATH, 255).

%% Called when the module is loaded.
on_load() -> on_load(#{}).

on_load(Extra) when is_map(Extra) ->
    Registry = erts_internal:spawn_system_process(socket_registry, start, []),
    Info = case os:getenv("ESOCK_USE_SOCKET_REGISTRY") of
               "true" -> Extra#{use_registry => true};
               "false" -> Extra#{use_registry => false};
               _ -> Extra
           end,
    case erlang:load_nif(atom_to_list(?MODULE), Info#{registry => Registry}) of
        ok -> init();
        Error -> Error
    end.

%% The tables of names: persistent terms {prim_socket, Table}, maps from names to numbers.
init() ->
    Protocols = maps:from_list(lists:append([protocol_rows(Row) || Row <- nif_supports(protocols)])),
    p_put(protocols, Protocols),
    p_put(options, maps:from_list([Row || Level <- nif_supports(options), Row <- option_rows(Level, Protocols)])),
    [p_put(Table, maps:from_list(nif_supports(Table))) || Table <- [ioctl_requests, ioctl_flags, msg_flags]],
    ok.

%% The number leads to the names too.
protocol_rows({Names, Number}) -> [{Number, Names} | [{Name, Number} || Name <- Names]].

%% {Level, Option} for all names of the level; `undefined` when the option is not offered.
option_rows({Level, Options}, Protocols) ->
    Names = case Level of
                socket -> [socket];
                _ -> maps:get(Level, Protocols)
            end,
    [case Option of
         {Atom, Number} -> {{Name, Atom}, {Level, Number}};
         Atom -> {{Name, Atom}, undefined}
     end || Name <- Names, Option <- Options].

p_put(Table, Value) -> persistent_term:put({?MODULE, Table}, Value).
p_get(Table) -> persistent_term:get({?MODULE, Table}).

%% ---- About sockets ----

info() -> nif_info().

info(Ref) ->
    #{protocol := Number} = Info = nif_info(Ref),
    Info#{protocol := protocol_name(Number)}.

protocol_name(Number) ->
    case p_get(protocols) of
        #{Number := [Name | _]} -> Name;
        _ -> Number
    end.

debug(On) -> nif_command(#{command => debug, data => On}).
socket_debug(On) -> nif_command(#{command => socket_debug, data => On}).
use_registry(On) -> nif_command(#{command => use_registry, data => On}).

supports() -> nif_supports().

supports(Table) when Table =:= protocols; Table =:= ioctl_requests; Table =:= ioctl_flags; Table =:= msg_flags;
                     Table =:= options ->
    maps:fold(fun(Number, _, Rows) when is_integer(Number) -> Rows;
                 (Name, Value, Rows) -> [{Name, is_offered(Table, Name, Value)} | Rows]
              end, [], p_get(Table));
supports(Key) -> nif_supports(Key).

supports(options, Level) -> [{Option, Is} || {{L, Option}, Is} <- supports(options), L =:= Level];
supports(_, _) -> [].

is_supported(Key) -> proplists:get_value(Key, nif_supports(), false).

is_supported(Table, Name) when Table =:= protocols; Table =:= ioctl_requests ->
    is_atom(Name) andalso is_in(Table, Name);
is_supported(Table, Name) when Table =:= ioctl_flags; Table =:= msg_flags; Table =:= options -> is_in(Table, Name);
is_supported(Table, Key) -> proplists:get_value(Key, nif_supports(Table), false).

is_in(Table, Name) ->
    case p_get(Table) of
        #{Name := Value} -> is_offered(Table, Name, Value);
        _ -> false
    end.

%% Who peeks with an offset would never see the end.
is_offered(options, {socket, peek_off}, _) -> false;
is_offered(options, _, Value) -> Value =/= undefined;
is_offered(Table, _, Value) when Table =:= ioctl_flags; Table =:= msg_flags -> Value =/= 0;
is_offered(_, _, _) -> true.

%% ---- From the opening to the end ----

open(Fd, Opts) when is_map(Opts) ->
    encoded(fun() ->
                    Encoded = case Opts of
                                  #{protocol := Protocol} -> Opts#{protocol := enc_protocol(Protocol)};
                                  _ -> Opts
                              end,
                    case nif_open(Fd, Encoded) of
                        {invalid, Option} -> throw({invalid, {options, Option, Opts}});
                        Result -> Result
                    end
            end).

open(Domain, Type, Protocol, Opts) when is_map(Opts) ->
    encoded(fun() ->
                    Encoded = case Opts of
                                  #{netns := Path} when is_list(Path) -> Opts#{netns := enc_path(Path)};
                                  _ -> Opts
                              end,
                    case nif_open(Domain, Type, enc_protocol(Protocol), Encoded) of
                        {invalid, domain} -> throw({invalid, {domain, Domain}});
                        {invalid, type} -> throw({invalid, {type, Type}});
                        Result -> Result
                    end
            end).

bind(Ref, Addr) -> encoded(fun() -> with_address(Addr, nif_bind(Ref, enc_sockaddr(Addr))) end).

bind(Ref, Addrs, Action) when is_list(Addrs) ->
    encoded(fun() -> nif_bind(Ref, [enc_sockaddr(Addr) || Addr <- Addrs], Action) end).

connect(Ref, Handle, Addr) ->
    encoded(fun() -> with_address(Addr, nif_connect(Ref, Handle, enc_sockaddr(Addr))) end).

connect(Ref) -> nif_connect(Ref).
listen(Ref, Backlog) -> nif_listen(Ref, Backlog).
accept(Ref, Handle) -> nif_accept(Ref, Handle).
close(Ref) -> nif_close(Ref).
finalize_close(Ref) -> nif_finalize_close(Ref).
shutdown(Ref, How) -> nif_shutdown(Ref, How).
sockname(Ref) -> nif_sockname(Ref).
peername(Ref) -> nif_peername(Ref).
cancel(Ref, Operation, Handle) -> nif_cancel(Ref, Operation, Handle).

%% What cannot be encoded is thrown.
encoded(Call) ->
    try Call()
    catch throw:Reason -> {error, Reason}
    end.

with_address(Addr, {invalid, sockaddr}) -> {error, {invalid, {sockaddr, Addr}}};
with_address(_, Result) -> Result.

%% ---- Writing ----
%%
%% With `select` goes what the same call needs to go on: {select, Cont} when nothing has been taken,
%% otherwise {select, Rest, Cont}.

send(Ref, Bin, Flags, Handle) when is_integer(Flags) -> sent(nif_send(Ref, Bin, Flags, Handle), Bin, Flags);
send(Ref, Bin, Flags, Handle) ->
    try enc_msg_flags(Flags) of
        Encoded -> sent(nif_send(Ref, Bin, Encoded, Handle), Bin, Encoded)
    catch throw:Reason -> {error, Reason}
    end.

sendto(Ref, Bin, To, Flags, Handle) ->
    try {To, enc_sockaddr(To), enc_msg_flags(Flags)} of
        Cont -> sendto(Ref, Bin, Cont, Handle)
    catch throw:Reason -> {error, Reason}
    end.

sendto(Ref, Bin, {To, Addr, Flags} = Cont, Handle) ->
    with_address(To, sent(nif_sendto(Ref, Bin, Addr, Flags, Handle), Bin, Cont)).

sent({ok, Written}, Bin, _) -> {ok, rest(Written, Bin)};
sent(select, _, Cont) -> {select, Cont};
sent({select, Written}, Bin, Cont) -> {select, rest(Written, Bin), Cont};
sent(Result, _, _) -> Result.

rest(Written, Bin) ->
    <<_:Written/binary, Rest/binary>> = Bin,
    Rest.

sendmsg(Ref, Msg, Flags, Handle, Iov) ->
    try {Msg, enc_msg(Msg), enc_msg_flags(Flags)} of
        Cont -> sendmsg(Ref, Iov, Cont, Handle)
    catch throw:Reason -> {error, Reason}
    end.

sendmsg(Ref, Iov, Cont, Handle) -> sendmsg(Ref, Iov, Cont, Handle, none, Iov).

%% Before: `some` when a part of a long list has been taken already.
sendmsg(Ref, Iov, {Msg, Encoded, Flags} = Cont, Handle, Before, Whole) ->
    case nif_sendmsg(Ref, Encoded, Flags, Handle, Iov) of
        {iov, Written} -> sendmsg(Ref, rest_iov(Written, Iov), Cont, Handle, some, Whole);
        {ok, Written} -> {ok, rest_iov(Written, Iov)};
        {select, Written} -> {select, rest_iov(Written, Iov), Cont};
        select when Before =:= some -> {select, Iov, Cont};
        select -> {select, Cont};
        {invalid, iov} -> msg_error({invalid, {iov, wrong_iov(Iov, 0)}}, Iov, Before);
        {invalid, Part} -> msg_error({invalid, {msg, Part, maps:with([Part], Msg)}}, Iov, Before);
        {error, Reason} -> msg_error(Reason, Iov, Before);
        ok -> ok
    end.

msg_error(Reason, _, none) -> {error, Reason};
msg_error(Reason, Iov, some) -> {error, {Reason, Iov}}.

rest_iov(0, []) -> [];
rest_iov(Written, [Bin | Iov]) when Written >= byte_size(Bin) -> rest_iov(Written - byte_size(Bin), Iov);
rest_iov(Written, [Bin | Iov]) -> [rest(Written, Bin) | Iov].

%% What is wrong with it, and after how many elements.
wrong_iov([Bin | Iov], N) when is_binary(Bin) -> wrong_iov(Iov, N + 1);
wrong_iov([_ | _], N) -> {element_not_binary, N + 1};
wrong_iov([], N) -> {list, N};
wrong_iov(_, N) -> {improper_list, N}.

sendfile(Ref, File, Offset, Count, Handle) -> nif_sendfile(Ref, Handle, Offset, Count, File).
sendfile(Ref, Offset, Count, Handle) -> nif_sendfile(Ref, Handle, Offset, Count).
sendfile_deferred_close(Ref) -> nif_sendfile(Ref).

%% ---- Reading ----

recv(Ref, Length, [], Handle) -> nif_recv(Ref, Length, 0, Handle);
recv(Ref, Length, Flags, Handle) -> encoded(fun() -> nif_recv(Ref, Length, enc_msg_flags(Flags), Handle) end).

recvfrom(Ref, Size, Flags, Handle) -> encoded(fun() -> nif_recvfrom(Ref, Size, enc_msg_flags(Flags), Handle) end).

recvmsg(Ref, Size, ControlSize, Flags, Handle) ->
    case encoded(fun() -> nif_recvmsg(Ref, Size, ControlSize, enc_msg_flags(Flags), Handle) end) of
        {ok, #{ctrl := [_ | _] = Messages} = Msg} -> {ok, Msg#{ctrl := [dec_cmsg(M) || M <- Messages]}};
        Result -> Result
    end.

dec_cmsg(#{level := Level} = Message) when is_integer(Level) -> Message#{level := protocol_name(Level)};
dec_cmsg(Message) -> Message.

%% ---- Options ----

setopt(Ref, Option, Value) -> setopt(Ref, Option, Value, 0).
setopt_native(Ref, Option, Value) -> setopt(Ref, Option, Value, 1).

setopt(Ref, Option, Value, Native) ->
    case enc_sockopt(Option, Native) of
        {Level, Number} ->
            case nif_setopt(Ref, Level, Number, Value, Native) of
                {invalid, value} -> {error, {invalid, {socket_option, Option, Value}}};
                {invalid, socket_option} -> wrong_option(Option);
                Result -> Result
            end;
        undefined -> wrong_option(Option)
    end.

getopt(Ref, Option) ->
    case enc_sockopt(Option, 0) of
        {Level, Number} ->
            case nif_getopt(Ref, Level, Number) of
                {invalid, socket_option} -> wrong_option(Option);
                {ok, Protocol} when Option =:= {socket, protocol} -> {ok, protocol_name(Protocol)};
                Result -> Result
            end;
        undefined -> wrong_option(Option)
    end.

getopt_native(Ref, Option, Spec) ->
    encoded(fun() ->
                    case enc_sockopt(Option, 1) of
                        {Level, Number} ->
                            case nif_getopt(Ref, Level, Number, Spec) of
                                {invalid, value} -> {error, {invalid, {value_spec, Spec}}};
                                Result -> Result
                            end;
                        undefined -> wrong_option(Option)
                    end
            end).

wrong_option(Option) -> {error, {invalid, {socket_option, Option}}}.

%% {Level, Number}; undefined when there is none. Native: numbers are taken as they are.
enc_sockopt({otp, Option}, 0) ->
    case otp_option(Option) of
        none -> undefined;
        Number -> {otp, Number}
    end;
enc_sockopt({Level, Number} = Option, 1) when is_integer(Level), is_integer(Number) -> Option;
enc_sockopt({socket, Number} = Option, 1) when is_integer(Number) -> Option;
enc_sockopt({Level, Number}, 1) when is_atom(Level), is_integer(Number) ->
    case p_get(protocols) of
        #{Level := LevelNumber} -> {LevelNumber, Number};
        _ -> undefined
    end;
enc_sockopt({Level, Name} = Option, _) when is_atom(Level), is_atom(Name) -> maps:get(Option, p_get(options), undefined);
enc_sockopt(Option, _) -> throw({invalid, {socket_option, Option}}).

%% The numbers of drivers/socket/otp_options.cpp.
otp_option(debug) -> 1001;
otp_option(iow) -> 1002;
otp_option(controlling_process) -> 1003;
otp_option(rcvbuf) -> 1004;
otp_option(rcvctrlbuf) -> 1006;
otp_option(sndctrlbuf) -> 1007;
otp_option(fd) -> 1008;
otp_option(meta) -> 1009;
otp_option(use_registry) -> 1010;
otp_option(domain) -> 1999;
otp_option(_) -> none.

%% ---- Network interfaces ----

ioctl(Ref, Request) -> ioctl_as(Request, fun(Number) -> nif_ioctl(Ref, Number) end).
ioctl(Ref, Request, Arg) -> ioctl_as(Request, fun(Number) -> nif_ioctl(Ref, Number, Arg) end).

ioctl(Ref, sifflags, Name, Flags) -> ioctl_as(sifflags, fun(Number) -> nif_ioctl(Ref, Number, Name, enc_ioctl_flags(Flags)) end);
ioctl(Ref, Request, Arg1, Arg2) -> ioctl_as(Request, fun(Number) -> nif_ioctl(Ref, Number, Arg1, Arg2) end).

ioctl_as(Number, Call) when is_integer(Number) -> Call(Number);
ioctl_as(Request, Call) ->
    case p_get(ioctl_requests) of
        #{Request := Number} -> Call(Number);
        _ -> {error, {invalid, {ioctl_request, Request}}}
    end.

enc_ioctl_flags(Flags) ->
    Table = p_get(ioctl_flags),
    encoded(fun() ->
                    maps:fold(fun(Flag, On, Encoded) when is_map_key(Flag, Table), is_boolean(On) ->
                                      Encoded#{maps:get(Flag, Table) => On};
                                 (Flag, On, _) when is_boolean(On) -> throw({invalid, {ioctl_flag, Flag}});
                                 (Flag, On, _) -> throw({invalid, {ioctl_flag, {Flag, On}}})
                              end, #{}, Flags)
            end).

%% ---- Arguments ----

enc_protocol({raw, Number}) when is_integer(Number) -> Number;
enc_protocol(default) -> 0;
enc_protocol(Number) when is_integer(Number) -> Number;
enc_protocol(Name) when is_atom(Name) ->
    case p_get(protocols) of
        #{Name := Number} -> Number;
        _ -> throw({invalid, {protocol, Name}})
    end;
enc_protocol(Protocol) -> error({invalid, {protocol, Protocol}}).

enc_sockaddr(#{family := local} = Addr) ->
    Path = local_path(Addr),
    filled_in(Addr#{path => Path}, #{family => local, path => <<>>});
enc_sockaddr(#{family := Family} = Addr) ->
    case sockaddr_defaults(Family) of
        none -> Addr;
        Defaults -> filled_in(Addr, Defaults)
    end;
enc_sockaddr(#{} = Addr) -> throw({invalid, {sockaddr, family, Addr}});
enc_sockaddr(Addr) -> error({invalid, {sockaddr, Addr}}).

sockaddr_defaults(inet) -> #{family => inet, port => 0, addr => any};
sockaddr_defaults(inet6) -> #{family => inet6, port => 0, addr => any, flowinfo => 0, scope_id => 0};
sockaddr_defaults(unspec) -> #{family => unspec, addr => <<>>};
sockaddr_defaults(Number) when is_integer(Number) -> #{family => Number, addr => <<>>};
sockaddr_defaults(_) -> none.

filled_in(Addr, Defaults) ->
    case maps:keys(maps:without(maps:keys(Defaults), Addr)) of
        [] -> maps:merge(Defaults, Addr);
        Wrong -> throw({invalid, {sockaddr, {keys, lists:reverse(Wrong)}, Addr}})
    end.

local_path(#{path := Path}) when is_list(Path), length(Path) =< ?MAX_PATH -> enc_path(Path);
local_path(#{path := Path}) when is_binary(Path), byte_size(Path) =< ?MAX_PATH -> Path;
local_path(Addr) -> throw({invalid, {sockaddr, path, Addr}}).

%% File names as the system has them.
enc_path(Path) ->
    case unicode:characters_to_binary(Path, file:native_name_encoding()) of
        Bin when is_binary(Bin) -> Bin;
        _ -> throw({invalid, {path, Path}})
    end.

enc_msg_flags([]) -> 0;
enc_msg_flags([_ | _] = Flags) -> enc_msg_flags(Flags, p_get(msg_flags), 0);
enc_msg_flags(Flags) -> error(function_clause, [Flags]).

enc_msg_flags([], _, Number) -> Number;
enc_msg_flags([Flag | Flags], Table, Number) when is_atom(Flag) ->
    case Table of
        #{Flag := Bits} -> enc_msg_flags(Flags, Table, Number bor Bits);
        _ -> throw({invalid, {msg_flag, Flag}})
    end;
enc_msg_flags([Bits | Flags], Table, Number) when is_integer(Bits), Bits >= 0 ->
    enc_msg_flags(Flags, Table, Number bor Bits);
enc_msg_flags(Flags, _, _) -> error({invalid, {msg_flags, Flags}}).

enc_msg(#{ctrl := []} = Msg) -> enc_msg(maps:remove(ctrl, Msg));
enc_msg(#{} = Msg) ->
    maps:map(fun(addr, Addr) -> enc_sockaddr(Addr);
                (ctrl, Messages) -> [enc_cmsg(Message) || #{level := _} = Message <- Messages];
                (_, Value) -> Value
             end, Msg);
enc_msg(Msg) -> error({invalid, {msg, Msg}}).

enc_cmsg(#{level := Level} = Message) when is_atom(Level), Level =/= socket ->
    case p_get(protocols) of
        #{Level := Number} -> Message#{level := Number};
        _ -> throw({invalid, {protocol, Level}})
    end;
enc_cmsg(Message) -> Message.

%% ---- Native functions ----

nif_info() -> erlang:nif_error(notsup).
nif_info(_Ref) -> erlang:nif_error(notsup).
nif_command(_Command) -> erlang:nif_error(notsup).
nif_supports() -> erlang:nif_error(notsup).
nif_supports(_Key) -> erlang:nif_error(notsup).
nif_open(_Fd, _Opts) -> erlang:nif_error(notsup).
nif_open(_Domain, _Type, _Protocol, _Opts) -> erlang:nif_error(notsup).
nif_bind(_Ref, _Addr) -> erlang:nif_error(notsup).
nif_bind(_Ref, _Addrs, _Action) -> erlang:nif_error(notsup).
nif_connect(_Ref) -> erlang:nif_error(notsup).
nif_connect(_Ref, _Handle, _Addr) -> erlang:nif_error(notsup).
nif_listen(_Ref, _Backlog) -> erlang:nif_error(notsup).
nif_accept(_Ref, _Handle) -> erlang:nif_error(notsup).
nif_send(_Ref, _Bin, _Flags, _Handle) -> erlang:nif_error(notsup).
nif_sendto(_Ref, _Bin, _To, _Flags, _Handle) -> erlang:nif_error(notsup).
nif_sendmsg(_Ref, _Msg, _Flags, _Handle, _Iov) -> erlang:nif_error(notsup).
nif_sendfile(_Ref, _Handle, _Offset, _Count, _File) -> erlang:nif_error(notsup).
nif_sendfile(_Ref, _Handle, _Offset, _Count) -> erlang:nif_error(notsup).
nif_sendfile(_Ref) -> erlang:nif_error(notsup).
nif_recv(_Ref, _Length, _Flags, _Handle) -> erlang:nif_error(notsup).
nif_recvfrom(_Ref, _Size, _Flags, _Handle) -> erlang:nif_error(notsup).
nif_recvmsg(_Ref, _Size, _ControlSize, _Flags, _Handle) -> erlang:nif_error(notsup).
nif_close(_Ref) -> erlang:nif_error(notsup).
nif_finalize_close(_Ref) -> erlang:nif_error(notsup).
nif_shutdown(_Ref, _How) -> erlang:nif_error(notsup).
nif_setopt(_Ref, _Level, _Option, _Value, _Native) -> erlang:nif_error(notsup).
nif_getopt(_Ref, _Level, _Option) -> erlang:nif_error(notsup).
nif_getopt(_Ref, _Level, _Option, _Spec) -> erlang:nif_error(notsup).
nif_sockname(_Ref) -> erlang:nif_error(notsup).
nif_peername(_Ref) -> erlang:nif_error(notsup).
nif_ioctl(_Ref, _Request) -> erlang:nif_error(notsup).
nif_ioctl(_Ref, _Request, _Arg) -> erlang:nif_error(notsup).
nif_ioctl(_Ref, _Request, _Arg1, _Arg2) -> erlang:nif_error(notsup).
nif_cancel(_Ref, _Operation, _Handle) -> erlang:nif_error(notsup).
