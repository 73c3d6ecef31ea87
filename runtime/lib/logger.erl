%% SPDX-License-Identifier: Apache-2.0
%% Logging. A log event goes, in the process that logs, through the primary
%% configuration (level and filters) to every handler whose own level and
%% filters let it pass. The default handler prints to standard error.
%%
%% logger_store keeps the configuration and makes the changes, which are
%% described here; callbacks of handlers run in the process that changes.
-module(logger).

-export([emergency/1, emergency/2, emergency/3, alert/1, alert/2, alert/3, critical/1, critical/2, critical/3,
         error/1, error/2, error/3, warning/1, warning/2, warning/3, notice/1, notice/2, notice/3,
         info/1, info/2, info/3, debug/1, debug/2, debug/3, log/2, log/3, log/4]).
-export([allow/2, macro_log/3, macro_log/4, macro_log/5, compare_levels/2, timestamp/0,
         add_default_metadata/1, format_report/1, format_otp_report/1]).
-export([get_config/0, get_primary_config/0, set_primary_config/1, set_primary_config/2,
         update_primary_config/1, add_primary_filter/2, remove_primary_filter/1, add_handler/3,
         remove_handler/1, get_handler_config/0, get_handler_config/1, get_handler_ids/0,
         set_handler_config/2, set_handler_config/3, update_handler_config/2, update_handler_config/3,
         update_formatter_config/2, update_formatter_config/3, add_handler_filter/3, remove_handler_filter/2,
         set_module_level/2, unset_module_level/0, unset_module_level/1, get_module_level/0,
         get_module_level/1, set_process_metadata/1, update_process_metadata/1, get_process_metadata/0,
         unset_process_metadata/0, filter_stacktrace/2]).
-export([add_handlers/1, reconfigure/0, set_application_level/2, unset_application_level/1,
         get_proxy_config/0, set_proxy_config/1,
         update_proxy_config/1, i/0, i/1]).
-export([reset/0, config/0]).  % for logger_setup, logger_store

-define(METADATA, '$logger_metadata$').

%% Levels: emergency 0 to debug 7

level(none) -> -1;
level(emergency) -> 0;
level(alert) -> 1;
level(critical) -> 2;
level(error) -> 3;
level(warning) -> 4;
level(notice) -> 5;
level(info) -> 6;
level(debug) -> 7;
level(all) -> 10.

compare_levels(A, B) ->
    is_level(A) andalso is_level(B) orelse erlang:error(badarg, [A, B]),
    case {level(A), level(B)} of
        {Same, Same} -> eq;
        {LA, LB} when LA < LB -> gt;
        _ -> lt
    end.

%% Logging calls

emergency(X) -> log(emergency, X).
emergency(X, Y) -> log(emergency, X, Y).
emergency(F, A, Meta) -> log(emergency, F, A, Meta).
alert(X) -> log(alert, X).
alert(X, Y) -> log(alert, X, Y).
alert(F, A, Meta) -> log(alert, F, A, Meta).
critical(X) -> log(critical, X).
critical(X, Y) -> log(critical, X, Y).
critical(F, A, Meta) -> log(critical, F, A, Meta).
error(X) -> log(error, X).
error(X, Y) -> log(error, X, Y).
error(F, A, Meta) -> log(error, F, A, Meta).
warning(X) -> log(warning, X).
warning(X, Y) -> log(warning, X, Y).
warning(F, A, Meta) -> log(warning, F, A, Meta).
notice(X) -> log(notice, X).
notice(X, Y) -> log(notice, X, Y).
notice(F, A, Meta) -> log(notice, F, A, Meta).
info(X) -> log(info, X).
info(X, Y) -> log(info, X, Y).
info(F, A, Meta) -> log(info, F, A, Meta).
debug(X) -> log(debug, X).
debug(X, Y) -> log(debug, X, Y).
debug(F, A, Meta) -> log(debug, F, A, Meta).

log(Level, StringOrReport) -> log_message(Level, message(StringOrReport), #{}).

log(Level, StringOrReport, Meta) when is_map(Meta), not is_function(StringOrReport) ->
    log_message(Level, message(StringOrReport), Meta);
log(Level, FunOrFormat, Args) -> log(Level, FunOrFormat, Args, #{}).

log(Level, F, Args, Meta) when is_function(F, 1), is_map(Meta) ->
    log_lazily(Level, F, Args, Meta);
log(Level, Format, Args, Meta) when is_map(Meta), is_list(Args),
                                    (is_list(Format) orelse is_binary(Format) orelse is_atom(Format)) ->
    log_message(Level, {text(Format), Args}, Meta).

text(Format) when is_atom(Format) -> atom_to_list(Format);
text(Format) -> Format.

message(Report) when is_map(Report) -> {report, Report};
message([{_, _} | _] = Report) -> {report, Report};
message(String) when is_list(String); is_binary(String) -> {string, String}.

log_lazily(Level, F, Arg, Meta) ->
    case wanted(Level, Meta) of
        false -> ok;
        true ->
            try F(Arg) of
                {Message, Own} when is_map(Own) ->
                    log_result(Level, Message, maps:merge(Meta, Own), {F, Arg});
                Message -> log_result(Level, Message, Meta, {F, Arg})
            catch C:R -> log_message(Level, {"LAZY_FUN CRASH: ~tp; Reason: ~tp", [{F, Arg}, {C, R}]}, Meta)
            end
    end.

log_result(_, ignore, _, _) -> ok;
log_result(Level, {Format, Args}, Meta, _) when is_list(Args) ->
    log_message(Level, {text(Format), Args}, Meta);
log_result(Level, Message, Meta, _) when is_map(Message); is_list(Message); is_binary(Message) ->
    log_message(Level, message(Message), Meta);
log_result(Level, Other, Meta, Call) ->
    log_message(Level, {"LAZY_FUN ERROR: ~tp; Returned: ~tp", [Call, Other]}, Meta).

%% Metadata that names a function makes the level of its module count.
wanted(Level, #{mfa := {Module, _, _}}) when is_atom(Module) -> allow(Level, Module);
wanted(Level, _) -> level(Level) =< level(primary_level()).

log_message(Level, Message, Meta) ->
    case wanted(Level, Meta) of
        true -> dispatch(#{level => Level, msg => Message, meta => add_default_metadata(with_process(Meta))});
        false -> ok
    end.

%% Metadata of all events, of the process, of the call: the later wins.
with_process(Meta) ->
    All = case logger_store:given() of
              undefined -> #{};
              #{primary := #{metadata := Primary}} -> Primary
          end,
    case get(?METADATA) of
        undefined -> maps:merge(All, Meta);
        Own -> maps:merge(maps:merge(All, Own), Meta)
    end.

add_default_metadata(Meta) ->
    maps:merge(#{pid => self(), gl => group_leader(), time => timestamp()}, Meta).

timestamp() -> os:system_time(microsecond).

%% For the macros of logger.hrl

allow(Level, Module) when is_atom(Module) -> level(Level) =< level(module_level(Module)).

macro_log(Location, Level, StringOrReport) -> macro_log(Location, Level, StringOrReport, #{}).

macro_log(Location, Level, StringOrReport, Meta) when is_map(Meta) ->
    dispatch_macro(Location, Level, message(StringOrReport), Meta);
macro_log(Location, Level, FunOrFormat, Args) -> macro_log(Location, Level, FunOrFormat, Args, #{}).

macro_log(Location, Level, F, Args, Meta) when is_function(F, 1) ->
    log_lazily(Level, F, Args, maps:merge(Location, Meta));
macro_log(Location, Level, Format, Args, Meta) -> dispatch_macro(Location, Level, {text(Format), Args}, Meta).

dispatch_macro(Location, Level, Message, Meta) ->
    dispatch(#{level => Level, msg => Message,
               meta => add_default_metadata(maps:merge(maps:merge(Location, with_process(#{})), Meta))}).

%% From an event to the handlers

dispatch(Event) ->
    Config = config(),
    Primary = maps:get(primary, Config),
    case filtered(primary, Event, maps:get(filters, Primary), maps:get(filter_default, Primary)) of
        stop -> ok;
        Event1 -> handle_by_all(Event1, maps:get(handlers, Config))
    end.

%% By no other module: what fails in one of the library is logged too.
handle_by_all(_, []) -> ok;
handle_by_all(Event, [{_, Handler} | Handlers]) ->
    handle(Event, Handler),
    handle_by_all(Event, Handlers).

handle(#{level := Level} = Event, #{id := Id, module := Module} = Handler) ->
    case level(Level) =< level(maps:get(level, Handler)) of
        false -> ok;
        true ->
            case filtered(Id, Event, maps:get(filters, Handler), maps:get(filter_default, Handler)) of
                stop -> ok;
                Event1 ->
                    try Module:log(Event1, Handler)
                    catch Class:Reason:Stack -> handler_failed(Id, {Class, Reason, Stack})
                    end
            end
    end.

%% Told once, however many fail at the same time.
handler_failed(Id, Why) ->
    case remove_handler(Id) of
        ok -> catch io:format(standard_error, "Logger: removed handler ~tp: ~tp~n", [Id, Why]);
        {error, _} -> ok
    end.

%% A filter may stop or change the event, or have no opinion; after one has said yes the default counts no
%% more. One that fails is removed.
filtered(Owner, Event, [{Id, {F, Extra}} | Filters], Default) ->
    try F(Event, Extra) of
        stop -> stop;
        ignore -> filtered(Owner, Event, Filters, Default);
        #{level := _, msg := _, meta := _} = Event1 -> filtered(Owner, Event1, Filters, log);
        Other -> filter_failed(Owner, Id, {bad_return_value, Other}, Event, Filters, Default)
    catch Class:Reason:Stack ->
        filter_failed(Owner, Id, {Class, Reason, filter_stacktrace(?MODULE, Stack)}, Event, Filters, Default)
    end;
filtered(_, Event, [], log) -> Event;
filtered(_, _, [], stop) -> stop.

filter_failed(Owner, Id, Why, Event, Filters, Default) ->
    _ = case Owner of
            primary -> remove_primary_filter(Id);
            _ -> remove_handler_filter(Owner, Id)
        end,
    debug([{?MODULE, removed_failing_filter}, {filter, Id}, {owner, Owner}, {reason, Why}]),
    filtered(Owner, Event, Filters, Default).

%% Configuration

default_config() ->
    #{primary => default_primary(), modules => #{}, handlers => [{default, default_handler()}]}.

default_primary() -> #{level => notice, filters => [], filter_default => log, metadata => #{}}.

default_handler() ->
    #{id => default, module => logger_std_h, level => all, filters => [], filter_default => log,
      config => #{type => standard_error},
      formatter => {logger_formatter, #{legacy_header => true, single_line => false}}}.

config() ->
    case logger_store:given() of
        undefined -> default_config();
        Config -> Config
    end.

primary_level() ->
    case logger_store:given() of
        undefined -> notice;
        #{primary := #{level := Level}} -> Level
    end.

module_level(Module) ->
    case config() of
        #{modules := #{Module := Level}} -> Level;
        #{primary := #{level := Level}} -> Level
    end.

get_config() ->
    #{primary => get_primary_config(), handlers => get_handler_config(), module_levels => get_module_level(),
      proxy => get_proxy_config()}.

reset() -> logger_store:change(fun(_) -> {ok, default_config()} end).

get_primary_config() -> maps:get(primary, config()).

set_primary_config(Key, Value) -> change_primary(update, #{Key => Value}).

set_primary_config(New) -> change_primary(set, New).

update_primary_config(New) -> change_primary(update, New).

change_primary(How, New) ->
    case checked(primary, New) of
        ok ->
            logger_store:change(fun(#{primary := Old} = Config) ->
                                        Kept = case How of
                                                   set -> default_primary();
                                                   update -> Old
                                               end,
                                        {ok, Config#{primary := maps:merge(Kept, New)}}
                                end);
        Error -> Error
    end.

%% ok, or {error, Reason} for the first setting that is wrong. A handler may have settings of its own.
checked(Owner, Settings) when is_map(Settings) ->
    lists:foldl(fun({Key, Value}, ok) -> check(Owner, Key, Value);
                   (_, Error) -> Error
                end, ok, maps:to_list(Settings));
checked(_, Settings) -> {error, {invalid_config, Settings}}.

check(_, level, Level) -> ok_or(is_level(Level), {invalid_level, Level});
check(_, filter_default, Default) ->
    ok_or(Default =:= log orelse Default =:= stop, {invalid_filter_default, Default});
check(_, filters, Filters) when is_list(Filters) ->
    case [F || F <- Filters, not is_filter(F)] of
        [] -> ok;
        [Bad | _] -> {error, {invalid_filter, Bad}}
    end;
check(_, filters, Filters) -> {error, {invalid_filters, Filters}};
check(primary, metadata, Meta) -> ok_or(is_map(Meta), {invalid_metadata, Meta});
check(primary, Key, Value) -> {error, {invalid_primary_config, {Key, Value}}};
check(handler, formatter, {Module, _}) when not is_atom(Module) -> {error, {invalid_module, Module}};
check(handler, formatter, {Module, Config}) ->
    callback(Module, check_config, [Config], ok);
check(handler, formatter, Formatter) -> {error, {invalid_formatter, Formatter}};
check(handler, _, _) -> ok.

ok_or(true, _) -> ok;
ok_or(false, Reason) -> {error, Reason}.

is_filter({Id, {F, _}}) -> is_atom(Id) andalso is_function(F, 2);
is_filter(_) -> false.

is_level(Level) ->
    lists:member(Level, [none, emergency, alert, critical, error, warning, notice, info, debug, all]).

%% Filters, of all events (primary) or of a handler; the one that was added last is asked first.

add_primary_filter(Id, Filter) -> add_filter(primary, Id, Filter).

remove_primary_filter(Id) -> remove_filter(primary, Id).

add_handler_filter(HandlerId, Id, Filter) -> add_filter({handler, HandlerId}, Id, Filter).

remove_handler_filter(HandlerId, Id) -> remove_filter({handler, HandlerId}, Id).

add_filter(Owner, Id, Filter) ->
    case checked(Owner, #{filters => [{Id, Filter}]}) of
        ok ->
            change_filters(Owner, fun(Filters) ->
                                          case lists:keymember(Id, 1, Filters) of
                                              true -> {error, {already_exist, Id}};
                                              false -> {ok, [{Id, Filter} | Filters]}
                                          end
                                  end);
        Error -> Error
    end.

remove_filter(Owner, Id) ->
    change_filters(Owner, fun(Filters) ->
                                  case lists:keytake(Id, 1, Filters) of
                                      {value, _, Rest} -> {ok, Rest};
                                      false -> {error, {not_found, Id}}
                                  end
                          end).

change_filters(primary, Change) ->
    logger_store:change(fun(#{primary := Old} = Config) ->
                                with_filters(Change, Old, fun(New) -> Config#{primary := New} end)
                        end);
change_filters({handler, Id}, Change) ->
    logger_store:change(fun(#{handlers := Handlers} = Config) ->
                                case lists:keyfind(Id, 1, Handlers) of
                                    {_, Old} ->
                                        with_filters(Change, Old,
                                            fun(New) -> Config#{handlers := put_in(Id, New, Handlers)} end);
                                    false -> {error, {not_found, Id}}
                                end
                        end).

put_in(Id, Handler, Handlers) -> lists:keyreplace(Id, 1, Handlers, {Id, Handler}).

with_filters(Change, #{filters := Old} = Settings, Whole) ->
    case Change(Old) of
        {ok, New} -> {ok, Whole(Settings#{filters := New})};
        Error -> Error
    end.

%% Handlers. A handler module may export adding_handler/1, removing_handler/1
%% and changing_config/3 to have a say.

add_handler(Id, Module, Given) when is_atom(Id), is_atom(Module), is_map(Given) ->
    case {get_handler_config(Id), usable(Module, checked(handler, Given))} of
        {{ok, _}, _} -> {error, {already_exist, Id}};
        {_, {error, _} = Error} -> Error;
        {_, ok} ->
            Handler0 = maps:merge(new_handler(Id, Module), Given#{id => Id, module => Module}),
            case callback(Module, adding_handler, [Handler0], {ok, Handler0}) of
                {ok, Handler} -> logger_store:change(fun(Config) -> with_handler(Id, Handler, Config) end);
                {error, Reason} -> {error, {handler_not_added, Reason}};
                Other -> {error, {handler_not_added, {callback_crashed, {bad_return_value, Other}}}}
            end
    end;
add_handler(Id, _, _) when not is_atom(Id) -> {error, {invalid_id, Id}};
add_handler(_, Module, _) when not is_atom(Module) -> {error, {invalid_module, Module}};
add_handler(_, _, Given) -> {error, {invalid_config, Given}}.

with_handler(Id, Handler, #{handlers := Handlers} = Config) ->
    case lists:keymember(Id, 1, Handlers) of
        true -> {error, {already_exist, Id}};
        false -> {ok, Config#{handlers := [{Id, Handler} | Handlers]}}
    end.

new_handler(Id, Module) ->
    #{id => Id, module => Module, level => all, filters => [], filter_default => log,
        formatter => {logger_formatter, #{}}}.

usable(Module, ok) ->
    _ = code:ensure_loaded(Module),
    ok_or(erlang:function_exported(Module, log, 2),
          {invalid_handler, {function_not_exported, {Module, log, 2}}});
usable(_, Error) -> Error.

callback(Module, F, Args, Default) ->
    _ = code:ensure_loaded(Module),
    case erlang:function_exported(Module, F, length(Args)) of
        true ->
            try apply(Module, F, Args)
            catch C:R:S -> {error, {callback_crashed, {C, R, S}}}
            end;
        false -> Default
    end.

remove_handler(Id) ->
    Taken = logger_store:change(fun(#{handlers := Handlers} = Config) ->
                                        case lists:keytake(Id, 1, Handlers) of
                                            {value, {_, Handler}, Rest} ->
                                                {{ok, Handler}, Config#{handlers := Rest}};
                                            false -> {error, {not_found, Id}}
                                        end
                                end),
    case Taken of
        {ok, #{module := Module} = Handler} ->
            _ = callback(Module, removing_handler, [Handler], ok),
            ok;
        Error -> Error
    end.

%% The one that was added last first.
get_handler_ids() -> [Id || {Id, _} <- maps:get(handlers, config())].

get_handler_config() -> [Handler || {_, Handler} <- maps:get(handlers, config())].

get_handler_config(Id) ->
    case lists:keyfind(Id, 1, maps:get(handlers, config())) of
        {_, Handler} -> {ok, Handler};
        false -> {error, {not_found, Id}}
    end.

set_handler_config(Id, Key, Value) ->
    change_handler(Id, set, #{Key => Value}, fun(Old) -> Old#{Key => Value} end).

set_handler_config(Id, New) ->
    change_handler(Id, set, New, fun(#{module := Module}) -> maps:merge(new_handler(Id, Module), New) end).

update_handler_config(Id, Key, Value) -> update_handler_config(Id, #{Key => Value}).

update_handler_config(Id, New) -> change_handler(Id, update, New, fun(Old) -> maps:merge(Old, New) end).

change_handler(Id, How, Given, Change) ->
    case {get_handler_config(Id), checked(handler, Given)} of
        {{ok, #{module := Module} = Old}, ok} ->
            New = Change(Old),
            case stays_itself(Old, New) andalso changed(Module, How, Old, New) of
                {ok, Accepted} ->
                    replace_handler(Id, Old, Accepted, fun() -> change_handler(Id, How, Given, Change) end);
                false ->
                    {Was, Wanted} = different([id, module], Old, New),
                    {error, {illegal_config_change, Was, Wanted}};
                Error -> Error
            end;
        {{ok, _}, Error} -> Error;
        {Error, _} -> Error
    end.

stays_itself(Old, New) -> maps:with([id, module], Old) =:= maps:with([id, module], New).

%% Of both, those of the keys whose values differ.
different(Keys, A, B) ->
    Differing = [Key || Key <- Keys, maps:find(Key, A) =/= maps:find(Key, B)],
    {maps:with(Differing, A), maps:with(Differing, B)}.

%% Again: what to do when somebody else has changed the handler meanwhile.
replace_handler(Id, Old, New, Again) ->
    Replaced = logger_store:change(fun(#{handlers := Handlers} = Config) ->
                                           case lists:keyfind(Id, 1, Handlers) of
                                               {_, Old} -> {ok, Config#{handlers := put_in(Id, New,
                                                   Handlers)}};
                                               {_, _} -> again;
                                               false -> {error, {not_found, Id}}
                                           end
                                   end),
    case Replaced of
        again -> Again();
        Result -> Result
    end.

update_formatter_config(Id, Key, Value) -> update_formatter_config(Id, #{Key => Value}).

update_formatter_config(Id, New) when is_map(New) ->
    case get_handler_config(Id) of
        {ok, #{formatter := {Module, Config}} = Old} ->
            Formatter = {Module, maps:merge(Config, New)},
            case check(handler, formatter, Formatter) of
                ok ->
                    replace_handler(Id, Old, Old#{formatter := Formatter},
                        fun() -> update_formatter_config(Id, New) end);
                Error -> Error
            end;
        Error -> Error
    end;
update_formatter_config(_, New) -> {error, {invalid_formatter_config, New}}.

%% Handlers of OTP 21 have a callback without How.
changed(Module, How, Old, New) ->
    case callback(Module, changing_config, [How, Old, New], undefined) of
        undefined -> callback(Module, changing_config, [Old, New], {ok, New});
        Result -> Result
    end.

%% Levels of modules, which count for the macros

set_module_level(Module, Level) when is_atom(Module) -> set_module_level([Module], Level);
set_module_level(Modules, Level) ->
    case is_list(Modules) andalso lists:all(fun is_atom/1, Modules) of
        false -> {error, {not_a_list_of_modules, Modules}};
        true ->
            case is_level(Level) of
                true -> change_levels(fun(Old) -> maps:merge(Old, maps:from_keys(Modules, Level)) end);
                false -> {error, {invalid_level, Level}}
            end
    end.

change_levels(Change) ->
    logger_store:change(fun(#{modules := Old} = Config) -> {ok, Config#{modules := Change(Old)}} end).

unset_module_level() -> change_levels(fun(_) -> #{} end).

unset_module_level(Module) when is_atom(Module) -> unset_module_level([Module]);
unset_module_level(Modules) ->
    case is_list(Modules) andalso lists:all(fun is_atom/1, Modules) of
        false -> {error, {not_a_list_of_modules, Modules}};
        true -> change_levels(fun(Old) -> maps:without(Modules, Old) end)
    end.

get_module_level() -> maps:to_list(maps:get(modules, config())).

get_module_level(Modules) when is_list(Modules) ->
    [{M, L} || {M, L} <- get_module_level(), lists:member(M, Modules)];
get_module_level(Module) -> get_module_level([Module]).

%% For all modules of an application, and from the environments of applications

set_application_level(Application, Level) -> logger_setup:set_application_level(Application, Level).

unset_application_level(Application) -> logger_setup:unset_application_level(Application).

add_handlers(Wanted) -> logger_setup:add_handlers(Wanted).

reconfigure() -> logger_setup:reconfigure().

%% What protects the process that logs for the machine

get_proxy_config() -> proxy_of(config()).

proxy_of(#{proxy := Proxy}) -> Proxy;
proxy_of(#{}) -> logger_overload:default_config().

set_proxy_config(New) -> change_proxy(New, fun(_) -> logger_overload:default_config() end).

update_proxy_config(New) -> change_proxy(New, fun proxy_of/1).

change_proxy(New, Kept) when is_map(New) ->
    logger_store:change(fun(Config) ->
                                Proxy = maps:merge(Kept(Config), New),
                                case logger_overload:check_proxy(Proxy) of
                                    ok -> {ok, Config#{proxy => Proxy}};
                                    Error -> Error
                                end
                        end);
change_proxy(New, _) -> {error, {invalid_config, New}}.

%% The configuration as text

i() ->
    #{primary := Primary, handlers := Handlers, proxy := Proxy, module_levels := Levels} = get_config(),
    logger_info:print([{primary, Primary}, {handlers, Handlers}, {proxy, Proxy}, {modules, Levels}]).

i(primary) -> logger_info:print([{primary, get_primary_config()}]);
i(handlers) -> logger_info:print([{handlers, get_handler_config()}]);
i(proxy) -> logger_info:print([{proxy, get_proxy_config()}]);
i(modules) -> logger_info:print([{modules, get_module_level()}]);
i(Id) when is_atom(Id) ->
    case get_handler_config(Id) of
        {ok, Handler} -> logger_info:print([{handlers, [Handler]}]);
        Error -> Error
    end;
i(What) -> erlang:error(badarg, [What]).

%% Metadata of a process

set_process_metadata(Meta) when is_map(Meta) ->
    _ = put(?METADATA, Meta),
    ok;
set_process_metadata(Meta) -> erlang:error(badarg, [Meta]).

update_process_metadata(Meta) when is_map(Meta) ->
    case get(?METADATA) of
        undefined -> set_process_metadata(Meta);
        Old -> set_process_metadata(maps:merge(Old, Meta))
    end;
update_process_metadata(Meta) -> erlang:error(badarg, [Meta]).

get_process_metadata() -> get(?METADATA).

unset_process_metadata() ->
    _ = erase(?METADATA),
    ok.

%% The stack down to the module that called what failed, without it.
filter_stacktrace(Module, Stack) -> lists:takewhile(fun(Entry) -> element(1, Entry) =/= Module end, Stack).

%% Reports as format and arguments

format_report(Report) when is_map(Report) -> format_report(maps:to_list(Report));
format_report([_ | _] = Report) ->
    Flat = try lists:flatten(Report) catch error:_ -> Report end,
    case io_lib:printable_unicode_list(Flat) of
        true when Flat =:= [] -> {"~tp", [[]]};
        true -> {"~ts", [Flat]};
        false ->
            try lists:unzip([report_item(Item) || Item <- Report]) of
                {Formats, Args} -> {lists:append(lists:join("\n", Formats)), lists:append(Args)}
            catch error:{bad_generator, _} -> {"~tp", [Report]}
            end
    end;
format_report(Report) -> {"~tp", [Report]}.

report_item({Key, Value}) ->
    case is_text(Value) of
        true -> {"    ~tp: ~ts", [Key, Value]};
        false -> {"    ~tp: ~tp", [Key, Value]}
    end;
report_item(Item) -> {"    ~tp", [Item]}.

is_text([_ | _] = Value) -> io_lib:printable_unicode_list(Value);
is_text(_) -> false.

%% Reports of supervisors and the like: {Context, Items}
format_otp_report(#{label := _, report := Report}) -> format_report(Report);
format_otp_report(Report) -> format_report(Report).
