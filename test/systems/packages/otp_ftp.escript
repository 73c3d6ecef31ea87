#!/usr/bin/env escript
%% packages: erlang-ftp
%% A client of FTP with a server of a few lines.
-module(otp_ftp_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(ftp),
    {ok, L} = gen_tcp:listen(0, [list, {packet, line}, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(L),
    spawn_link(fun() -> {ok, S} = gen_tcp:accept(L), gen_tcp:send(S, "220 ready\r\n"), serve(S) end),
    {ok, F} = ftp:open("127.0.0.1", [{port, Port}]),
    io:format("~p ~p ~p~n", [ftp:user(F, "me", "secret"), ftp:pwd(F), ftp:cd(F, "nowhere")]),
    io:format("~p~n", [ftp:quote(F, "NOOP")]),
    io:format("~p~n", [ftp:close(F)]).
serve(S) ->
    case gen_tcp:recv(S, 0) of
        {ok, Line} -> gen_tcp:send(S, answer(string:trim(Line))), serve(S);
        _ -> ok
    end.
answer("USER" ++ _) -> "331 password\r\n";
answer("PASS" ++ _) -> "230 in\r\n";
answer("PWD") -> "257 \"/home\" here\r\n";
answer("CWD" ++ _) -> "550 no such folder\r\n";
answer("NOOP") -> "200 well\r\n";
answer(_) -> "221 bye\r\n".
