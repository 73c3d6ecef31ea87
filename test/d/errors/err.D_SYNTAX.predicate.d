/* A predicate without an end. */

BEGIN /1 { trace(1); }
