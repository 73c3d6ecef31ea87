"""File operations on a disk that fails."""
