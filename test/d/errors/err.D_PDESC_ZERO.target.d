/* $target without a target. */

erlang$target:::process-spawn { }
