"""Suites that take minutes: run with ./dev test --slow."""
