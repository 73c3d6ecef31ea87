/* A predicate that is a text. */

BEGIN /"a"/ { }
