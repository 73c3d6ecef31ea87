%% The handler that prints. Its config has the device: type => standard_error
%% (the default handler's), standard_io, or {device, PidOrName}.
-module(logger_std_h).

-export([adding_handler/1, log/2, filesync/1]).

adding_handler(#{config := #{type := {file, _}}}) -> {error, {not_supported, file}};
adding_handler(#{config := Config} = Handler) when is_map(Config) -> {ok, Handler};
adding_handler(Handler) -> {ok, Handler#{config => #{type => standard_io}}}.

log(Event, #{config := Config, formatter := {Module, FormatterConfig}}) ->
    _ = io:put_chars(device(Config), Module:format(Event, FormatterConfig)),
    ok.

device(#{type := standard_io}) -> user;
device(#{type := standard_error}) -> standard_error;
device(#{type := {device, Device}}) -> Device.

%% Every event is written before log/2 returns.
filesync(_) -> ok.
