"""Erlang/OTP's own suites, run by vmrun."""
