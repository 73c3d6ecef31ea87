"""The pieces of test/run: results, golden scripts, unit tests, live-attach tests and document checks."""
