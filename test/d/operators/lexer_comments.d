/* Comments anywhere. */
#pragma D option quiet

BEGIN/* a */{/* b */printf(/* c */"x\n"/* " */);/**/exit(0);/***/}

/* expect: x */
