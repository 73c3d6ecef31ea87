"""Random Erlang programs."""
