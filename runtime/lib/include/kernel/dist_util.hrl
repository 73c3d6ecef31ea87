-ifndef(DIST_UTIL_HRL_).
-define(DIST_UTIL_HRL_, 1).

-define(shutdown(Data), dist_util:shutdown(?MODULE, ?LINE, Data)).
-define(shutdown2(Data, Reason), dist_util:shutdown(?MODULE, ?LINE, Data, Reason)).
-define(trace(Format, Args), ok).
-define(trace_factor, 1).

%% What a distribution module hands to dist_util:handshake_we_started/1 or handshake_other_started/1. "Socket" is whatever
%% the module's functions take for one. Modules compiled for Erlang/OTP 25 have the fields in this order.
-record(hs_data,
        {kernel_pid,             % net_kernel
         other_node,             % name of the peer: an atom; until it has been named, its host as a string
         this_node,              % our name
         socket,
         timer,                  % of dist_util:start_timer/1
         this_flags,             % our capabilities
         allowed,                % names that net_kernel:allow/1 was given; []: all may connect
         other_version,          % version of the protocol, as epmd told
         other_flags,            % the peer's capabilities
         other_started,          % true: the peer connected to us
         f_send,                 % as gen_tcp:send/2
         f_recv,                 % as gen_tcp:recv/3
         f_setopts_pre_nodeup,   % fun(Socket) -> ok | Error, before net_kernel hears of the connection
         f_setopts_post_nodeup,  % and after
         f_getll,                % fun(Socket) -> {ok, port() | pid()}: who carries the channel
         f_address,              % fun(Socket, Node) -> #net_address{}
         mf_tick,                % fun(Socket): sends a tick
         mf_getstat,             % fun(Socket) -> {ok, Received, Sent, Pending} | Error; undefined: ask the channel
         request_type = normal,  % normal | hidden
         mf_setopts,             % fun(Socket, Options): for net_kernel:setopts/2
         mf_getopts,             % fun(Socket, Options): for net_kernel:getopts/2
         f_handshake_complete,   % fun(Socket, Node, DHandle), when all is done
         add_flags,              % capabilities to add to ours,
         reject_flags,           % to leave out,
         require_flags,          % to ask of the peer
         this_creation,          % of this node, when the peer names it
         other_creation}).

-endif.
