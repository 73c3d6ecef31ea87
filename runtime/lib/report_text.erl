%% SPDX-License-Identifier: Apache-2.0
%% The reports of behaviours as text, for their functions format_log/2. A behaviour says each report
%% in two ways, on several lines and on one, as {Format, Arguments}; the terms that are long or
%% short as logger's formatter wants them are written "~tp" there.
-module(report_text).

-export([text/4, label/2, reason/1, undefined/3]).

text(Report, Options0, OnLines, OnOne) ->
    Options = maps:merge(#{chars_limit => unlimited, depth => unlimited, single_line => false,
                           encoding => utf8}, Options0),
    {Format, Args} = case Options of
                         #{single_line := true} -> OnOne(Report);
                         #{single_line := false} -> OnLines(Report)
                     end,
    Limit = maps:get(chars_limit, Options),
    io_lib:build_text([adjusted(Part, Options) || Part <- io_lib:scan_format(Format, Args)],
                      [{chars_limit, Limit} || Limit =/= unlimited]).

adjusted(#{control_char := $p, encoding := unicode, width := none} = Part,
         #{single_line := Single, depth := Depth, encoding := Encoding}) ->
    deep(Part#{width := case Single of true -> 0; false -> none end,
               encoding := case Encoding of latin1 -> latin1; _ -> unicode end}, Depth);
adjusted(Part, _) -> Part.

deep(Part, unlimited) -> Part;
deep(#{args := Args} = Part, Depth) -> Part#{control_char := $P, args := Args ++ [Depth]}.

%% What a report says of a process that calls itself something.
label(Format, Report) ->
    case Report of
        #{process_label := Label} when Label =/= undefined -> {Format, [Label]};
        #{} -> {"", []}
    end.

%% Why a function was undefined
reason({undef, [{M, F, A, _} | _] = Stack} = Reason) ->
    case undefined(M, F, A) of
        {Why, _} -> {Why, Stack};
        false -> Reason
    end;
reason(Reason) -> Reason.

undefined(M, F, A) ->
    Arity = if is_list(A) -> length(A); true -> A end,
    case {code:is_loaded(M), erlang:function_exported(M, F, Arity)} of
        {false, _} -> {'module could not be loaded', M};
        {_, false} -> {'function not exported', {M, F, Arity}};
        _ -> false
    end.
