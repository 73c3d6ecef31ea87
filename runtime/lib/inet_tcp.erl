%% SPDX-License-Identifier: Apache-2.0
%% TCP over IPv4, as gen_tcp calls it.
-module(inet_tcp).

-define(FAMILY, inet).
-include("tcp_family.hrl").
