/* An action that is no statement. */

BEGIN { x = 1, trace(1); }
