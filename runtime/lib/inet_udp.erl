%% SPDX-License-Identifier: Apache-2.0
%% UDP over IPv4, as gen_udp calls it.
-module(inet_udp).

-define(FAMILY, inet).
-include("udp_family.hrl").
