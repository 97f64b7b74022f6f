/* What went wrong with one request: the numbers of loadgen/http/http_client.py. */
#pragma once

enum fault {
    FAULT_NONE,
    FAULT_REFUSED,
    FAULT_RESET,
    FAULT_CLOSED,
    FAULT_CONNECT_TIMEOUT,
    FAULT_IDLE_TIMEOUT,
    FAULT_TOTAL_TIMEOUT,
    FAULT_STATUS_3XX,
    FAULT_STATUS_4XX,
    FAULT_STATUS_5XX,
    FAULT_CUT,
    FAULT_MALFORMED,
    FAULT_TOO_LARGE,
    FAULT_TLS,
    FAULT_CANCELLED,
    FAULT_UNFINISHED,
    FAULT_NEVER_SENT,
};
