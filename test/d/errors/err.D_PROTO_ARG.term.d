/* A term is not made of a number. */

BEGIN { x = is_tuple(3); }
