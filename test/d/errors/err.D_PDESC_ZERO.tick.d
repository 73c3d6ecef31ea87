/* A timer too fast to be one. */

tick-1000000hz { }
