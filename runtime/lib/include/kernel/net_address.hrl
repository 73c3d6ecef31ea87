-ifndef(NET_ADDRESS_HRL_).
-define(NET_ADDRESS_HRL_, 1).

%% Where a node can be reached, as a distribution module (inet_tcp_dist and others) tells net_kernel
-record(net_address,
        {address,  % {inet:ip_address(), inet:port_number()}, or what the module makes of it
         host,     % its name, a string
         protocol, % tcp, tls, ...
         family}). % inet, inet6, ...

-endif.
