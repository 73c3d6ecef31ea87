"""Real systems on vmrun and on a stock erl."""
