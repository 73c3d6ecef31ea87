%% SPDX-License-Identifier: Apache-2.0
%% Stream sockets that are files, as gen_tcp calls it.
-module(local_tcp).

-define(FAMILY, local).
-include("tcp_family.hrl").
