/* Actions behind ?: are for if. */

BEGIN { x = 1; x == 1 ? trace(1) : trace(2); }
