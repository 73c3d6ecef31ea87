/* There are no loops. */

BEGIN { for (x = 0; x < 3; x++) { } }
