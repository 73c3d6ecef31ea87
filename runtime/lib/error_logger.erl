%% The older interface to logging; everything goes to logger. Information is
%% logged at level notice, so that it is shown by default.
-module(error_logger).

-export([error_msg/1, error_msg/2, format/2, error_report/1, error_report/2, warning_msg/1, warning_msg/2,
         warning_report/1, warning_report/2, info_msg/1, info_msg/2, info_report/1, info_report/2,
         get_format_depth/0, limit_term/1, tty/1, report_to_format/1]).

error_msg(Format) -> error_msg(Format, []).
error_msg(Format, Args) -> message(error, Format, Args, error).

format(Format, Args) -> error_msg(Format, Args).

warning_msg(Format) -> warning_msg(Format, []).
warning_msg(Format, Args) -> message(warning, Format, Args, warning_msg).

info_msg(Format) -> info_msg(Format, []).
info_msg(Format, Args) -> message(notice, Format, Args, info_msg).

message(Level, Format, Args, Tag) ->
    logger:log(Level, Format, Args, #{error_logger => #{tag => Tag}}).

error_report(Report) -> error_report(std_error, Report).
error_report(Type, Report) -> report(error, Type, Report, error_report).

warning_report(Report) -> warning_report(std_warning, Report).
warning_report(Type, Report) -> report(warning, Type, Report, warning_report).

info_report(Report) -> info_report(std_info, Report).
info_report(Type, Report) -> report(notice, Type, Report, info_report).

report(Level, Type, Report, Tag) ->
    logger:log(Level, #{label => {?MODULE, Tag}, report => Report},
               #{report_cb => fun ?MODULE:report_to_format/1, error_logger => #{tag => Tag, type => Type}}).

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

%% Whether the default handler prints.
tty(true) -> logger:set_handler_config(default, level, all);
tty(false) -> logger:set_handler_config(default, level, none).
