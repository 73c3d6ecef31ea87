/* A number that no probe can have. */

12345678901 { }
