/* Stands in for `bikeshed.h` in tests: the functions that the lab calls, as simple as possible,
 * under a lock. With TWICE each task is executed twice. */

#include <pthread.h>
#include <stdint.h>

typedef uint32_t Bikeshed_TaskID;
typedef struct stand_in *Bikeshed;
enum Bikeshed_TaskResult { BIKESHED_TASK_RESULT_COMPLETE };
typedef enum Bikeshed_TaskResult (*BikeShed_TaskFunc)(Bikeshed, Bikeshed_TaskID, uint8_t, void *);

struct stand_in_task {
    BikeShed_TaskFunc function;
    void *context;
    uint32_t channel, next;
};

/* Lists of tasks that are free, and ready in each channel; 0 ends them. */
struct stand_in {
    pthread_mutex_t mutex;
    uint32_t free, ready[256];
    struct stand_in_task tasks[];
};

#define BIKESHED_SIZE(tasks, dependencies, channels) \
    (sizeof(struct stand_in) + ((tasks) + 1u) * sizeof(struct stand_in_task))

static void stand_in_push(Bikeshed shed, uint32_t *list, Bikeshed_TaskID id) {
    shed->tasks[id].next = *list;
    *list = id;
}

static Bikeshed_TaskID stand_in_pop(Bikeshed shed, uint32_t *list) {
    const Bikeshed_TaskID id = *list;
    if (id) *list = shed->tasks[id].next;
    return id;
}

static Bikeshed Bikeshed_Create(
    void *memory, uint32_t tasks, uint32_t dependencies, uint8_t channels, void *callback) {
    Bikeshed shed = memory;
    (void)dependencies, (void)channels, (void)callback;
    pthread_mutex_init(&shed->mutex, NULL);
    shed->free = 0;
    for (unsigned channel = 0; channel < 256; ++channel) shed->ready[channel] = 0;
    for (uint32_t id = 1; id <= tasks; ++id) stand_in_push(shed, &shed->free, id);
    return shed;
}

static int Bikeshed_CreateTasks(
    Bikeshed shed, uint32_t n, BikeShed_TaskFunc *functions, void **contexts,
    Bikeshed_TaskID *ids) {
    uint32_t taken = 0;
    pthread_mutex_lock(&shed->mutex);
    while (taken < n && (ids[taken] = stand_in_pop(shed, &shed->free))) ++taken;
    const int all = taken == n;
    while (!all && taken) stand_in_push(shed, &shed->free, ids[--taken]);
    pthread_mutex_unlock(&shed->mutex);
    for (uint32_t i = 0; all && i < n; ++i)
        shed->tasks[ids[i]] = (struct stand_in_task){functions[i], contexts[i], 0, 0};
    return all;
}

static void Bikeshed_SetTasksChannel(
    Bikeshed shed, uint32_t n, Bikeshed_TaskID *ids, uint8_t channel) {
    for (uint32_t i = 0; i < n; ++i) shed->tasks[ids[i]].channel = channel;
}

static void Bikeshed_ReadyTasks(Bikeshed shed, uint32_t n, const Bikeshed_TaskID *ids) {
    pthread_mutex_lock(&shed->mutex);
    for (uint32_t i = 0; i < n; ++i) {
        stand_in_push(shed, &shed->ready[shed->tasks[ids[i]].channel], ids[i]);
    }
    pthread_mutex_unlock(&shed->mutex);
}

static int Bikeshed_ExecuteOne(Bikeshed shed, uint8_t channel) {
    pthread_mutex_lock(&shed->mutex);
    const Bikeshed_TaskID id = stand_in_pop(shed, &shed->ready[channel]);
    pthread_mutex_unlock(&shed->mutex);
    if (!id) return 0;
    const struct stand_in_task *task = &shed->tasks[id];
#ifdef TWICE
    task->function(shed, id, channel, task->context);
#endif
    task->function(shed, id, channel, task->context);
    pthread_mutex_lock(&shed->mutex);
    stand_in_push(shed, &shed->free, id);
    pthread_mutex_unlock(&shed->mutex);
    return 1;
}
