"""Steps of a machine with one memory that are computed row by row: segments, line buffers, call schedules."""
