%% SPDX-License-Identifier: Apache-2.0
%% Logging as the environments of applications want it: their parameter logger, and for kernel
%% logger_level and logger_metadata too.
-module(logger_setup).

-export([add_handlers/1, reconfigure/0, set_application_level/2, unset_application_level/1]).

set_application_level(Application, Level) ->
    with_modules(Application, fun(Modules) -> logger:set_module_level(Modules, Level) end).

unset_application_level(Application) -> with_modules(Application, fun logger:unset_module_level/1).

with_modules(Application, Change) ->
    case application:get_key(Application, modules) of
        {ok, Modules} -> Change(Modules);
        undefined -> {error, {not_loaded, Application}}
    end.

%% An application, or a list as its environment has it.
add_handlers(kernel) ->
    Wanted = environment(kernel, logger, []),
    case lists:keyfind(proxy, 1, Wanted) of
        {proxy, Config} ->
            case logger:set_proxy_config(Config) of
                ok -> add_handlers(kernel, Wanted);
                {error, Reason} -> {error, {bad_proxy_config, Reason}}
            end;
        false -> add_handlers(kernel, Wanted)
    end;
add_handlers(Application) when is_atom(Application) ->
    add_handlers(Application, environment(Application, logger, []));
add_handlers(Wanted) -> add_handlers(undefined, Wanted).

add_handlers(Application, Wanted) ->
    try
        check(Application, Wanted),
        lists:foreach(fun add_handler/1, Wanted)
    catch throw:Reason0 ->
        Reason = case Application of
                     undefined -> Reason0;
                     _ -> {Application, Reason0}
                 end,
        logger:error("Invalid logger handler config: ~p", [Reason]),
        {error, {bad_config, {handler, Reason}}}
    end.

check(_, []) -> ok;
check(Application, [{handler, _, _, _} | Wanted]) -> check(Application, Wanted);
check(kernel, [{handler, default, undefined} | Wanted]) -> check(kernel, Wanted);
check(kernel, [{What, _, _} | Wanted]) when What =:= filters; What =:= module_level -> check(kernel, Wanted);
check(kernel, [{proxy, _} | Wanted]) -> check(kernel, Wanted);
check(_, Wrong) -> throw(Wrong).

%% A handler that takes the default one's name gets its usual filters if it has none.
add_handler({handler, default, Module, Config}) when not is_map_key(filters, Config) ->
    added(logger:add_handler(default, Module,
                             maps:merge(#{filter_default => stop, filters => default_filters()}, Config)));
add_handler({handler, Id, Module, Config}) -> added(logger:add_handler(Id, Module, Config));
add_handler(_) -> ok.

added(ok) -> ok;
added({error, Reason}) -> throw(Reason).

default_filters() ->
    [{remote_gl, {fun logger_filters:remote_gl/2, stop}},
     {domain, {fun logger_filters:domain/2, {log, super, [otp, sasl]}}},
     {no_domain, {fun logger_filters:domain/2, {log, undefined, []}}}].

%% As if the system had just started: what programs have set is gone.
reconfigure() ->
    Wanted = environment(kernel, logger, []),
    try
        check(kernel, Wanted),
        [added(logger:remove_handler(Id)) || Id <- logger:get_handler_ids()],
        logger:reset(),
        [added(logger:remove_handler(default))
         || lists:keymember(default, 2, [Item || Item <- Wanted, element(1, Item) =:= handler])],
        [added(logger:set_primary_config(Key, Value))
         || {Key, Parameter} <- [{level, logger_level}, {metadata, logger_metadata}],
            Value <- [environment(kernel, Parameter, undefined)], Value =/= undefined],
        [set_filters(Default, Filters) || {filters, Default, Filters} <- Wanted],
        [added(logger:set_module_level(Modules, Level)) || {module_level, Level, Modules} <- Wanted],
        add_handlers(kernel)
    catch throw:Reason ->
        logger:error("Invalid logger config: ~p", [Reason]),
        {error, {bad_config, {kernel, Reason}}}
    end.

set_filters(Default, Filters) ->
    added(logger:set_primary_config(filter_default, Default)),
    [added(logger:add_primary_filter(Id, Filter)) || {Id, Filter} <- Filters].

%% Of kernel there is what the command line says, also without applications.
environment(kernel, Parameter, Default) ->
    case whereis(application_controller) of
        undefined -> kernel_options:get(Parameter, Default);
        _ -> application:get_env(kernel, Parameter, Default)
    end;
environment(Application, Parameter, Default) -> application:get_env(Application, Parameter, Default).
