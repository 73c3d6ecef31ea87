/* offsetof of a number. */

BEGIN { x = offsetof(int, a); }
