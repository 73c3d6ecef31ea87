%% SPDX-License-Identifier: Apache-2.0
-ifndef(INET_HRL_).
-define(INET_HRL_, 1).

%% A host as inet:gethostbyname/1 and inet:gethostbyaddr/1 describe it
-record(hostent,
        {h_name :: inet:hostname() | undefined,
         h_aliases = [] :: [inet:hostname()],
         h_addrtype :: inet | inet6 | undefined,
         h_length :: non_neg_integer() | undefined, % of an address, in bytes
         h_addr_list = [] :: [inet:ip_address()]}).

-endif.
