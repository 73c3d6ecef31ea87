# SPDX-License-Identifier: Apache-2.0
"""What is to be reached, defined once: the headline, and the lines across the plots, are made of it."""
OFF_MEAN = 1.003  # off against compiled out: geometric mean of the instructions
OFF_EACH = 1.01  # and every workload
# of a firing that a tracer in the kernel sees: what comes on top of the kernel's floor
OUR_PART_NS = 60
VMTRACE_MESSAGES = 1.5  # ping-pong with its messages counted by vmtrace
SAVINA_AGAINST_ERL = 0.35  # geometric mean of the times
EACH_AGAINST_ERL = 1.5  # no workload takes longer
