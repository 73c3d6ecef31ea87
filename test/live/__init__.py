# SPDX-License-Identifier: Apache-2.0
"""A tracer attached to a running vmrun: what it sees is compared with what the program knows it did."""
