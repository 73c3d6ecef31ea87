/* A folder is no file. */

#pragma D option destructive
BEGIN { freopen("."); }
