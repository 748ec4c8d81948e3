<%doc>
Needs function, clip (see float_finish.c), sign (of the operation).
</%doc>\
/* y = clip(a ${sign} b), `count` times, four at a time: all are read before any is written. Pointers move by the steps. */
TW_KERNEL void ${function}(int32_t count, const float *a, int32_t a_step, const float *b, int32_t b_step, float *y,
        int32_t y_step, float low, float high)
{
    int32_t left = count;
% for step in (4, 1):
    for (; left >= ${step}; left -= ${step}) {
% for i in range(step):
        const float a${i} = a[${times(i, "a_step")}];
        const float b${i} = b[${times(i, "b_step")}];
% endfor
% for i in range(step):
        const float s${i} = tw_xp_f32_finish_${clip}(a${i} ${sign} b${i}, low, high);
% endfor
% for i in range(step):
        y[${times(i, "y_step")}] = s${i};
% endfor
        a += ${times(step, "a_step")};
        b += ${times(step, "b_step")};
        y += ${times(step, "y_step")};
    }
% endfor
}
