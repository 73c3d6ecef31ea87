%% The handshake of two nodes (Erlang/OTP, "Distribution Protocol"), in the process that owns the connection. It knows nothing of
%% sockets: whoever carries the connection (inet_tcp_dist, inet_tls_dist, ...) gives it functions in an #hs_data{}. When all
%% is agreed on, the machine gets the channel and dist_owner goes on.
%%
%%      connecting node                      accepting node
%%      name ->                                             'N' flags, creation, name    or  'n' version 5, flags, name
%%                                        <- status         ok, ok_simultaneous, nok, alive, not_allowed, named
%%      status ->                                           after alive: true or false
%%                                     <- challenge         'N' flags, number, creation, name  or  'n' of version 5
%%      complement ->                                       after a name of version 5: the flags' upper half, creation
%%      reply ->                                            MD5 of cookie and number; a number of its own
%%                                           <- ack         MD5 of cookie and that number
-module(dist_util).

-export([handshake_we_started/1, handshake_other_started/1, strict_order_flags/0, rejectable_flags/0,
         start_timer/1, setup_timer/2, reset_timer/1, cancel_timer/1, is_node_name/1, split_node/1, is_allowed/2,
         shutdown/3, shutdown/4, net_ticker_spawn_options/0, create_channel/3]).

-include_lib("kernel/include/dist.hrl").
-include_lib("kernel/include/dist_util.hrl").

-record(erts_dflags, {default, mandatory, addable, rejectable, strict_order}). % of erts_internal:get_dflags/0

-define(VERSION_5, 5).
-define(LOWER_HALF, 16#ffffffff).

strict_order_flags() -> (erts_internal:get_dflags())#erts_dflags.strict_order.

rejectable_flags() -> (erts_internal:get_dflags())#erts_dflags.rejectable.

%% --- The two roles ---

handshake_we_started(Hs0) ->
    Hs1 = completed(Hs0),
    {Name, Naming} = case node() of
                         nonode@nohost ->
                             {node, "undefined", Host} = split_node(Hs1#hs_data.this_node),
                             {Host, ?DFLAG_NAME_ME};
                         _ -> {Hs1#hs_data.this_node, 0}
                     end,
    Ours = our_flags(Hs1, Naming),
    Hs2 = Hs1#hs_data{this_node = Name, this_flags = Ours, other_started = false},
    send_name(Hs2),
    Hs3 = receive_status(Hs2),
    {Theirs, Challenge, Creation, Form} = receive_challenge(Hs3),
    Hs4 = Hs3#hs_data{other_flags = Theirs, other_creation = Creation},
    check_flags(Hs4),
    Hs5 = agreed(Hs4),
    send_complement(Form, Hs2),
    Cookie = auth:get_cookie(Hs5#hs_data.other_node),
    Own = os_random:integer(32),
    send(Hs5, <<$r, Own:32, (digest(Challenge, Cookie))/binary>>),
    reset_timer(Hs5#hs_data.timer),
    receive_ack(Hs5, digest(Own, Cookie)),
    connected(Hs5).

handshake_other_started(Hs0) ->
    Hs1 = receive_name(completed(Hs0)),
    Hs2 = Hs1#hs_data{this_flags = our_flags(Hs1, Hs1#hs_data.other_flags band ?DFLAG_NAME_ME), other_started = true},
    is_to_be_complemented(Hs2) orelse check_flags(Hs2),
    {Pending, Hs3} = mark_pending(Hs2),
    Cookie = auth:get_cookie(Hs3#hs_data.other_node),
    Challenge = os_random:integer(32),
    send_challenge(Hs3, Challenge),
    reset_timer(Hs3#hs_data.timer),
    Hs4 = receive_complement(Hs3),
    check_flags(Hs4),
    Hs5 = agreed(Hs4),
    Theirs = receive_reply(Hs5, digest(Challenge, Cookie)),
    Pending =:= up_pending andalso wait_until_old_is_gone(Hs5),
    send(Hs5, <<$a, (digest(Theirs, Cookie))/binary>>),
    connected(Hs5).

%% Modules compiled for older releases have fewer fields.
completed(Hs) when is_record(Hs, hs_data) ->
    Hs#hs_data{add_flags = flags_or_none(Hs#hs_data.add_flags), reject_flags = flags_or_none(Hs#hs_data.reject_flags),
               require_flags = flags_or_none(Hs#hs_data.require_flags)};
completed(Old) when element(1, Old) =:= hs_data, tuple_size(Old) < tuple_size(#hs_data{}) ->
    Missing = tuple_size(#hs_data{}) - tuple_size(Old),
    completed(list_to_tuple(tuple_to_list(Old) ++ lists:duplicate(Missing, undefined))).

flags_or_none(Flags) when is_integer(Flags) -> Flags;
flags_or_none(_) -> 0.

digest(Challenge, Cookie) -> erlang:md5([atom_to_list(Cookie) | integer_to_list(Challenge)]).

%% --- Flags ---

%% Naming: ?DFLAG_NAME_ME if one of the two is named by the other in this handshake.
our_flags(#hs_data{add_flags = Add, reject_flags = Reject} = Hs, Naming) ->
    Flags = erts_internal:get_dflags(),
    case Reject band bnot Flags#erts_dflags.rejectable of
        0 -> ok;
        Needed -> exit({"Rejecting non rejectable flags", Needed})
    end,
    case Add band bnot Flags#erts_dflags.addable of
        0 -> ok;
        Unknown -> exit({"Adding non addable flags", Unknown})
    end,
    (Flags#erts_dflags.default bor published(Hs, Naming) bor Add) band bnot Reject.

published(_, Naming) when Naming =/= 0 -> Naming;
published(#hs_data{request_type = hidden}, _) -> 0;
published(#hs_data{other_node = Node}, _) ->
    case net_kernel:publish_on_node(Node) of
        true -> ?DFLAG_PUBLISHED;
        _ -> 0
    end.

agreed(#hs_data{this_flags = Ours, other_flags = Theirs} = Hs) ->
    Hs#hs_data{this_flags = Ours band Theirs, other_flags = Ours band Theirs}.

%% Since release 25 one flag stands for all that are mandatory.
spelled_out(Flags) when Flags band ?DFLAG_MANDATORY_25_DIGEST =/= 0 -> Flags bor ?MANDATORY_DFLAGS_25;
spelled_out(Flags) -> Flags.

check_flags(#hs_data{other_node = Node, other_flags = Theirs, other_started = Accepting, require_flags = Required} = Hs) ->
    Mandatory = (erts_internal:get_dflags())#erts_dflags.mandatory bor Required,
    case lists:reverse(names_of(Mandatory band bnot Theirs)) of
        [] -> ok;
        Missing ->
            {Direction, End} = case Accepting of
                                   true -> send_status(Hs, not_allowed), {"from", "rejected"};
                                   false -> {"to", "aborted"}
                               end,
            complain("** ~w: Connection attempt ~s node ~w ~s since it cannot handle ~p.**~n", [node(), Direction, Node, End, Missing]),
            ?shutdown2(Node, {check_dflags_failed, Missing})
    end.

names_of(0) -> [];
names_of(Flags) ->
    Lowest = Flags band -Flags,
    [flag_name(Lowest) | names_of(Flags bxor Lowest)].

flag_name(?DFLAG_PUBLISHED) -> "PUBLISHED";
flag_name(?DFLAG_ATOM_CACHE) -> "ATOM_CACHE";
flag_name(?DFLAG_EXTENDED_REFERENCES) -> "EXTENDED_REFERENCES";
flag_name(?DFLAG_DIST_MONITOR) -> "DIST_MONITOR";
flag_name(?DFLAG_FUN_TAGS) -> "FUN_TAGS";
flag_name(?DFLAG_DIST_MONITOR_NAME) -> "DIST_MONITOR_NAME";
flag_name(?DFLAG_HIDDEN_ATOM_CACHE) -> "HIDDEN_ATOM_CACHE";
flag_name(?DFLAG_NEW_FUN_TAGS) -> "NEW_FUN_TAGS";
flag_name(?DFLAG_EXTENDED_PIDS_PORTS) -> "EXTENDED_PIDS_PORTS";
flag_name(?DFLAG_EXPORT_PTR_TAG) -> "EXPORT_PTR_TAG";
flag_name(?DFLAG_BIT_BINARIES) -> "BIT_BINARIES";
flag_name(?DFLAG_NEW_FLOATS) -> "NEW_FLOATS";
flag_name(?DFLAG_UNICODE_IO) -> "UNICODE_IO";
flag_name(?DFLAG_DIST_HDR_ATOM_CACHE) -> "DIST_HDR_ATOM_CACHE";
flag_name(?DFLAG_SMALL_ATOM_TAGS) -> "SMALL_ATOM_TAGS";
flag_name(?DFLAG_UTF8_ATOMS) -> "UTF8_ATOMS";
flag_name(?DFLAG_MAP_TAG) -> "MAP_TAG";
flag_name(?DFLAG_BIG_CREATION) -> "BIG_CREATION";
flag_name(?DFLAG_SEND_SENDER) -> "SEND_SENDER";
flag_name(?DFLAG_BIG_SEQTRACE_LABELS) -> "BIG_SEQTRACE_LABELS";
flag_name(?DFLAG_EXIT_PAYLOAD) -> "EXIT_PAYLOAD";
flag_name(?DFLAG_FRAGMENTS) -> "FRAGMENTS";
flag_name(?DFLAG_HANDSHAKE_23) -> "HANDSHAKE_23";
flag_name(?DFLAG_UNLINK_ID) -> "UNLINK_ID";
flag_name(?DFLAG_MANDATORY_25_DIGEST) -> "MANDATORY_25_DIGEST";
flag_name(?DFLAG_SPAWN) -> "SPAWN";
flag_name(?DFLAG_NAME_ME) -> "NAME_ME";
flag_name(?DFLAG_V4_NC) -> "V4_NC";
flag_name(?DFLAG_ALIAS) -> "ALIAS";
flag_name(Other) -> "UNKNOWN<" ++ string:lowercase(integer_to_list(Other, 16)) ++ ">".

type(Flags) when Flags band ?DFLAG_PUBLISHED =/= 0 -> normal;
type(_) -> hidden.

is_named_by_us(Flags) -> Flags band ?DFLAG_NAME_ME =/= 0.

%% --- Names ---

send_name(#hs_data{this_node = Node, this_flags = Flags, other_version = ?VERSION_5} = Hs) ->
    send(Hs, [<<$n, ?VERSION_5:16, Flags:32>>, name_bytes(Node)]);
send_name(#hs_data{this_node = Node, this_flags = Flags} = Hs) ->
    Creation = case is_named_by_us(Flags) of
                   true -> 0;
                   false -> erts_internal:get_creation()
               end,
    Name = name_bytes(Node),
    send(Hs, <<$N, Flags:64, Creation:32, (byte_size(Name)):16, Name/binary>>).

name_bytes(Node) when is_atom(Node) -> atom_to_binary(Node, latin1);
name_bytes(Host) -> list_to_binary(Host).

receive_name(Hs) ->
    case recv(Hs) of
        {ok, <<$N, Flags:64, Creation:32, Length:16, Name:Length/binary, _/binary>>} ->
            named(Name, spelled_out(Flags), Hs#hs_data{other_creation = Creation, other_version = ?ERL_DIST_VER_6});
        {ok, <<$n, ?VERSION_5:16, Flags:32, Name/binary>>} ->
            named(Name, Flags, Hs#hs_data{other_creation = 0, other_version = ?VERSION_5});
        _ -> ?shutdown(no_node)
    end.

named(Bytes, Flags, Hs) ->
    Name = binary_to_list(Bytes),
    case is_name(Name, Flags) andalso length(Name) =< 255 of
        true ->
            check_allowed(Hs, Name),
            Hs#hs_data{other_flags = Flags,
                       other_node = case is_named_by_us(Flags) of
                                        true -> Name;
                                        false -> list_to_atom(Name)
                                    end};
        false -> ?shutdown(Name)
    end.

is_node_name(Name) -> is_name(Name, 0).

is_name(Name, Flags) ->
    case split_node(Name) of
        {node, _, _} -> not is_named_by_us(Flags);
        {host, _} -> is_named_by_us(Flags);
        _ -> false
    end.

%% {node, Name, Host} | {host, Host} | {name, Name}, which ends with @
split_node(Node) ->
    case string:split(text(Node), "@", all) of
        [[_ | _] = Name, [_ | _] = Host] -> {node, Name, Host};
        [[_ | _] = Name, []] -> {name, Name};
        [[_ | _] = Host] -> {host, Host};
        [_, _] = Parts -> Parts;
        [_] = Parts -> Parts;
        _ -> {error, {invalid_node, Node}}
    end.

text(Atom) when is_atom(Atom) -> atom_to_list(Atom);
text(Binary) when is_binary(Binary) -> binary_to_list(Binary);
text(List) when is_list(List) -> List.

%% Of names that net_kernel:allow/1 was given, which may be hosts, or names before the @.
check_allowed(#hs_data{allowed = []}, _) -> ok;
check_allowed(#hs_data{allowed = Allowed} = Hs, Name) ->
    is_allowed(Name, Allowed) orelse begin
        send_status(Hs#hs_data{other_node = Name}, not_allowed),
        complain("** Connection attempt from disallowed node ~s ** ~n", [Name]),
        ?shutdown2(Name, {is_allowed, not_allowed})
    end.

is_allowed(Node, Allowed) ->
    Split = split_node(Node),
    lists:any(fun(Entry) -> Entry =:= Node orelse covers(split_node(Entry), Split) end, Allowed).

covers({node, Name, Host}, {node, Name, Host}) -> true;
covers({host, Host}, {node, _, Host}) -> true;
covers({host, Host}, {host, Host}) -> true;
covers({name, Name}, {node, Name, _}) -> true;
covers({name, Name}, {name, Name}) -> true;
covers(_, _) -> false.

%% --- Status ---

%% net_kernel decides whether the node is let in. The first element: whether there is an old connection to wait for.
mark_pending(#hs_data{kernel_pid = Kernel, other_node = Node, this_node = Own, other_flags = Theirs} = Hs) ->
    Kernel ! {self(), {accept_pending, Own, Node, type(Theirs)}},
    receive
        {Kernel, {accept_pending, Answer}} -> {Answer, accepted(Answer, Hs)}
    end.

accepted(ok, Hs) -> accepted_with(ok, Hs);
accepted(ok_pending, Hs) -> accepted_with(ok_simultaneous, Hs);
accepted({ok, Name, Creation}, Hs) ->
    accepted_with(named, Hs#hs_data{other_node = Name, other_creation = Creation});
accepted(up_pending, Hs) ->
    %% Its old connection is not known to have ended: it knows best.
    send_status(Hs, alive),
    case recv(Hs) of
        {ok, <<"strue">>} -> ok;
        {ok, <<"sfalse">>} -> ?shutdown(Hs#hs_data.other_node);
        Other -> ?shutdown2(Hs#hs_data.other_node, {recv_status_failed, Other})
    end,
    reset_timer(Hs#hs_data.timer),
    Hs;
accepted(nok_pending, Hs) ->
    send_status(Hs, nok),
    ?shutdown(Hs#hs_data.other_node);
accepted(already_pending, Hs) -> ?shutdown(Hs#hs_data.other_node).

accepted_with(Status, Hs) ->
    send_status(Hs, Status),
    reset_timer(Hs#hs_data.timer),
    Hs.

wait_until_old_is_gone(#hs_data{kernel_pid = Kernel, other_node = Node}) ->
    Kernel ! {self(), {wait_pending, Node}},
    receive {Kernel, pending} -> ok end.

send_status(#hs_data{other_node = Node, other_creation = Creation} = Hs, named) ->
    Name = atom_to_binary(Node, utf8),
    send(Hs, <<"snamed:", (byte_size(Name)):16, Name/binary, Creation:32>>);
send_status(Hs, Status) -> send(Hs, [$s | atom_to_list(Status)]).

receive_status(#hs_data{other_node = Node, this_flags = Flags, this_node = Own} = Hs) ->
    case {recv(Hs), is_named_by_us(Flags)} of
        {{ok, <<"snamed:", Length:16, Name:Length/binary, Creation:32, _/binary>>}, true} ->
            case split_node(Name) of
                {node, _, Own} -> Hs#hs_data{this_node = binary_to_atom(Name, utf8), this_creation = Creation};
                _ -> ?shutdown2(Node, {recv_status_failed, Name})
            end;
        {{ok, <<"snot_allowed">>}, _} -> ?shutdown2(Node, {recv_status_failed, not_allowed});
        {{ok, <<$s, Other/binary>>}, true} -> ?shutdown2(Node, {recv_status_failed, unexpected, binary_to_list(Other)});
        {{ok, <<"sok">>}, false} -> Hs;
        {{ok, <<"sok_simultaneous">>}, false} -> Hs;
        {{ok, <<"snok">>}, false} -> receive after infinity -> Hs end; % net_kernel ends this process for the other connection's
        {{ok, <<"salive">>}, false} ->
            Pending = is_pending(Hs),
            send_status(Hs, Pending),
            Pending orelse ?shutdown(Node),
            Hs;
        {{ok, <<$s, Other/binary>>}, false} -> ?shutdown2(Node, {recv_status_failed, unknown, binary_to_list(Other)});
        {Error, _} -> ?shutdown2(Node, {recv_status_failed, Error})
    end.

is_pending(#hs_data{kernel_pid = Kernel, other_node = Node}) ->
    Kernel ! {self(), {is_pending, Node}},
    receive {Kernel, {is_pending, Answer}} -> Answer end.

%% --- Challenge, reply, ack ---

%% Of version 6 also after a name of version 5: whoever has sent that knows it, or has been refused.
send_challenge(#hs_data{this_node = Node, this_flags = Flags} = Hs, Challenge) ->
    Name = name_bytes(Node),
    send(Hs, <<$N, Flags:64, Challenge:32, (erts_internal:get_creation()):32, (byte_size(Name)):16, Name/binary>>).

receive_challenge(#hs_data{other_node = Node} = Hs) ->
    Expected = name_bytes(Node),
    case recv(Hs) of
        {ok, <<$N, Flags:64, Challenge:32, Creation:32, Length:16, Expected:Length/binary, _/binary>>} ->
            {spelled_out(Flags), Challenge, Creation, ?ERL_DIST_VER_6};
        {ok, <<$n, _:16, Flags:32, Challenge:32, Name/binary>>} when Name =:= Expected -> {Flags, Challenge, 0, ?VERSION_5};
        Other -> ?shutdown2(no_node, {recv_challenge_failed, Other})
    end.

%% The half of the flags for which a name of version 5 had no room.
send_complement(?ERL_DIST_VER_6, #hs_data{other_version = ?VERSION_5, this_flags = Flags} = Hs) ->
    send(Hs, <<$c, (Flags bsr 32):32, (erts_internal:get_creation()):32>>);
send_complement(_, _) -> ok.

receive_complement(#hs_data{other_flags = Theirs} = Hs) ->
    case is_to_be_complemented(Hs) andalso recv(Hs) of
        false -> Hs;
        {ok, <<$c, Upper:32, Creation:32>>} ->
            Hs#hs_data{other_flags = spelled_out(Theirs bor (Upper bsl 32)), other_creation = Creation};
        Other -> ?shutdown2(no_node, {recv_complement_failed, Other})
    end.

is_to_be_complemented(#hs_data{other_version = Version, other_flags = Theirs}) ->
    Version =:= ?VERSION_5 andalso Theirs band ?DFLAG_HANDSHAKE_23 =/= 0.

receive_reply(#hs_data{other_node = Node} = Hs, Expected) ->
    case recv(Hs) of
        {ok, <<$r, Challenge:32, Expected:16/binary>>} -> Challenge;
        {ok, <<$r, _:32, _:16/binary>>} ->
            complain("** Connection attempt from node ~w rejected. Invalid challenge reply. **~n", [Node]),
            ?shutdown2(Node, {recv_challenge_reply_failed, bad_cookie});
        Other -> ?shutdown2(no_node, {recv_challenge_reply_failed, Other})
    end.

receive_ack(#hs_data{other_node = Node} = Hs, Expected) ->
    case recv(Hs) of
        {ok, <<$a, Expected:16/binary>>} -> ok;
        {ok, <<$a, _:16/binary>>} ->
            complain("** Connection attempt to node ~w cancelled. Invalid challenge ack. **~n", [Node]),
            ?shutdown2(Node, {recv_challenge_ack_failed, bad_cookie});
        Other -> ?shutdown2(Node, {recv_challenge_ack_failed, Other})
    end.

recv(#hs_data{f_recv = Recv, socket = Socket}) ->
    case Recv(Socket, 0, infinity) of
        {ok, Bytes} -> {ok, iolist_to_binary(Bytes)};
        Error -> Error
    end.

send(#hs_data{f_send = Send, socket = Socket, other_node = Node}, Bytes) ->
    case Send(Socket, Bytes) of
        {error, _} -> ?shutdown(Node);
        _ -> ok
    end.

%% --- Connected ---

connected(#hs_data{other_node = Node, socket = Socket, kernel_pid = Kernel, other_flags = Flags} = Hs) ->
    cancel_timer(Hs#hs_data.timer),
    (Hs#hs_data.f_setopts_pre_nodeup)(Socket) =:= ok orelse ?shutdown(Node),
    {Handle, NamedMe} = open_channel(Hs),
    Address = (Hs#hs_data.f_address)(Socket, Node),
    Kernel ! {self(), {nodeup, Node, Address, type(Flags), NamedMe}},
    receive
        {Kernel, inserted, Intensity} ->
            (Hs#hs_data.f_setopts_post_nodeup)(Socket) =:= ok orelse ?shutdown2(Node, connection_setup_failed),
            is_function(Hs#hs_data.f_handshake_complete) andalso (Hs#hs_data.f_handshake_complete)(Socket, Node, Handle),
            dist_owner:loop(Hs, Handle, type(Flags), Intensity);
        {Kernel, bad_request} ->
            Doing = case Hs#hs_data.other_started of
                        true -> "accepting connection";
                        false -> "initiating connection"
                    end,
            complain("Fatal: ~p was not allowed to send {nodeup, ~p} to kernel when ~s~n", [self(), Node, Doing]),
            ?shutdown(Node)
    end.

open_channel(#hs_data{other_node = Node, this_node = Own, other_flags = Flags, other_creation = Creation} = Hs) ->
    case (Hs#hs_data.f_getll)(Hs#hs_data.socket) of
        {ok, Controller} ->
            NamedMe = node() =:= nonode@nohost,
            NamedMe andalso erlang:setnode(Own, Hs#hs_data.this_creation),
            Own = node(),
            try {create_channel(Node, Controller, {Flags, Creation}), NamedMe}
            catch error:system_limit ->
                complain("** Distribution system limit reached, no table space left for node ~w ** ~n", [Node]),
                ?shutdown(Node)
            end;
        _ ->
            complain("** Distribution connection error, could not get low level port for node ~w ** ~n", [Node]),
            ?shutdown(Node)
    end.

%% erlang:setnode/3
create_channel(Node, Controller, {_Flags, _Creation} = Agreed) ->
    Created = case erts_internal:create_dist_channel(Node, Controller, Agreed) of
                  {ok, Handle} -> Handle;
                  {message, Ref} -> receive {Ref, Answer} -> Answer end;
                  Failed -> Failed
              end,
    is_atom(Created) andalso error(Created, [Node, Controller, Agreed]),
    Created;
create_channel(Node, Controller, Other) -> error(badarg, [Node, Controller, Other]).

complain(Format, Args) -> error_logger:error_msg(Format, Args).

%% --- The timer of a connection that is being set up ---

%% Ends the owner, to which it is linked, when so many milliseconds have passed without reset_timer/1.
start_timer(Timeout) -> spawn_link(?MODULE, setup_timer, [self(), Timeout]).

setup_timer(Owner, Timeout) ->
    receive {Owner, reset} -> setup_timer(Owner, Timeout)
    after Timeout -> ?shutdown2(timer, setup_timer_timeout)
    end.

reset_timer(Timer) ->
    Timer ! {self(), reset},
    ok.

cancel_timer(Timer) ->
    unlink(Timer),
    exit(Timer, shutdown).

%% Ends the owner; net_kernel sees it end.
shutdown(Module, Line, Data) -> shutdown(Module, Line, Data, shutdown).
shutdown(_Module, _Line, _Data, Reason) -> exit(Reason).

%% Options for spawning owners.
net_ticker_spawn_options() ->
    Given = kernel_options:get(net_ticker_spawn_options, []),
    [link, {priority, max} | [Option || Option <- Given, not lists:member(option_name(Option), [link, monitor, priority])]].

option_name({Name, _}) -> Name;
option_name(Name) -> Name.
