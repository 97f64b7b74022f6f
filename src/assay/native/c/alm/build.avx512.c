#define BUILD build_avx512
#include "build.h"
