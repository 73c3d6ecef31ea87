# SPDX-License-Identifier: Apache-2.0
"""The parts of the page, a file each: results in, a section out, or None where nothing of it was measured."""
