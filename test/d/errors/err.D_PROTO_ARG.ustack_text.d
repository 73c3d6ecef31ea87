/* A text for the number of frames. */

BEGIN { ustack("ten"); }
