%% SPDX-License-Identifier: Apache-2.0
%% The handler that prints: to the device its config names (type => standard_error, the default handler's;
%% standard_io; {device, PidOrName}), or to a file (file => Name, or type => {file, Name} or {file, Name,
%% Modes}), which logger_std_file keeps.
%%
%% Whoever logs writes: an event is in the hands of the operating system before log/2 returns. So there is
%% nothing to be overloaded, and what tunes OTP's protection against that is checked and shown, but changes
%% nothing; nor do delayed_write and filesync_repeat_interval.
-module(logger_std_h).

-define(SYNC, filesync_repeat_interval).

-export([adding_handler/1, changing_config/3, removing_handler/1, filter_config/1, log/2, filesync/1]).

%% --- Configuration ---

adding_handler(#{id := Id} = Handler) ->
    Given = maps:get(config, Handler, #{}),
    case is_map(Given) andalso checked(Id, set, none, Given) of
        {ok, Config} -> started(Handler#{config => Config});
        {error, _} = Error -> Error;
        false -> {error, {invalid_config, ?MODULE, Given}}
    end.

started(#{id := Id, config := #{type := file} = Config} = Handler) ->
    case logger_std_file:start(Id, Config) of
        ok -> {ok, Handler};
        Error -> Error
    end;
started(Handler) -> {ok, Handler}.

%% Where it writes is decided when the handler is added.
changing_config(How, #{id := Id, config := Old}, Handler) ->
    Given = maps:get(config, Handler, #{}),
    case is_map(Given) andalso checked(Id, How, Old, Given) of
        {ok, #{type := file} = Config} ->
            ok = logger_std_file:rotate_by(Id, Config),
            {ok, Handler#{config => Config}};
        {ok, Config} -> {ok, Handler#{config => Config}};
        {error, _} = Error -> Error;
        false -> {error, {invalid_config, ?MODULE, Given}}
    end.

removing_handler(#{id := Id, config := #{type := file}}) -> logger_std_file:stop(Id);
removing_handler(_) -> ok.

%% Nothing in it is the handler's alone.
filter_config(Handler) -> Handler.

%% All settings, as they are kept: what is given, what there was, and what holds otherwise.
checked(Id, How, Old, Given) ->
    {Own, Common} = own(normal(Given)),
    {Before, CommonBefore} = case {How, Old} of
                                 {set, none} -> {defaults(Id, Own), common_defaults()};
                                 {set, _} ->
                                     Fixed = fixed(Old),
                                     {maps:merge(defaults(Id, Fixed), Fixed), common_defaults()};
                                 {update, _} ->
                                     {OwnBefore, Set} = own(Old),
                                     {OwnBefore, maps:merge(common_defaults(), Set)}
                             end,
    Full = maps:merge(Before, Own),
    FullCommon = maps:merge(CommonBefore, Common),
    case Old =:= none orelse fixed(Full) =:= fixed(Old) of
        false -> {error, {illegal_config_change, ?MODULE, fixed(Old), fixed(Full)}};
        true ->
            case {wrong(Full, fun is_own/2), wrong(maps:with([?SYNC], FullCommon), fun is_sync/2)} of
                {none, none} -> overload_checked(with_modes(Full, FullCommon));
                {none, Wrong} -> {error, {invalid_config, ?MODULE, Wrong}};
                {Wrong, _} -> {error, {invalid_config, ?MODULE, Wrong}}
            end
    end.

own(Config) ->
    Common = maps:with(maps:keys(common_defaults()), Config),
    {maps:without(maps:keys(Common), Config), Common}.

fixed(Config) -> maps:with([type, file, modes], Config).

%% Files in one form.
normal(#{type := {file, Name, Modes}} = Config) ->
    normal(Config#{type := file, file => Name, modes => Modes});
normal(#{type := {file, Name}} = Config) -> normal(Config#{type := file, file => Name});
normal(#{file := Name} = Config) -> Config#{file := filename:absname(Name)};
normal(Config) -> Config.

defaults(Id, #{type := file}) ->
    #{type => file, file => filename:absname(atom_to_list(Id)), modes => [raw, append], file_check => 0,
      max_no_bytes => infinity, max_no_files => 0, compress_on_rotate => false};
defaults(_, #{type := Type}) -> #{type => Type};
defaults(Id, #{file := _}) -> defaults(Id, #{type => file});
defaults(_, _) -> #{type => standard_io}.

common_defaults() ->
    (logger_overload:handler_defaults())#{?SYNC => 5000}.

%% The first that is, as a map.
wrong(Config, IsRight) ->
    case [{Key, Value} || {Key, Value} <- maps:to_list(Config), not IsRight(Key, {Value, Config})] of
        [] -> none;
        [{Key, Value} | _] -> #{Key => Value}
    end.

is_own(type, {{device, _}, _}) -> true;
is_own(type, {Type, _}) -> lists:member(Type, [file, standard_io, standard_error]);
is_own(Key, {Value, #{type := file}}) -> is_of_file(Key, Value);
is_own(_, _) -> false.

is_of_file(file, Name) -> is_list(Name);
is_of_file(modes, Modes) -> is_list(Modes);
is_of_file(max_no_bytes, Most) -> Most =:= infinity orelse is_integer(Most) andalso Most > 0;
is_of_file(max_no_files, Most) -> is_integer(Most) andalso Most >= 0;
is_of_file(compress_on_rotate, Compress) -> is_boolean(Compress);
is_of_file(file_check, Milliseconds) -> is_integer(Milliseconds) andalso Milliseconds >= 0;
is_of_file(_, _) -> false.

is_sync(?SYNC, {Interval, _}) -> is_integer(Interval) orelse Interval =:= no_repeat.

with_modes(#{modes := Modes} = Config, Common) -> maps:merge(Common, Config#{modes := full_modes(Modes)});
with_modes(Config, Common) -> maps:merge(Common#{?SYNC := no_repeat}, Config).

full_modes(Modes) ->
    Opened = [append || not lists:any(fun(Mode) -> lists:member(Mode, [write, append, exclusive]) end, Modes)]
        ++ Modes,
    Raw = [raw || not lists:member(raw, Modes)] ++ Opened,
    [delayed_write || not lists:any(fun is_delayed/1, Modes)] ++ Raw.

is_delayed(delayed_write) -> true;
is_delayed({delayed_write, _, _}) -> true;
is_delayed(_) -> false.

overload_checked(Config) ->
    case logger_overload:check(maps:with(maps:keys(logger_overload:handler_defaults()), Config)) of
        ok -> {ok, Config};
        Error -> Error
    end.

%% --- Events ---

log(Event, #{id := Id, config := Config, formatter := {Module, FormatterConfig}}) ->
    Text = text(Event, Module, FormatterConfig),
    case Config of
        #{type := file} ->
            case logger_std_file:write(Id, Text) of
                ok -> ok;
                {error, Reason} -> error({write_failed, maps:get(file, Config), Reason})
            end;
        #{type := Type} -> print(Type, Text)
    end.

%% A formatter that fails takes nothing away: the usual one prints what it was to print.
text(Event, Module, Config) ->
    Formatted = formatted(Event, Module, Config),
    case catch unicode:characters_to_binary(Formatted) of
        Text when is_binary(Text) -> Text;
        Error ->
            tell(Event, [{formatter_error, Module}, {config, Config}, {log_event, Event},
                         {bad_return_value, Formatted}, {catched, Error}]),
            <<"FORMATTER ERROR: bad return value\n">>
    end.

formatted(#{msg := Message} = Event, Module, Config) ->
    try Module:format(Event, Config)
    catch Class:Reason:Stack ->
        Own = logger:filter_stacktrace(?MODULE, Stack),
        tell(Event, [{formatter_crashed, Module}, {config, Config}, {log_event, Event},
            {reason, {Class, Reason, Own}}]),
        case {Module, Config} of
            {logger_formatter, Default} when Default =:= #{} -> "DEFAULT FORMATTER CRASHED\n";
            _ -> formatted(Event#{msg := {"FORMATTER CRASH: ~tp", [Message]}}, logger_formatter, #{})
        end
    end.

%% For who looks for a fault of his own handlers; not of what is told here already.
tell(#{meta := #{internal_log_event := true}}, _) -> ok;
tell(_, Report) -> logger:debug(Report, #{internal_log_event => true}).

%% A process that logs to itself cannot wait for what it prints. When standard output or error takes nothing
%% more there is nobody to be told: what comes later may be printed again.
print({device, Device}, Text) ->
    case Device =:= self() orelse is_atom(Device) andalso whereis(Device) =:= self() of
        true -> _ = spawn(io, put_chars, [Device, Text]), ok;
        false -> io:put_chars(Device, Text)
    end;
print(Standard, Text) ->
    try io:put_chars(to(Standard), Text)
    catch error:_ -> ok
    end.

to(standard_io) -> user;
to(standard_error) -> standard_error.

%% What was logged is on the disk when this returns.
filesync(Id) when is_atom(Id) ->
    case logger:get_handler_config(Id) of
        {ok, #{config := #{type := file}}} -> logger_std_file:sync(Id);
        {ok, _} -> ok;
        Error -> Error
    end;
filesync(_) -> {error, {badarg, {filesync, []}}}.
