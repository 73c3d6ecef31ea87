%% The file with the cookie of a user's nodes: .erlang.cookie in the home directory, or else in the user's configuration
%% directory for erlang. Where there is none it is made, with a random cookie, for the owner only.
-module(auth_file).

-export([cookie/0]).

-include_lib("kernel/include/file.hrl").

-define(NAME, ".erlang.cookie").
-define(LETTERS, 20).

cookie() ->
    case find([filename:join(Directory, ?NAME) || Directory <- directories()]) of
        {ok, Cookie} -> list_to_atom(Cookie);
        {error, Why} ->
            error_logger:error_msg("~ts", [Why]),
            error(Why)
    end.

directories() ->
    Home = case init:get_argument(home) of
               {ok, [[Given]]} -> Given;
               _ -> os:getenv("HOME")
           end,
    Config = os:getenv("XDG_CONFIG_HOME"),
    [Home || Home =/= false] ++
        [filename:join(Config, "erlang") || Config =/= false] ++
        [filename:join([Home, ".config", "erlang"]) || Config =:= false, Home =/= false].

find([]) -> {error, "No home for cookie file"};
find([First | _] = Names) -> find(Names, First).

find([Name | Rest], First) ->
    case read(Name) of
        missing -> find(Rest, First);
        Found -> Found
    end;
find([], First) ->
    case make(First) of
        ok -> read(First);
        Error -> Error
    end.

read(Name) ->
    case file:read_file_info(Name) of
        {ok, #file_info{type = Type}} when Type =/= regular -> problem("Cookie file ~ts is of type ~s", [Name, Type]);
        {ok, #file_info{mode = Mode}} when Mode band 8#077 =/= 0 -> problem("Cookie file ~ts must be accessible by owner only", [Name]);
        {ok, _} ->
            case file:read_file(Name) of
                {ok, Bytes} -> checked(binary_to_list(Bytes));
                {error, Reason} -> problem("Error when reading ~ts: ~s", [Name, Reason])
            end;
        {error, enoent} -> missing;
        {error, Reason} -> problem("Error when reading ~ts: ~s", [Name, Reason])
    end.

%% Printable characters; a line's end may follow.
checked(Text) ->
    {Cookie, Rest} = lists:splitwith(fun(C) -> C >= $\s andalso C =< $~ end, Text),
    case {Cookie, [C || C <- Rest, not lists:member(C, "\n\r ")]} of
        {[], []} -> problem("Too short cookie string", []);
        {_, []} -> {ok, Cookie};
        _ -> problem("Bad characters in cookie", [])
    end.

%% Under another name first, so that nobody sees half of it: readable by the owner only before anything is in it, with times that do
%% not tell when it was made.
make(Name) ->
    New = Name ++ "." ++ os:getpid(),
    Cookie = [$A + (Byte rem 26) || <<Byte>> <= os_random:bytes(?LETTERS)],
    Midnight = {date(), {0, 0, 0}},
    Steps = [fun() -> file:write_file(New, "", [exclusive]) end,
             fun() -> file:change_mode(New, 8#600) end,
             fun() -> file:write_file(New, Cookie) end,
             fun() -> file:write_file_info(New, #file_info{mode = 8#400, atime = Midnight, mtime = Midnight}) end,
             fun() -> linked(file:make_link(New, Name)) end],
    Done = lists:foldl(fun(Step, ok) -> Step(); (_, Error) -> Error end, ok, Steps),
    _ = file:delete(New),
    case Done of
        ok -> ok;
        {error, Reason} -> problem("Failed to create cookie file '~ts': ~p", [Name, Reason])
    end.

linked({error, eexist}) -> ok; % another node was quicker
linked(Result) -> Result.

problem(Format, Args) -> {error, lists:flatten(io_lib:format(Format, Args))}.
