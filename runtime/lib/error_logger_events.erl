%% SPDX-License-Identifier: Apache-2.0
%% Events of the interface that was before logger, for handlers written for it. As a handler of
%% logger, error_logger hands on what was logged by its own functions, or by others that say in the
%% metadata, under error_logger, what it would have been. A gen_event of that name has the event
%% handlers; their events are {Tag, GroupLeader, {Pid, FormatOrType, ArgsOrReport}}.
-module(error_logger_events).

-export([start/0, start_link/0, stop/0, add/2, delete/1, handlers/0, file_name/0, close_file/0, notify/1]).

-define(MANAGER, error_logger).
-define(FILE_HANDLER, error_logger_file_h).

%% It belongs to the system, not to whoever happens to ask for it first.
start() ->
    case gen_event:start({local, ?MANAGER}) of
        {ok, Pid} ->
            true = group_leader(whereis(user), Pid),
            ok;
        {error, {already_started, _}} -> ok;
        Error -> Error
    end.

start_link() -> gen_event:start_link({local, ?MANAGER}).

stop() ->
    case is_running() of
        true -> gen_event:stop(?MANAGER, {shutdown, stopped}, infinity);
        false -> ok
    end.

is_running() -> whereis(?MANAGER) =/= undefined.

add(Module, Args) ->
    _ = logger:add_handler(?MANAGER, error_logger, #{level => info, filter_default => log}),
    gen_event:add_handler(?MANAGER, Module, Args).

delete(Module) ->
    case is_running() of
        true ->
            Deleted = gen_event:delete_handler(?MANAGER, Module, []),
            _ = handlers() =:= [] andalso logger:remove_handler(?MANAGER),
            Deleted;
        false -> ok
    end.

handlers() ->
    case is_running() of
        true -> gen_event:which_handlers(?MANAGER);
        false -> []
    end.

file_name() ->
    case is_running() andalso gen_event:call(?MANAGER, ?FILE_HANDLER, filename) of
        {error, _} -> {error, no_log_file};
        false -> {error, no_log_file};
        Name -> Name
    end.

close_file() ->
    case is_running() andalso gen_event:delete_handler(?MANAGER, ?FILE_HANDLER, normal) of
        false -> {error, module_not_found};
        {error, _} = Error -> Error;
        _ -> ok
    end.

notify(#{level := Level, msg := Message,
         meta := #{error_logger := #{tag := Tag} = Old, pid := Pid0, gl := Leader} = Meta}) ->
    case content(Message, Old, Meta) of
        {What, Detail} ->
            Pid = case Old of
                      #{emulator := true} -> emulator;
                      #{} -> Pid0
                  end,
            {SentTag, SentWhat} = mapped(Level, error_logger:warning_map(), Tag, What),
            gen_event:notify(?MANAGER, {SentTag, Leader, {Pid, SentWhat, Detail}});
        none -> ok
    end;
notify(_) -> ok.

content({report, #{label := _, report := Report}}, #{type := Type}, _) -> {Type, Report};
content({report, Report}, #{type := Type}, _) -> {Type, Report};
content({report, #{label := _, format := Format, args := Args}}, _, _) -> {Format, Args};
content({report, Report}, Old, Meta) ->
    formatted(Report, maps:get(report_cb, Old, maps:get(report_cb, Meta, fun logger:format_report/1)));
content({Format, Args}, _, _) when is_list(Format), is_list(Args) -> {Format, Args};
content(_, _, _) -> none.

formatted(Report, Callback) ->
    try text(Report, Callback) of
        {Format, Args} when is_list(Format), is_list(Args) -> {Format, Args};
        Text when is_function(Callback, 2), is_list(Text) -> {"~ts", [Text]};
        Text when is_function(Callback, 2), is_binary(Text) -> {"~ts", [Text]};
        Other -> {"REPORT_CB ERROR: ~tp; Returned: ~tp", [Report, Other]}
    catch Class:Reason -> {"REPORT_CB CRASH: ~tp; Reason: ~tp", [Report, {Class, Reason}]}
    end.

text(Report, Callback) when is_function(Callback, 1) -> Callback(Report);
text(Report, Callback) -> Callback(Report,
                                   #{depth => error_logger:get_format_depth(), chars_limit => unlimited,
                                     single_line => false}).

%% Warnings are what the machine has been told to make of them.
mapped(warning, error, Tag, What) ->
    renamed([{warning_msg, error}, {warning_report, error_report}], std_error, Tag, What);
mapped(warning, info, Tag, What) ->
    renamed([{warning_msg, info_msg}, {warning_report, info_report}], std_info, Tag, What);
mapped(_, _, Tag, What) -> {Tag, What}.

renamed(Tags, Standard, Tag, What) ->
    {proplists:get_value(Tag, Tags, Tag), case What of std_warning -> Standard; _ -> What end}.
