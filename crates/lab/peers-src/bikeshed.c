/* Tests A to E of a scheduler's own benchmark, for the user's copy of its header `bikeshed.h`.
 *
 *   peer PRODUCERS CONSUMERS CAPACITY TASKS
 *
 * It is built once for each test: CHANNELS and BATCH are numbers, PADDED and YIELDS are 0 or 1. It
 * makes one run for each line on standard input, and prints `EXECUTED NANOSECONDS` for each. If
 * tasks get lost, it says so and ends.
 *
 * Each producer waits until all are released. It creates BATCH tasks, sets their channel and makes
 * them ready. It sleeps for a millisecond only when there is no room. Each task adds 1 to one
 * counter. A consumer tries its own channel and then the others in a circle. When it finds nothing,
 * it pauses as the lab's own consumers do, and now and then yields its time slice. The main thread
 * is the first consumer. It reads the counter in each 16th round that finds nothing. The memory is
 * the same in all runs: only the first run finds pages that were not touched. */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#if PADDED
#define BIKESHED_L1CACHE_SIZE 64
#endif
/* Without a definition the header always pauses. */
#if !YIELDS
#define BIKESHED_CPU_YIELD
#elif defined(__x86_64__) || defined(__i386__)
#define BIKESHED_CPU_YIELD __builtin_ia32_pause();
#elif defined(__aarch64__)
#define BIKESHED_CPU_YIELD __asm__ __volatile__("isb");
#else
#define BIKESHED_CPU_YIELD __asm__ __volatile__("");
#endif
#define BIKESHED_IMPLEMENTATION
#include "bikeshed.h"

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define PAUSE() __asm__ __volatile__("isb")
#else
#define PAUSE() __asm__ __volatile__("")
#endif

/* How long no task may be executed. */
static const int64_t timeout_ns = 20 * 1000000000LL;

/* A cache line of its own, and the neighbour that is fetched with it. */
struct counter {
    _Alignas(128) atomic_uint_fast64_t value;
};

struct run {
    Bikeshed shed;
    uint64_t tasks;
    /* How many pauses a thread that finds nothing makes before it yields its time slice. */
    unsigned patience;
    struct counter executed;
    struct counter producing;
    struct counter stop;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned arrived;
    int released;
};

struct member {
    pthread_t thread;
    struct run *run;
    unsigned number, of;
};

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static enum Bikeshed_TaskResult count(
    Bikeshed shed, Bikeshed_TaskID id, uint8_t channel, void *context) {
    (void)shed, (void)id, (void)channel;
    atomic_fetch_add_explicit(&((struct counter *)context)->value, 1, memory_order_relaxed);
    return BIKESHED_TASK_RESULT_COMPLETE;
}

static void *produce(void *argument) {
    struct member *me = argument;
    struct run *run = me->run;
    BikeShed_TaskFunc functions[BATCH];
    void *contexts[BATCH];
    Bikeshed_TaskID ids[BATCH];
    for (unsigned i = 0; i < BATCH; ++i) {
        functions[i] = count;
        contexts[i] = &run->executed;
    }
    uint64_t next = me->number * run->tasks / me->of;
    const uint64_t end = (me->number + 1) * run->tasks / me->of;
    const uint8_t channel = (uint8_t)(me->number % CHANNELS);

    pthread_mutex_lock(&run->mutex);
    run->arrived += 1;
    pthread_cond_broadcast(&run->changed);
    while (!run->released) pthread_cond_wait(&run->changed, &run->mutex);
    pthread_mutex_unlock(&run->mutex);

    while (next < end) {
        const uint32_t batch = end - next < BATCH ? (uint32_t)(end - next) : BATCH;
        while (!Bikeshed_CreateTasks(run->shed, batch, functions, contexts, ids)) {
            const struct timespec pause = {0, 1000000};
            nanosleep(&pause, NULL);
            if (atomic_load_explicit(&run->stop.value, memory_order_relaxed)) return NULL;
        }
        Bikeshed_SetTasksChannel(run->shed, batch, ids, channel);
        Bikeshed_ReadyTasks(run->shed, batch, ids);
        next += batch;
    }
    atomic_fetch_sub(&run->producing.value, 1);
    return NULL;
}

/* Returns whether there was something to do. */
static int consume_one(Bikeshed shed, unsigned own) {
    for (unsigned i = 0; i < CHANNELS; ++i)
        if (Bikeshed_ExecuteOne(shed, (uint8_t)((own + i) % CHANNELS))) return 1;
    return 0;
}

/* Pauses because there was nothing to do. `pauses` counts the pauses since there was. */
static void relax(const struct run *run, unsigned *pauses) {
    if (++*pauses >= run->patience) {
        *pauses = 0;
        sched_yield();
    } else {
        PAUSE();
    }
}

static void *consume(void *argument) {
    struct member *me = argument;
    unsigned pauses = 0;
    while (!atomic_load_explicit(&me->run->stop.value, memory_order_relaxed)) {
        if (consume_one(me->run->shed, me->number)) pauses = 0;
        else relax(me->run, &pauses);
    }
    return NULL;
}

static uint64_t executed(struct run *run) {
    return atomic_load_explicit(&run->executed.value, memory_order_relaxed);
}

/* Returns when all tasks have been executed. */
static void consume_first(struct run *run) {
    uint64_t idle = 0, seen = 0;
    unsigned fruitless = 0, pauses = 0;
    int64_t since = now_ns();
    for (;;) {
        if (consume_one(run->shed, 0)) {
            fruitless = pauses = 0;
            continue;
        }
        if (fruitless++ % 16 == 0) {
            const uint64_t at = executed(run);
            if (at >= run->tasks) return;
            if (++idle % (1 << 12) == 0) {
                if (at != seen) {
                    seen = at;
                    since = now_ns();
                } else if (now_ns() - since > timeout_ns) {
                    fprintf(stderr, "%llu of %llu tasks were executed, and then none any more\n",
                            (unsigned long long)at, (unsigned long long)run->tasks);
                    exit(1);
                }
            }
        }
        relax(run, &pauses);
    }
}

static void start(
    struct member *member, struct run *run, void *(*body)(void *), unsigned number, unsigned of) {
    member->run = run;
    member->number = number;
    member->of = of;
    if (pthread_create(&member->thread, NULL, body, member)) fail("a thread cannot be started");
}

static void measure(unsigned producers, unsigned consumers, Bikeshed shed, uint32_t tasks) {
    struct run *run = aligned_alloc(128, sizeof *run);
    struct member *members = calloc(producers + consumers, sizeof *members);
    if (!run || !members) fail("there is no memory for a run");
    run->shed = shed;
    run->patience = producers + consumers > sysconf(_SC_NPROCESSORS_ONLN) ? 64 : 4096;
    run->tasks = tasks;
    atomic_init(&run->executed.value, 0);
    atomic_init(&run->producing.value, producers);
    atomic_init(&run->stop.value, 0);
    pthread_mutex_init(&run->mutex, NULL);
    pthread_cond_init(&run->changed, NULL);
    run->arrived = 0;
    run->released = 0;

    unsigned started = 0;
    for (unsigned i = 0; i < producers; ++i) start(&members[started++], run, produce, i, producers);
    for (unsigned i = 1; i < consumers; ++i) start(&members[started++], run, consume, i, consumers);
    pthread_mutex_lock(&run->mutex);
    while (run->arrived < producers) pthread_cond_wait(&run->changed, &run->mutex);
    const int64_t began = now_ns();
    run->released = 1;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->mutex);

    consume_first(run);
    const int64_t ended = now_ns();
    /* All tasks were created, and none is left, unless one was executed twice. */
    while (executed(run) <= run->tasks
           && (consume_one(run->shed, 0) || atomic_load(&run->producing.value))) {
    }
    atomic_store(&run->stop.value, 1);
    for (unsigned i = 0; i < started; ++i) pthread_join(members[i].thread, NULL);
    printf("%llu %lld\n", (unsigned long long)executed(run), (long long)(ended - began));
    fflush(stdout);

    pthread_mutex_destroy(&run->mutex);
    pthread_cond_destroy(&run->changed);
    free(members);
    free(run);
}

int main(int argc, char **argv) {
    if (argc != 5) fail("four arguments are wanted: producers, consumers, capacity, tasks");
    uint32_t numbers[4];
    for (int i = 0; i < 4; ++i) numbers[i] = (uint32_t)strtoul(argv[i + 1], NULL, 10);
    const uint32_t capacity = numbers[2];
    const size_t size = ((size_t)BIKESHED_SIZE(capacity, 0, CHANNELS) + 63) / 64 * 64;
    void *memory = aligned_alloc(64, size);
    if (!memory) fail("there is no memory for so large a capacity");
    Bikeshed shed = Bikeshed_Create(memory, capacity, 0, CHANNELS, NULL);
    for (int c; (c = getchar()) != EOF;)
        if (c == '\n') measure(numbers[0], numbers[1], shed, numbers[3]);
    free(memory);
    return 0;
}
