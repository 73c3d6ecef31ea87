%% One account of bank.act.
-module(account).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2]).

init({Name, Amount}) ->
    ets:insert_new(ledger, {Name, Amount}),
    {ok, Name}.

handle_call(balance, _From, Name) ->
    {reply, balance(Name), Name};
handle_call({deposit, N}, _From, Name) ->
    ets:update_counter(ledger, Name, N),
    {reply, ok, Name};
handle_call({withdraw, N}, _From, Name) ->
    case balance(Name) of
        B when B >= N ->
            ets:update_counter(ledger, Name, -N),
            {reply, ok, Name};
        B ->
            {reply, {error, {only, B}}, Name}
    end.

handle_cast(robbery, _Name) -> error(robbery).

balance(Name) -> ets:lookup_element(ledger, Name, 2).
