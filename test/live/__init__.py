"""A tracer attached to a running vmrun: what it sees against what the program knows it did."""
