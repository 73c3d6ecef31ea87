/* BEGIN has no arguments with types. */

BEGIN { trace(args[0]); }
