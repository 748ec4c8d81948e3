/* Without the fraction; what does not fit becomes the nearest that does; NaN becomes 0. */
TW_KERNEL ${target} ${convert}(float x)
{
    if (x >= ${above}) {
        return ${highest};
    }
    if (x > ${below}) {
        return (${target})x;
    }
    return x <= ${below} ? ${lowest} : (${target})0;
}
