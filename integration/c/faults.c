// A file system that stalls or is full, for tests: loaded before the C library, it looks at what is
// written to files below one folder. While FAULTS/stall is there, such writes wait; while
// FAULTS/full is there, they write a few bytes and then fail as a full disk does.
//
// FAULTS names the folder of the two switches, FAULTY the folder whose files are concerned.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int is_on(const char *name) {
  const char *folder = getenv("FAULTS");
  char path[PATH_MAX];
  if (!folder) return 0;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

static int is_faulty(int fd) {
  const char *folder = getenv("FAULTY");
  char link[64], path[PATH_MAX];
  if (!folder || fd <= 2) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  static _Thread_local int half;
  if (!real) real = dlsym(RTLD_NEXT, "write");
  if (is_faulty(fd)) {
    const struct timespec tick = {0, 5000000};
    while (is_on("stall")) nanosleep(&tick, NULL);
    if (is_on("full")) {
      half = !half;
      if (half && count > 10) return real(fd, bytes, 10);
      errno = ENOSPC;
      return -1;
    }
  }
  return real(fd, bytes, count);
}
