#define BUILD build_avx2
#include "build.h"
