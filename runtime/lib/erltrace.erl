%% SPDX-License-Identifier: Apache-2.0
%% D scripts on the machine this runs in: docs/erltrace.md. Names and results are those of the library
%% of that name for DTrace (a handle is opened, given a script, started, and asked for what it recorded).
-module(erltrace).

-export([open/0, setopt/3, compile/2, go/1, consume/1, walk/1, walk/2, stop/1]).
-export_type([handle/0, probe/0, record/0, element/0]).
-nifs([open/0, setopt_of/3, compile_text/2, go/1, stop/1, consume/1, walk_named/2]).
-on_load(load/0).

-opaque handle() :: reference().
-type error() :: {error, no_prog | already_running | stopped | exited | filled | closed | {dtrace, string()}}.
-type probe() :: {Provider :: atom(), Module :: atom(), Function :: atom(), Name :: atom()}.
-type record() :: {printf | printa | print | error, probe(), string()}
                | {probe, probe(), term()}
                | {ustack, probe(), [{module(), atom(), arity(), [{file, string()} | {line, pos_integer()}]}]}
                | {tracemem, probe(), binary()}
                | {exit, probe(), integer()}
                | {drops, atom(), pos_integer()}.
-type element() :: {Function :: atom(), Keys :: [term()],
    Value :: number() | [{{Least :: integer(), Most :: integer()}, Count :: integer()}]}.

load() -> erlang:load_nif("erltrace", 0).

-spec open() -> {ok, handle()}.
open() -> not_loaded().

-spec setopt(handle(), Name :: atom() | unicode:chardata(),
    Value :: atom() | integer() | unicode:chardata()) -> ok | error().
setopt(Handle, Name, Value) -> setopt_of(Handle, text(Name), text(Value)).

-spec compile(handle(), Script :: unicode:chardata()) -> ok | error().
compile(Handle, Script) -> compile_text(Handle, text(Script)).

-spec go(handle()) -> ok | error().
go(_Handle) -> not_loaded().

-spec stop(handle()) -> ok | error().
stop(_Handle) -> not_loaded().

-spec consume(handle()) -> ok | {ok, [record()]} | error().
consume(_Handle) -> not_loaded().

-spec walk(handle()) -> ok | {ok, [element()]} | error().
walk(Handle) -> walk_named(Handle, all).

-spec walk(handle(), Name :: atom() | unicode:chardata()) ->
    ok | {ok, [element()]} | error() | {error, no_aggregation}.
walk(Handle, Name) ->
    case text(Name) of
        <<$@, Plain/binary>> -> walk_named(Handle, Plain);
        Plain -> walk_named(Handle, Plain)
    end.

setopt_of(_Handle, _Name, _Value) -> not_loaded().
compile_text(_Handle, _Script) -> not_loaded().
walk_named(_Handle, _Name) -> not_loaded().

text(Atom) when is_atom(Atom) -> atom_to_binary(Atom);
text(Integer) when is_integer(Integer) -> integer_to_binary(Integer);
text(Chars) ->
    case unicode:characters_to_binary(Chars) of
        Text when is_binary(Text) -> Text;
        _ -> error(badarg)
    end.

not_loaded() -> erlang:nif_error(not_loaded).
