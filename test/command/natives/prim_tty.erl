%% The native functions of OTP's prim_tty, of all releases.
-module(prim_tty).
-export([isatty/1, isprint/1, wcwidth/1, wcswidth/1, sizeof_wchar/0, setlocale/1, tty_encoding/1,
    tty_window_size/1, write_nif/2, tty_create/0, tty_create/1, tty_init/2, tty_init/3, tty_set/1,
    tty_select/2, tty_select/3, tty_read_signal/2, tty_is_open/2, read_nif/2, read_nif/3, tgetent_nif/1,
    tgetnum_nif/1, tgetflag_nif/1, tgetstr_nif/1, tgoto_nif/1, tgoto_nif/2, tgoto_nif/3, setupterm_nif/0,
    tigetnum_nif/1, tigetflag_nif/1, tigetstr_nif/1, tinfo_nif/0, tputs_nif/2]).
-on_load(load/0).

load() -> erlang:load_nif("prim_tty", #{}).

isatty(_) -> erlang:nif_error(undef).
isprint(_) -> erlang:nif_error(undef).
wcwidth(_) -> erlang:nif_error(undef).
wcswidth(_) -> erlang:nif_error(undef).
sizeof_wchar() -> erlang:nif_error(undef).
setlocale(_) -> erlang:nif_error(undef).
tty_encoding(_) -> erlang:nif_error(undef).
tty_window_size(_) -> erlang:nif_error(undef).
write_nif(_, _) -> erlang:nif_error(undef).
tty_create() -> erlang:nif_error(undef).
tty_create(_) -> erlang:nif_error(undef).
tty_init(_, _) -> erlang:nif_error(undef).
tty_init(_, _, _) -> erlang:nif_error(undef).
tty_set(_) -> erlang:nif_error(undef).
tty_select(_, _) -> erlang:nif_error(undef).
tty_select(_, _, _) -> erlang:nif_error(undef).
tty_read_signal(_, _) -> erlang:nif_error(undef).
tty_is_open(_, _) -> erlang:nif_error(undef).
read_nif(_, _) -> erlang:nif_error(undef).
read_nif(_, _, _) -> erlang:nif_error(undef).
tgetent_nif(_) -> erlang:nif_error(undef).
tgetnum_nif(_) -> erlang:nif_error(undef).
tgetflag_nif(_) -> erlang:nif_error(undef).
tgetstr_nif(_) -> erlang:nif_error(undef).
tgoto_nif(_) -> erlang:nif_error(undef).
tgoto_nif(_, _) -> erlang:nif_error(undef).
tgoto_nif(_, _, _) -> erlang:nif_error(undef).
setupterm_nif() -> erlang:nif_error(undef).
tigetnum_nif(_) -> erlang:nif_error(undef).
tigetflag_nif(_) -> erlang:nif_error(undef).
tigetstr_nif(_) -> erlang:nif_error(undef).
tinfo_nif() -> erlang:nif_error(undef).
tputs_nif(_, _) -> erlang:nif_error(undef).
