%% What net_kernel's table and its listeners look like; net_info and net_listeners read them too.

-record(connection, {node,
                     id,                       % of erts_internal:new_connection/1
                     state,                    % pending | up | up_pending
                     owner,                    % pid()
                     controller,               % pid() | port(), once there is a channel
                     pending_owner,            % who waits for the controller to end
                     address,                  % #net_address{}
                     waiting = [],             % callers of connect_node/1, last first
                     type,                     % normal | hidden
                     name_type,                % static | dynamic: we have named it
                     creation,                 % of a node we have named
                     named_me = false}).       % that node has named us

-record(barred, {node}). % was connected, and is not to be again by itself

-record(listener, {socket,   % undefined: of a node that only connects
                   acceptor, % pid()
                   address,  % #net_address{}
                   module}). % inet_tcp_dist, ...
