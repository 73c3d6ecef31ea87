#!/usr/bin/env escript
%% packages: erlang-dev
%% A program in C that reads and writes terms.
-module(otp_erl_interface_used).
-mode(compile).
main(_) ->
    Root = code:lib_dir(erl_interface),
    ok = file:write_file("p.c", "#include <ei.h>\n#include <stdio.h>\n#include <string.h>\n"
                                "#include <unistd.h>\n"
                                "int main(void) { unsigned char h[4]; while (read(0, h, 4) == 4) { int n = "
                                "(h[0] << 24) | (h[1] << 16) | (h[2] << 8) | h[3], i = 0, v, a, t; char "
                                "b[1000]; long x;\n"
        "read(0, b, n); ei_decode_version(b, &i, &v); ei_decode_tuple_header(b, &i, &a); ei_decode_long(b, "
        "&i, &x); ei_x_buff o; ei_x_new_with_version(&o); ei_x_encode_tuple_header(&o, 2); "
        "ei_x_encode_atom(&o, \"twice\"); ei_x_encode_long(&o, 2 * x);\n"
        "unsigned char l[4] = {0, 0, 0, o.index}; write(1, l, 4); write(1, o.buff, o.index); ei_x_free(&o); "
        "(void)t; } return 0; }\n"),
    "" = os:cmd("cc -w -o p p.c -I" ++ Root ++ "/include -L" ++ Root ++ "/lib -lei -lpthread"),
    P = open_port({spawn_executable, "./p"}, [{packet, 4}, binary, exit_status]),
    [begin P ! {self(), {command, term_to_binary({N, x})}},
        receive {P, {data, D}} -> io:format("~p~n", [binary_to_term(D)]) end end || N <- [1, 21, -5]],
    port_close(P).
