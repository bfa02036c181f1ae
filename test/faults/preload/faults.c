/*
 * Injects faults into a process (LD_PRELOAD). Calls of the C library on files whose path contains a string are delayed, fail, or transfer other
 * bytes, as rules in a shared file say (FAULTS_CONTROL; its layout is that of control.ts). The wall clock can be shifted. Writes that are not
 * flushed yet can be recorded in a journal (FAULTS_JOURNAL), so that a test can revert them as a power cut would.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* CHANGE: opening for writing, which a read-only file system refuses. */
enum { READ = 1, WRITE = 2, SYNC = 4, OPEN = 8, TRUNCATE = 16, CHANGE = 32 };
enum { HALF = 1, FLIP = 2 };
enum { RULES = 16, TEXT = 128 };

struct rule {
  uint32_t is_active;
  uint32_t calls;
  int32_t error;
  uint32_t effect;
  uint64_t delay_us;
  /* Number of calls that met the rule. */
  uint64_t met;
  /* Substring of the path; empty: every file. */
  char path[TEXT];
};

struct control {
  /* Set by the process when the library is loaded. */
  uint64_t is_loaded;
  int64_t clock_offset_ns;
  uint64_t reserved[6];
  struct rule rules[RULES];
};

static struct control *control;
static int journal = -1;
static char journal_of[TEXT];
static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t flushes;

/* Declares `real`, the function of the C library. */
#define REAL(result, name, ...)                    \
  static result (*real)(__VA_ARGS__);              \
  if (!real) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULTS_CONTROL");
  if (!path) return;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED) return;
  const char *journal_path = getenv("FAULTS_JOURNAL"), *of = getenv("FAULTS_JOURNAL_OF");
  if (journal_path && of) {
    strncpy(journal_of, of, TEXT - 1);
    journal = open(journal_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
  control = mapped;
  __atomic_store_n(&control->is_loaded, 1, __ATOMIC_SEQ_CST);
}

static int path_of(int fd, char *path, size_t size) {
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, size - 1);
  if (length <= 0) return -1;
  path[length] = 0;
  return path[0] == '/' ? 0 : -1;
}

/* Returns the rule that a call meets, after its delay, or NULL. Takes either a path or a descriptor. */
static struct rule *meet(uint32_t call, int fd, const char *path) {
  if (!control) return NULL;
  char found[4096];
  for (int at = 0; at < RULES; at++) {
    struct rule *rule = &control->rules[at];
    if (!__atomic_load_n(&rule->is_active, __ATOMIC_ACQUIRE) || !(rule->calls & call)) continue;
    if (!path) {
      int saved = errno;
      int is_file = path_of(fd, found, sizeof found) == 0;
      errno = saved;
      if (!is_file) return NULL;
      path = found;
    }
    /* Devices and /proc are no storage. */
    if ((!strncmp(path, "/dev/", 5) && strncmp(path, "/dev/shm/", 9)) || !strncmp(path, "/proc/", 6)) return NULL;
    if (!strstr(path, rule->path)) continue;
    __atomic_add_fetch(&rule->met, 1, __ATOMIC_RELAXED);
    if (rule->delay_us) {
      struct timespec delay = {rule->delay_us / 1000000, (rule->delay_us % 1000000) * 1000};
      nanosleep(&delay, NULL);
    }
    return rule;
  }
  return NULL;
}

/* Returns whether the rule makes the call fail, and sets errno. */
static int is_failed(struct rule *rule) {
  if (!rule || !rule->error) return 0;
  errno = rule->error;
  return 1;
}

static void flip(struct rule *rule, void *bytes, ssize_t length) {
  if (!rule || !(rule->effect & FLIP)) return;
  for (ssize_t at = 0; at < length; at += 7) ((unsigned char *)bytes)[at] ^= 0x5a;
}

static size_t part(struct rule *rule, size_t count) { return rule && rule->effect & HALF && count > 1 ? count / 2 : count; }

/* --- journal of writes that are not flushed yet --- */

enum { WRITTEN = 1, FLUSH_BEGAN = 2, FLUSHED = 3 };

struct entry {
  uint32_t kind;
  uint32_t path_length;
  int64_t offset;
  /* Length of the overwritten bytes, which follow the path. */
  int64_t length;
  int64_t size_before;
  uint64_t flush;
};

static int is_recorded(int fd, char *path, size_t size) {
  return journal >= 0 && path_of(fd, path, size) == 0 && strstr(path, journal_of) != NULL;
}

static void record(const char *path, struct entry entry, const void *bytes) {
  entry.path_length = strlen(path);
  struct iovec parts[3] = {{&entry, sizeof entry}, {(void *)path, entry.path_length}, {(void *)bytes, bytes ? entry.length : 0}};
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  if (real(journal, parts, 3) < 0) abort();
}

/* Records the bytes that are about to be overwritten. The caller holds the lock. */
static void record_before(int fd, const char *path, int64_t offset, int64_t count) {
  struct stat now;
  if (fstat(fd, &now) != 0) abort();
  int64_t length = offset >= now.st_size ? 0 : now.st_size - offset < count ? now.st_size - offset : count;
  void *bytes = malloc(length + 1);
  REAL(ssize_t, "pread64", int, void *, size_t, off64_t);
  if (!bytes || real(fd, bytes, length, offset) != length) abort();
  record(path, (struct entry){.kind = WRITTEN, .offset = offset, .length = length, .size_before = now.st_size}, bytes);
  free(bytes);
}

/* --- the calls --- */

ssize_t read(int fd, void *bytes, size_t count) {
  REAL(ssize_t, "read", int, void *, size_t);
  struct rule *rule = meet(READ, fd, NULL);
  if (is_failed(rule)) return -1;
  ssize_t length = real(fd, bytes, count);
  flip(rule, bytes, length);
  return length;
}

ssize_t pread64(int fd, void *bytes, size_t count, off64_t offset) {
  REAL(ssize_t, "pread64", int, void *, size_t, off64_t);
  struct rule *rule = meet(READ, fd, NULL);
  if (is_failed(rule)) return -1;
  ssize_t length = real(fd, bytes, count, offset);
  flip(rule, bytes, length);
  return length;
}

ssize_t pread(int fd, void *bytes, size_t count, off_t offset) { return pread64(fd, bytes, count, offset); }

ssize_t readv(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, "readv", int, const struct iovec *, int);
  return is_failed(meet(READ, fd, NULL)) ? -1 : real(fd, parts, count);
}

ssize_t preadv64(int fd, const struct iovec *parts, int count, off64_t offset) {
  REAL(ssize_t, "preadv64", int, const struct iovec *, int, off64_t);
  return is_failed(meet(READ, fd, NULL)) ? -1 : real(fd, parts, count, offset);
}

ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset) { return preadv64(fd, parts, count, offset); }

ssize_t write(int fd, const void *bytes, size_t count) {
  REAL(ssize_t, "write", int, const void *, size_t);
  struct rule *rule = meet(WRITE, fd, NULL);
  return is_failed(rule) ? -1 : real(fd, bytes, part(rule, count));
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
  struct rule *rule = meet(WRITE, fd, NULL);
  if (is_failed(rule)) return -1;
  count = part(rule, count);
  char path[4096];
  if (!is_recorded(fd, path, sizeof path)) return real(fd, bytes, count, offset);
  pthread_mutex_lock(&journal_lock);
  record_before(fd, path, offset, count);
  ssize_t length = real(fd, bytes, count, offset);
  pthread_mutex_unlock(&journal_lock);
  return length;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return pwrite64(fd, bytes, count, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  return is_failed(meet(WRITE, fd, NULL)) ? -1 : real(fd, parts, count);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  REAL(ssize_t, "pwritev64", int, const struct iovec *, int, off64_t);
  return is_failed(meet(WRITE, fd, NULL)) ? -1 : real(fd, parts, count, offset);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { return pwritev64(fd, parts, count, offset); }

static int flush(int (*real)(int), int fd) {
  if (is_failed(meet(SYNC, fd, NULL))) return -1;
  char path[4096];
  if (!is_recorded(fd, path, sizeof path)) return real(fd);
  pthread_mutex_lock(&journal_lock);
  uint64_t number = ++flushes;
  record(path, (struct entry){.kind = FLUSH_BEGAN, .flush = number}, NULL);
  pthread_mutex_unlock(&journal_lock);
  int failed = real(fd);
  if (failed) return failed;
  pthread_mutex_lock(&journal_lock);
  record(path, (struct entry){.kind = FLUSHED, .flush = number}, NULL);
  pthread_mutex_unlock(&journal_lock);
  return 0;
}

int fsync(int fd) {
  REAL(int, "fsync", int);
  return flush(real, fd);
}

int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  return flush(real, fd);
}

int ftruncate64(int fd, off64_t length) {
  REAL(int, "ftruncate64", int, off64_t);
  if (is_failed(meet(TRUNCATE, fd, NULL))) return -1;
  char path[4096];
  if (!is_recorded(fd, path, sizeof path)) return real(fd, length);
  pthread_mutex_lock(&journal_lock);
  record_before(fd, path, length, INT64_MAX - length);
  int failed = real(fd, length);
  pthread_mutex_unlock(&journal_lock);
  return failed;
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int open64(const char *path, int flags, ...) {
  REAL(int, "open64", const char *, int, ...);
  mode_t mode = 0;
  if (flags & (O_CREAT | O_TMPFILE)) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  uint32_t call = flags & (O_WRONLY | O_RDWR | O_CREAT) ? OPEN | CHANGE : OPEN;
  return is_failed(meet(call, -1, path)) ? -1 : real(path, flags, mode);
}

int open(const char *path, int flags, ...) {
  mode_t mode = 0;
  if (flags & (O_CREAT | O_TMPFILE)) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  return open64(path, flags, mode);
}

/* --- the wall clock --- */

static void set_off(struct timespec *time) {
  int64_t offset = control ? __atomic_load_n(&control->clock_offset_ns, __ATOMIC_RELAXED) : 0;
  if (!offset) return;
  int64_t now = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec + offset;
  time->tv_sec = now / 1000000000;
  time->tv_nsec = now % 1000000000;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  REAL(int, "clock_gettime", clockid_t, struct timespec *);
  int failed = real(clock, time);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) set_off(time);
  return failed;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into) *into = now.tv_sec;
  return now.tv_sec;
}
