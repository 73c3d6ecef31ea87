/* An operator without an operand. */

BEGIN { x = 1 + ; }
