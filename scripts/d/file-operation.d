/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows each file operation across threads: how long it waited for a worker, how long the worker was at it (system calls),
 * how long the answer took back. {thread,tag} names the operation; worker and scheduler are threads as the kernel numbers them.
 * An operation whose file is lost with its process is not answered and not shown.
 *   sed 's/\$target/PID/' scripts/d/file-operation.d | dtrace -s /dev/stdin
 */
#pragma D option quiet

uint64_t begun[int, int];

dtrace:::BEGIN
{
    command[1] = "OPEN";
    command[2] = "READ";
    command[3] = "LSEEK";
    command[4] = "WRITE";
    command[5] = "FSTAT";
    command[6] = "PWD";
    command[7] = "READDIR";
    command[8] = "CHDIR";
    command[9] = "FSYNC";
    command[10] = "MKDIR";
    command[11] = "DELETE";
    command[12] = "RENAME";
    command[13] = "RMDIR";
    command[14] = "TRUNCATE";
    command[15] = "READ_FILE";
    command[16] = "WRITE_INFO";
    command[19] = "LSTAT";
    command[20] = "READLINK";
    command[21] = "LINK";
    command[22] = "SYMLINK";
    command[23] = "CLOSE";
    command[24] = "PWRITEV";
    command[25] = "PREADV";
    command[26] = "SETOPT";
    command[27] = "IPREAD";
    command[28] = "ALTNAME";
    command[29] = "READ_LINE";
    command[30] = "FDATASYNC";
    command[31] = "FADVISE";
    command[32] = "SENDFILE";
    command[33] = "FALLOCATE";
    printf("tracing\n");
}

erlang$target:::efile_drv-entry
{
    accepted[(int)arg0, (int)arg1] = timestamp;
    user[(int)arg0, (int)arg1] = arg2 != 0 ? copyinstr(arg2) : "";
    first[(int)arg0, (int)arg1] = arg4 != 0 ? copyinstr(arg4) : "";
    second[(int)arg0, (int)arg1] = arg5 != 0 ? copyinstr(arg5) : "";
}

/* Some operations are worked on in several parts: from the first to the last. */
erlang$target:::efile_drv-int_entry
/accepted[(int)arg0, (int)arg1] && !begun[(int)arg0, (int)arg1]/
{
    begun[(int)arg0, (int)arg1] = timestamp;
    worker[(int)arg0, (int)arg1] = tid;
}

erlang$target:::efile_drv-int_return
/begun[(int)arg0, (int)arg1]/
{
    ended[(int)arg0, (int)arg1] = timestamp;
}

erlang$target:::efile_drv-return
/ended[(int)arg0, (int)arg1]/
{
    this->began = begun[(int)arg0, (int)arg1];
    this->end = ended[(int)arg0, (int)arg1];
    printf("{%d,%d} %s %s %s tag=%s error=%d | queued %d us, in system calls %d us, back %d us | worker %d, scheduler %d\n",
        (int)arg0,
        (int)arg1,
        command[(int)arg3],
        first[(int)arg0, (int)arg1],
        second[(int)arg0, (int)arg1],
        user[(int)arg0, (int)arg1],
        (int)arg5,
        (this->began - accepted[(int)arg0, (int)arg1]) / 1000,
        (this->end - this->began) / 1000,
        (timestamp - this->end) / 1000,
        worker[(int)arg0, (int)arg1],
        tid);
    accepted[(int)arg0, (int)arg1] = 0;
    user[(int)arg0, (int)arg1] = 0;
    first[(int)arg0, (int)arg1] = 0;
    second[(int)arg0, (int)arg1] = 0;
    begun[(int)arg0, (int)arg1] = 0;
    worker[(int)arg0, (int)arg1] = 0;
    ended[(int)arg0, (int)arg1] = 0;
}
