-module(terms).
-compile(export_all).
-compile(nowarn_export_all).
-on_load(load/0).

load() -> erlang:load_nif(os:getenv("NATIVE_DIR", ".") ++ "/terms", 0).

kind(_) -> erlang:nif_error(not_loaded).
numbers(_) -> erlang:nif_error(not_loaded).
limits() -> erlang:nif_error(not_loaded).
atom_text(_, _) -> erlang:nif_error(not_loaded).
string_text(_, _) -> erlang:nif_error(not_loaded).
make_atoms() -> erlang:nif_error(not_loaded).
swap(_) -> erlang:nif_error(not_loaded).
compare(_, _) -> erlang:nif_error(not_loaded).
phash(_) -> erlang:nif_error(not_loaded).
reversed(_) -> erlang:nif_error(not_loaded).
external(_) -> erlang:nif_error(not_loaded).
map(_) -> erlang:nif_error(not_loaded).
make_maps() -> erlang:nif_error(not_loaded).
copied(_) -> erlang:nif_error(not_loaded).
raise(_) -> erlang:nif_error(not_loaded).
text(_) -> erlang:nif_error(not_loaded).
send(_, _) -> erlang:nif_error(not_loaded).
others() -> erlang:nif_error(not_loaded).
queue(_) -> erlang:nif_error(not_loaded).
held(_) -> erlang:nif_error(not_loaded).
nap(_) -> erlang:nif_error(not_loaded).
