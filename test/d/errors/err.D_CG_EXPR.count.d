/* An aggregating function alone. */

BEGIN { count(); }
