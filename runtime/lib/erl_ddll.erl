%% SPDX-License-Identifier: Apache-2.0
%% Drivers loaded at run time: what waits until it is done. The rest are built-in functions, which
%% lead to ddll_server.
-module(erl_ddll).

-export([start/0, stop/0, load/2, load_driver/2, unload/1, unload_driver/1, reload/2, reload_driver/2]).
-export([info/0, info/1, format_error/1]).

start() -> {error, {already_started, undefined}}.
stop() -> ok.

%% ---- Loading and unloading that waits until it is done ----------------------

load(Path, Name) -> load_and_wait(Path, Name, []).
load_driver(Path, Name) -> load_and_wait(Path, Name, [{driver_options, [kill_ports]}]).
reload(Path, Name) -> load_and_wait(Path, Name, [{reload, pending_driver}]).
reload_driver(Path, Name) ->
    load_and_wait(Path, Name, [{reload, pending_driver}, {driver_options, [kill_ports]}]).

load_and_wait(Path, Name, Options) ->
    case erl_ddll:try_load(Path, Name, [{monitor, pending_driver} | Options]) of
        {ok, pending_driver, Ref} ->
            receive
                {'UP', Ref, driver, _, loaded} -> ok;
                {'UP', Ref, driver, _, permanent} -> {error, permanent};
                {'DOWN', Ref, driver, _, {load_failure, Reason}} -> {error, Reason};
                {'DOWN', Ref, driver, _, load_cancelled} -> {error, load_cancelled}
            end;
        {ok, _} -> ok;
        {error, inconsistent} -> {error, bad_driver_name};
        {error, _} = Error -> Error
    end.

unload(Name) -> unload_and_wait(Name, []).
unload_driver(Name) -> unload_and_wait(Name, [{monitor, pending_driver}, kill_ports]).

unload_and_wait(Name, Options) ->
    case erl_ddll:try_unload(Name, Options) of
        {ok, pending_driver, Ref} ->
            receive
                {'DOWN', Ref, driver, _, unloaded} -> ok;
                {'UP', Ref, driver, _, unload_cancelled} -> ok;
                {'UP', Ref, driver, _, permanent} -> {error, permanent}
            end;
        {ok, _} -> ok;
        {error, _} = Error -> Error
    end.

info() ->
    [{Name, info(Name)} || Name <- ddll_server:not_linked_in()].

info(Name) ->
    [{Tag, erl_ddll:info(Name, Tag)} || Tag <- [processes, driver_options, port_count, linked_in_driver,
        permanent, awaiting_load, awaiting_unload]].

format_error({open_error, Text}) -> Text;
format_error(Error) -> erl_ddll:format_error_int(Error).
