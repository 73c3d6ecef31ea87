/* One option a line. */
#pragma D option nspec=4 * 2

BEGIN {  }
