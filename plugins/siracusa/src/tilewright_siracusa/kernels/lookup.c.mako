<%doc>
Needs function, x_type and y_type.
</%doc>\
/* y = t[x], `count` times, eight at a time: all are read before any is written. Pointers move by the steps. */
TW_KERNEL void ${function}(int32_t count, const ${x_type} *x, int32_t x_step, const ${y_type} *t, ${y_type} *y,
        int32_t y_step)
{
    int32_t left = count;
% for step in (8, 1):
    for (; left >= ${step}; left -= ${step}) {
% for i in range(step):
        const ${x_type} x${i} = x[${times(i, "x_step")}];
% endfor
% for i in range(step):
        const ${y_type} t${i} = t[x${i}];
% endfor
% for i in range(step):
        y[${times(i, "y_step")}] = t${i};
% endfor
        x += ${times(step, "x_step")};
        y += ${times(step, "y_step")};
    }
% endfor
}
