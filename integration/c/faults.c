// A file system that stalls or is full, for tests: loaded before the C library, it looks at what is
// written to files below one folder. While FAULTS/stall is there, such writes wait; while
// FAULTS/full is there, they write a few bytes and then fail as a full disk does. While FAULTS/names
// is there, whatever opens, closes, renames or syncs waits, as on a mount whose server is gone.
//
// FAULTS names the folder of the two switches, FAULTY the folder whose files are concerned.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static void wait_for(const char *name) {
  const struct timespec tick = {0, 5000000};
  while (is_on(name)) nanosleep(&tick, NULL);
}

static void name(const char *path) {
  const char *folder = getenv("FAULTY");
  if (folder && strncmp(path, folder, strlen(folder)) == 0) wait_for("names");
}

int open64(const char *path, int flags, ...) {
  static int (*real)(const char *, int, ...);
  if (!real) real = dlsym(RTLD_NEXT, "open64");
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  name(path);
  return real(path, flags, mode);
}

int mkdir(const char *path, mode_t mode) {
  static int (*real)(const char *, mode_t);
  if (!real) real = dlsym(RTLD_NEXT, "mkdir");
  name(path);
  return real(path, mode);
}

int rename(const char *from, const char *to) {
  static int (*real)(const char *, const char *);
  if (!real) real = dlsym(RTLD_NEXT, "rename");
  name(from);
  return real(from, to);
}

int fsync(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fsync");
  if (is_faulty(fd)) wait_for("names");
  return real(fd);
}

int close(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "close");
  if (is_faulty(fd)) wait_for("names");
  return real(fd);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  static _Thread_local int half;
  if (!real) real = dlsym(RTLD_NEXT, "write");
  if (is_faulty(fd)) {
    wait_for("stall");
    if (is_on("full")) {
      half = !half;
      if (half && count > 10) return real(fd, bytes, 10);
      errno = ENOSPC;
      return -1;
    }
  }
  return real(fd, bytes, count);
}
