%% SPDX-License-Identifier: Apache-2.0
%% UDP over IPv6, as gen_udp calls it.
-module(inet6_udp).

-define(FAMILY, inet6).
-include("udp_family.hrl").
