#!/usr/bin/env escript
%% packages: erlang-ssh openssh-client
%% A server and a client, a command and files.
-module(otp_ssh_used).
-mode(compile).
main(_) ->
    {ok, _} = application:ensure_all_started(ssh),
    ok = logger:set_primary_config(level, none),
    [ok = file:make_dir(D) || D <- ["system", "user"]],
    os:cmd("ssh-keygen -q -t ed25519 -N '' -f system/ssh_host_ed25519_key"),
    {ok, D} = ssh:daemon({127, 0, 0, 1}, 0, [{system_dir, "system"}, {user_dir, "user"},
        {user_passwords, [{"me", "secret"}]}, {subsystems, [ssh_sftpd:subsystem_spec([{cwd, "."}])]},
                                             {exec, {direct, fun(C) -> {ok, "ran " ++ C} end}}]),
    {ok, Info} = ssh:daemon_info(D),
    Port = proplists:get_value(port, Info),
    Connect = fun(P) -> ssh:connect({127, 0, 0, 1}, Port, [{user, "me"}, {password, P},
        {silently_accept_hosts, true}, {user_dir, "user"}, {user_interaction, false}]) end,
    io:format("~p~n", [Connect("wrong")]),
    {ok, C} = Connect("secret"),
    {ok, Ch} = ssh_connection:session_channel(C, 5000),
    success = ssh_connection:exec(C, Ch, "a command", 5000),
    receive {ssh_cm, C, {data, Ch, 0, Data}} -> io:format("~p~n", [Data]) end,
    receive {ssh_cm, C, {exit_status, Ch, Status}} -> io:format("~p~n", [Status]) end,
    {ok, F} = ssh_sftp:start_channel(C),
    ok = ssh_sftp:write_file(F, "sent.txt", <<"over sftp">>),
    io:format("~p ~p~n", [ssh_sftp:read_file(F, "sent.txt"), ssh_sftp:read_file(F, "absent")]),
    ssh:close(C), ssh:stop_daemon(D).
