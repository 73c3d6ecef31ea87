/* args without an index. */

BEGIN { trace(args); }
