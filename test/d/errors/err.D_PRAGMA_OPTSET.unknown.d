/* An option that nobody knows. */

#pragma D option nosuchoption
BEGIN { exit(0); }
