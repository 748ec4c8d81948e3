/* Ends of the network that rows pass: calls that cannot be completed wait, and are made again. Whether there is a call to
 * make, at `order[progress->at + 2 + progress->call]`, and nothing to wait for. */
TW_KERNEL int tw_goes_on(const tw_progress *progress, int32_t length)
{
    return (progress->waiting == 0) && (progress->at < length);
}

TW_KERNEL void tw_enters(tw_progress *progress)
{
    progress->entered = 1;
}

/* To the next call, unless this one waits. */
TW_KERNEL void tw_next_call(tw_progress *progress, const uint8_t *order)
{
    if ((progress->waiting != 0) || (++progress->call < order[progress->at + 1])) {
        return;
    }
    progress->call = 0;
    if (++progress->turn == order[progress->at]) {
        progress->turn = 0;
        progress->at += order[progress->at + 1] + 2;
    }
}

/* Where the call ends that is next, or was begun. */
TW_KERNEL int32_t tw_end_of_call(const tw_rows *rows, int32_t most, int32_t extent)
{
    const int32_t end = ((rows->made / most) + 1) * most;
    return (end < extent) ? end : extent;
}
