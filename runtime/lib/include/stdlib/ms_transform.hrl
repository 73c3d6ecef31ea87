%% SPDX-License-Identifier: Apache-2.0
%% Has the compiler write match specifications for the literal funs in ets:fun2ms/1 and dbg:fun2ms/1.

-ifndef(MS_TRANSFORM_HRL_).
-define(MS_TRANSFORM_HRL_, 1).
-compile({parse_transform, ms_transform}).
-endif.
