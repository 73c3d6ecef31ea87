%% SPDX-License-Identifier: Apache-2.0
%% Datagram sockets that are files, as gen_udp calls it.
-module(local_udp).

-define(FAMILY, local).
-include("udp_family.hrl").
