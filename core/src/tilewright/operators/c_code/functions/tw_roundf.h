#pragma once
#include "tw_truncf.h"
#include "../prelude.h"
#include <stdint.h>

/* The nearest integer, halves to the even one. */
TW_KERNEL float tw_roundf(float x)
{
    const float whole = tw_truncf(x);
    const float rest = x - whole;
    const float size = (rest < 0.0f) ? -rest : rest;
    if (!(size >= 0.5f)) {
        return whole;
    }
    const int32_t odd = (int32_t)whole & 1;
    if ((size > 0.5f) || (odd != 0)) {
        return (rest < 0.0f) ? (whole - 1.0f) : (whole + 1.0f);
    }
    return whole;
}
