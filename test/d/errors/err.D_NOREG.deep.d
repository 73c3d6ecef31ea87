/* An expression that needs more registers than there are. */

BEGIN { x = 1; y = x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x+(x))))))))))))))))))))))))))))))))))))))); }
