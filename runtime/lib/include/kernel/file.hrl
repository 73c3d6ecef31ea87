%% SPDX-License-Identifier: Apache-2.0
-ifndef(FILE_HRL_).
-define(FILE_HRL_, 1).

%% What is known of a file: answered by file:read_file_info/1,2, changed by file:write_file_info/2,3.
-record(file_info,
        {size :: non_neg_integer() | undefined, % in bytes
         type :: device | directory | other | regular | symlink | undefined,
         access :: read | write | read_write | none | undefined,
         atime :: file:date_time() | non_neg_integer() | undefined, % last read
         mtime :: file:date_time() | non_neg_integer() | undefined, % last written
         ctime :: file:date_time() | non_neg_integer() | undefined, % last changed, its inode too
         mode :: non_neg_integer() | undefined,
         links :: non_neg_integer() | undefined,
         major_device :: non_neg_integer() | undefined, % of the file system
         minor_device :: non_neg_integer() | undefined, % of a device
         inode :: non_neg_integer() | undefined,
         uid :: non_neg_integer() | undefined,
         gid :: non_neg_integer() | undefined}).

%% A file opened raw: the module that serves it and what that module keeps
-record(file_descriptor, {module :: module(), data :: term()}).

-endif.
