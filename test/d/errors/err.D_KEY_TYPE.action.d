/* A key that is an action. */

BEGIN { @[printf("x")] = count(); }
