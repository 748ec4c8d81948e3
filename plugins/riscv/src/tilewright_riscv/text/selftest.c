/* The self-test of the network, on every core of the cluster at once: exit status 0 is right. Yours to change. */
#include "metal.h"

#define main self_test
#include "../${prefix}_selftest.c"
#undef main

int main(void)
{
    const int status = tw_cluster_run(self_test);
    tw_say(status ? "FAIL\n" : "PASS\n");
    return status;
}
