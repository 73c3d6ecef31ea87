%% SPDX-License-Identifier: Apache-2.0
%% The file server, registered as file_server_2: operations on names, one at a time, on a
%% port of the file driver that it keeps; and the start of the processes that are open
%% files. It is not there until somebody needs it, so that programs without files do
%% not wait for it.
-module(file_server).
-behaviour(gen_server).

-export([start/0, start_link/0, stop/0, ensure_started/0, format_error/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2]).

-define(SERVER, file_server_2).
-define(IO_SERVERS, file_io_servers). % {Pid, Name} of open files

%% The state is the port; `none` until it is needed.

format_error({_Line, ?MODULE, Reason}) -> io_lib:format("~w", [Reason]);
format_error({_Line, Module, Reason}) -> Module:format_error(Reason);
format_error(Posix) -> erl_posix_msg:message(Posix).

start() -> gen_server:start({local, ?SERVER}, ?MODULE, [], []).

start_link() -> gen_server:start_link({local, ?SERVER}, ?MODULE, [], []).

stop() -> gen_server:call(?SERVER, stop, infinity).

%% Several may come at the same time; one of them starts it.
ensure_started() ->
    case start() of
        {ok, Pid} -> Pid;
        {error, {already_started, Pid}} -> Pid
    end.

%% It belongs to nobody, least of all to whoever happened to come first.
init([]) ->
    process_flag(trap_exit, true),
    case whereis(user) of
        undefined -> ok;
        User -> group_leader(User, self())
    end,
    ?IO_SERVERS = ets:new(?IO_SERVERS, [named_table]),
    {ok, none}.

handle_call({open, Name, Modes}, {Opener, _}, Port) when is_list(Modes) ->
    case file_io_server:start_link(Opener, Name, Modes) of
        {ok, Pid} = Ok ->
            ets:insert(?IO_SERVERS, {Pid, Name}),
            {reply, Ok, Port};
        Error -> {reply, Error, Port}
    end;
handle_call({open, _, _}, _, Port) -> {reply, {error, einval}, Port};
handle_call({read_file, Name}, _, Port) -> {reply, prim_file:read_file(Name), Port};
handle_call({write_file, Name, Data}, _, Port) -> {reply, prim_file:write_file(Name, Data), Port};
handle_call({copy, Source, SourceModes, Dest, DestModes, Length}, _, Port) ->
    {reply, copy(Source, SourceModes, Dest, DestModes, Length), Port};
handle_call(stop, _, Port) -> {stop, normal, stopped, Port};
handle_call(Request, From, none) ->
    case prim_file:start() of
        {ok, Port} -> handle_call(Request, From, Port);
        Error -> {reply, Error, none}
    end;
handle_call(Request, _, Port) when is_tuple(Request) -> {reply, prim_file:operate(Port, Request), Port};
handle_call(Request, From, Port) ->
    error_logger:error_msg("handle_call(~tp, ~tp, _)", [Request, From]),
    {noreply, Port}.

handle_cast(Message, Port) ->
    error_logger:error_msg("handle_cast(~tp, _)", [Message]),
    {noreply, Port}.

handle_info({'EXIT', Pid, _}, Port) when is_pid(Pid) ->
    ets:delete(?IO_SERVERS, Pid),
    {noreply, Port};
handle_info({'EXIT', Port, _}, Port) -> {noreply, none};
handle_info({'EXIT', Other, _}, Port) when is_port(Other) -> {noreply, Port};
handle_info(Message, Port) ->
    error_logger:error_msg("handle_Info(~tp, _)", [Message]),
    {noreply, Port}.

terminate(_, none) -> ok;
terminate(_, Port) -> prim_file:stop(Port).

copy(Source, SourceModes, Dest, DestModes, Length) ->
    case prim_file:open(Source, [read, binary | SourceModes]) of
        {ok, From} ->
            Result = case prim_file:open(Dest, [write, binary | DestModes]) of
                         {ok, To} ->
                             Copied = file:copy_opened(From, To, Length),
                             case {Copied, prim_file:close(To)} of
                                 {{ok, _}, {error, _} = Error} ->
                                     _ = prim_file:close(To),
                                     Error;
                                 _ -> Copied
                             end;
                         Error -> Error
                     end,
            _ = prim_file:close(From),
            Result;
        Error -> Error
    end.
