/* A description that matches no probe. */

nosuch:::probe { exit(0); }
