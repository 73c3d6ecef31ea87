/* Assignment to a built-in variable. */

BEGIN { timestamp = 1; }
