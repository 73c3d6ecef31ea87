%% SPDX-License-Identifier: Apache-2.0
%% The older interface to logging; everything goes to logger. Information is
%% logged at level notice, so that it is shown by default.
-module(error_logger).

-export([error_msg/1, error_msg/2, format/2, error_report/1, error_report/2, warning_msg/1, warning_msg/2,
         warning_report/1, warning_report/2, info_msg/1, info_msg/2, info_report/1, info_report/2,
         error_info/1, get_format_depth/0, limit_term/1, tty/1, report_to_format/1]).
-export([start/0, start_link/0, stop/0, add_report_handler/1, add_report_handler/2, delete_report_handler/1,
         which_report_handlers/0,
         logfile/1]).
-export([adding_handler/1, removing_handler/1, log/2]).  % as a handler of logger

error_msg(Format) -> error_msg(Format, []).
error_msg(Format, Args) -> message(error, Format, Args, error).

format(Format, Args) -> error_msg(Format, Args).

warning_msg(Format) -> warning_msg(Format, []).
warning_msg(Format, Args) -> message(warning, Format, Args, warning_msg).

info_msg(Format) -> info_msg(Format, []).
info_msg(Format, Args) -> message(notice, Format, Args, info_msg).

%% Whatever Format and Args are: who logs is not to fail.
message(Level, Format, Args, Tag) ->
    logger:log(Level, #{label => {?MODULE, Tag}, format => Format, args => Args},
               #{report_cb => fun ?MODULE:report_to_format/1, error_logger => #{tag => Tag}}).

error_info(Error) ->
    {Format, Args} = case is_list(Error) andalso io_lib:printable_list(lists:flatten(Error)) of
                         true -> {Error, []};
                         false -> {"~p", [Error]}
                     end,
    logger:log(notice, Format, Args, #{domain => [Error], error_logger => #{tag => info, type => Error}}).

error_report(Report) -> error_report(std_error, Report).
error_report(Type, Report) -> report(error, Type, Report, error_report).

warning_report(Report) -> warning_report(std_warning, Report).
warning_report(Type, Report) -> report(warning, Type, Report, warning_report).

info_report(Report) -> info_report(std_info, Report).
info_report(Type, Report) -> report(notice, Type, Report, info_report).

report(Level, Type, Report, Tag) ->
    Domain = case lists:member({Tag, Type},
                               [{error_report, std_error}, {warning_report, std_warning},
                                {info_report, std_info}]) of
                 true -> #{};
                 false -> #{domain => [Type]}
             end,
    logger:log(Level, #{label => {?MODULE, Tag}, report => Report},
               Domain#{report_cb => fun ?MODULE:report_to_format/1,
                       error_logger => #{tag => Tag, type => Type}}).

report_to_format(#{format := Format, args := Args}) ->
    try io_lib:scan_format(Format, Args) of
        _ -> {Format, Args}
    catch _:_ -> {"ERROR: ~tp - ~tp", [Format, Args]}
    end;
report_to_format(#{report := Report}) when is_list(Report), Report =/= [] ->
    case io_lib:printable_unicode_list(Report) of
        true -> {"~ts", [Report]};
        false ->
            {Formats, Args} = lists:unzip([item(Item) || Item <- Report]),
            {lists:append(lists:join("~n", Formats)), lists:append(Args)}
    end;
report_to_format(#{report := Report}) -> {"~tp", [Report]}.

item({Tag, Data}) ->
    case is_list(Data) andalso Data =/= [] andalso io_lib:printable_unicode_list(Data) of
        true -> {"    ~tp: ~ts", [Tag, Data]};
        false -> {"    ~tp: ~tp", [Tag, Data]}
    end;
item(Data) -> {"    ~tp", [Data]}.

get_format_depth() -> unlimited.

limit_term(Term) -> Term.

%% Whether the default handler prints, or one in its place where there is none.

tty(true) ->
    _ = case lists:member(error_logger_tty_h, which_report_handlers()) orelse prints_by_default() of
            true -> logger:remove_handler_filter(default, error_logger_tty_false);
            false ->
                logger:add_handler(error_logger_tty_true, logger_std_h,
                                   #{config => #{type => standard_error},
                                     formatter => {logger_formatter,
                                                   #{legacy_header => true, single_line => false}}})
        end,
    ok;
tty(false) ->
    _ = delete_report_handler(error_logger_tty_h),
    _ = logger:remove_handler(error_logger_tty_true),
    _ = prints_by_default()
        andalso logger:add_handler_filter(default, error_logger_tty_false, {fun(_, _) -> stop end, ok}),
    ok.

prints_by_default() ->
    case logger:get_handler_config(default) of
        {ok, #{module := logger_std_h, config := #{type := Type}}} ->
            Type =:= standard_error orelse Type =:= standard_io;
        _ -> false
    end.

%% Event handlers of the older interface: they are a gen_event's, which is there as long as one of
%% them is.

start() -> error_logger_events:start().
start_link() -> error_logger_events:start_link().
stop() -> error_logger_events:stop().

adding_handler(Config) ->
    case start() of
        ok -> {ok, Config};
        Error -> Error
    end.

removing_handler(_) -> stop().

log(Event, _) -> error_logger_events:notify(Event).

add_report_handler(Module) -> add_report_handler(Module, []).
add_report_handler(Module, Args) when is_atom(Module) -> error_logger_events:add(Module, Args).

delete_report_handler(Module) when is_atom(Module) -> error_logger_events:delete(Module).

which_report_handlers() -> error_logger_events:handlers().

%% All of it to a file, by a handler of an installed OTP.

logfile({open, File}) ->
    case lists:member(error_logger_file_h, which_report_handlers()) of
        true -> {error, allready_have_logfile};
        false -> add_report_handler(error_logger_file_h, File)
    end;
logfile(close) -> error_logger_events:close_file();
logfile(filename) -> error_logger_events:file_name().
