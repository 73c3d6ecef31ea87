/* A symbol of the kernel. */

BEGIN { trace(`jiffies); }
