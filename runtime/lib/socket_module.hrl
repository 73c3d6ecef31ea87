%% SPDX-License-Identifier: Apache-2.0
%% Whose work a call on a socket is.

%% A socket of another implementation, which names its module
-define(ELSEWHERE(Module), {'$inet', Module, _}).

%% Call is a call without its module: that with which the port S was opened
-define(BY_MODULE(S, Call),
        case inet_open:module_of(S) of
            {ok, Module} -> Module:Call;
            Error -> Error
        end).
