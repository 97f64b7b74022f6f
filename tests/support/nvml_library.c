/* The NVIDIA driver's library as a machine with two GPUs has it; the second is cut into two parts (MIG).
 *
 * Handles: 1 and 2 are the GPUs, 21 and 22 the parts. A GPU draws 100 W (the second 50 W) and its energy counter says
 * so. $NVML_PROCESSES names a file of lines "gpu pid MB percent", gpu being a handle less 1. $NVML_FAILS lists functions that are not supported.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };
typedef unsigned long handle;
typedef struct { unsigned pid; unsigned long long memory; unsigned gpu_instance, compute_instance; } process;
typedef struct { unsigned pid; unsigned long long at; unsigned sm, memory, encoder, decoder; } sample;
typedef struct { unsigned gpu, memory; } rates;
typedef struct {
    unsigned gpu, memory;
    unsigned long long peak, time, start;
    unsigned running, reserved[5];
} account;
typedef struct { unsigned gpu, pid, megabytes, percent; } line;

static int fails(const char *function) {
    const char *list = getenv("NVML_FAILS");
    return list && strstr(list, function) ? NOT_SUPPORTED : SUCCESS;
}
#define SUPPORTED if (fails(__func__)) return NOT_SUPPORTED

static int lines_of(handle device, line *out) {
    int count = 0;
    line one;
    FILE *file = getenv("NVML_PROCESSES") ? fopen(getenv("NVML_PROCESSES"), "r") : NULL;
    if (!file) return 0;
    while (count < 64 && fscanf(file, "%u %u %u %u", &one.gpu, &one.pid, &one.megabytes, &one.percent) == 4)
        if (one.gpu + 1 == device) out[count++] = one;
    fclose(file);
    return count;
}
static unsigned long long now(clockid_t clock, long unit) {
    struct timespec at;
    clock_gettime(clock, &at);
    return at.tv_sec * (1000000000ULL / unit) + at.tv_nsec / unit;
}
static const char *uuid_of(handle device) {
    return device == 1    ? "GPU-11111111-2222-3333-4444-555555555555"
           : device == 2  ? "GPU-66666666-2222-3333-4444-555555555555"
           : device == 21 ? "MIG-aaaaaaaa-2222-3333-4444-555555555555"
                          : "MIG-bbbbbbbb-2222-3333-4444-555555555555";
}

int nvmlInitWithFlags(unsigned flags) { return fails("nvmlInit"); }
int nvmlInit_v2(void) { return fails("nvmlInit"); }
int nvmlShutdown(void) { return SUCCESS; }
const char *nvmlErrorString(int code) { return code == NOT_SUPPORTED ? "Not Supported" : "Unknown Error"; }
int nvmlDeviceGetCount_v2(unsigned *out) { SUPPORTED; *out = 2; return SUCCESS; }
int nvmlDeviceGetHandleByIndex_v2(unsigned at, handle *out) { *out = at + 1; return at < 2 ? SUCCESS : INVALID_ARGUMENT; }
int nvmlDeviceGetHandleByUUID(const char *uuid, handle *out) {
    handle all[] = {1, 2, 21, 22};
    for (int n = 0; n < 4; n++)
        if (!strcmp(uuid, uuid_of(all[n]))) { *out = all[n]; return SUCCESS; }
    return NOT_FOUND;
}
int nvmlDeviceGetName(handle device, char *out, unsigned size) {
    SUPPORTED; strncpy(out, "NVIDIA Stand-in", size); return SUCCESS;
}
int nvmlDeviceGetUUID(handle device, char *out, unsigned size) { strncpy(out, uuid_of(device), size); return SUCCESS; }
int nvmlDeviceGetMaxMigDeviceCount(handle device, unsigned *out) {
    if (device == 1) return NOT_SUPPORTED;
    *out = 7;
    return SUCCESS;
}
int nvmlDeviceGetMigDeviceHandleByIndex(handle device, unsigned at, handle *out) {
    *out = 21 + at / 2;
    return at == 0 || at == 2 ? SUCCESS : NOT_FOUND;
}
int nvmlDeviceGetGpuInstanceId(handle part, unsigned *out) { *out = part == 21 ? 1 : 2; return SUCCESS; }
int nvmlDeviceGetComputeInstanceId(handle part, unsigned *out) { *out = 0; return SUCCESS; }
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle part, handle *out) {
    *out = 2;
    return part > 20 ? SUCCESS : INVALID_ARGUMENT;
}
int nvmlDeviceGetUtilizationRates(handle device, rates *out) {
    SUPPORTED; out->gpu = 70; out->memory = 30; return device > 20 ? NOT_SUPPORTED : SUCCESS;
}
int nvmlDeviceGetPowerUsage(handle device, unsigned *out) {
    SUPPORTED; *out = device == 1 ? 100000 : 50000; return device > 20 ? INVALID_ARGUMENT : SUCCESS;
}
int nvmlDeviceGetTotalEnergyConsumption(handle device, unsigned long long *out) {
    SUPPORTED;
    *out = now(CLOCK_MONOTONIC, 1000) * (device == 1 ? 100 : 50) / 1000; /* microseconds x W / 1000 = mJ */
    return device > 20 ? INVALID_ARGUMENT : SUCCESS;
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(handle device, unsigned *count, process *out) { return NOT_SUPPORTED; }
int nvmlDeviceGetComputeRunningProcesses_v3(handle device, unsigned *count, process *out) {
    SUPPORTED;
    line found[64];
    int there = lines_of(device, found);
    if (!there) { *count = 0; return SUCCESS; }
    if (!out || *count < (unsigned)there) { *count = there; return INSUFFICIENT_SIZE; }
    for (int n = 0; n < there; n++) out[n] = (process){found[n].pid, found[n].megabytes * 1048576ULL, 0, 0};
    *count = there;
    return SUCCESS;
}
int nvmlDeviceGetProcessUtilization(handle device, sample *out, unsigned *count, unsigned long long since) {
    SUPPORTED;
    line found[64];
    int there = lines_of(device, found);
    unsigned long long at = now(CLOCK_REALTIME, 1000);
    if (!there || since > at) return NOT_FOUND;
    if (!out || *count < (unsigned)there) { *count = there; return INSUFFICIENT_SIZE; }
    for (int n = 0; n < there; n++) out[n] = (sample){found[n].pid, at, found[n].percent, 0, 0, 0};
    *count = there;
    return SUCCESS;
}
int nvmlDeviceGetAccountingMode(handle device, unsigned *out) { SUPPORTED; *out = 1; return SUCCESS; }
int nvmlDeviceGetAccountingStats(handle device, unsigned pid, account *out) {
    line found[64];
    int there = lines_of(device, found);
    memset(out, 0, sizeof *out);
    for (int n = 0; n < there; n++)
        if (found[n].pid == pid) { out->gpu = found[n].percent / 2; return SUCCESS; }
    return NOT_FOUND;
}
