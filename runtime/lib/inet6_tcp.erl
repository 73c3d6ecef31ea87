%% SPDX-License-Identifier: Apache-2.0
%% TCP over IPv6, as gen_tcp calls it.
-module(inet6_tcp).

-define(FAMILY, inet6).
-include("tcp_family.hrl").
