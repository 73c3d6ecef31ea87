/* Nothing is copied into a text. */

BEGIN { copyinto(1, 2, ""); }
