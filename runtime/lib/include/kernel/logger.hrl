%% SPDX-License-Identifier: Apache-2.0
%% Logging with the place it comes from. Nothing is evaluated, the arguments included, unless the level
%% is wanted from this module. Each takes a text, a report or a fun; then arguments of a format; then
%% metadata: see logger:log/2,3,4.

-ifndef(LOGGER_HRL_).
-define(LOGGER_HRL_, 1).

-define(LOCATION, #{mfa => {?MODULE, ?FUNCTION_NAME, ?FUNCTION_ARITY}, line => ?LINE, file => ?FILE}).

-define(log_if_allowed_(Level, Log), case logger:allow(Level, ?MODULE) of true -> Log; false -> ok end).

-define(LOG(Level, A), ?log_if_allowed_(Level, logger:macro_log(?LOCATION, Level, A))).
-define(LOG(Level, A, B), ?log_if_allowed_(Level, logger:macro_log(?LOCATION, Level, A, B))).
-define(LOG(Level, A, B, C), ?log_if_allowed_(Level, logger:macro_log(?LOCATION, Level, A, B, C))).

-define(LOG_EMERGENCY(A), ?LOG(emergency, A)).
-define(LOG_EMERGENCY(A, B), ?LOG(emergency, A, B)).
-define(LOG_EMERGENCY(A, B, C), ?LOG(emergency, A, B, C)).

-define(LOG_ALERT(A), ?LOG(alert, A)).
-define(LOG_ALERT(A, B), ?LOG(alert, A, B)).
-define(LOG_ALERT(A, B, C), ?LOG(alert, A, B, C)).

-define(LOG_CRITICAL(A), ?LOG(critical, A)).
-define(LOG_CRITICAL(A, B), ?LOG(critical, A, B)).
-define(LOG_CRITICAL(A, B, C), ?LOG(critical, A, B, C)).

-define(LOG_ERROR(A), ?LOG(error, A)).
-define(LOG_ERROR(A, B), ?LOG(error, A, B)).
-define(LOG_ERROR(A, B, C), ?LOG(error, A, B, C)).

-define(LOG_WARNING(A), ?LOG(warning, A)).
-define(LOG_WARNING(A, B), ?LOG(warning, A, B)).
-define(LOG_WARNING(A, B, C), ?LOG(warning, A, B, C)).

-define(LOG_NOTICE(A), ?LOG(notice, A)).
-define(LOG_NOTICE(A, B), ?LOG(notice, A, B)).
-define(LOG_NOTICE(A, B, C), ?LOG(notice, A, B, C)).

-define(LOG_INFO(A), ?LOG(info, A)).
-define(LOG_INFO(A, B), ?LOG(info, A, B)).
-define(LOG_INFO(A, B, C), ?LOG(info, A, B, C)).

-define(LOG_DEBUG(A), ?LOG(debug, A)).
-define(LOG_DEBUG(A, B), ?LOG(debug, A, B)).
-define(LOG_DEBUG(A, B, C), ?LOG(debug, A, B, C)).

-endif.
