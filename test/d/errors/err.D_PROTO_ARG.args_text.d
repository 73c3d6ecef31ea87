/* A text for the number of an argument. */

BEGIN { trace(args["a"]); }
