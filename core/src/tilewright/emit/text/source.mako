${banner(f"{p}.c", "steps and the context API" if kernels_header else "kernels, steps and the context API")}
% if program.licences and not kernels_header:
${licences}
% endif
#include "${p}.h"
% if program.team:
#include "tw_rt.h"
% endif
% if kernels_header:
#include "${kernels_header}"
% endif

% for name in includes:
#include ${name}
% endfor

/* What this file demands of the compiler and the machine. */
#if CHAR_BIT != 8
#  error "bytes must have 8 bits"
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#  error "the constants are little endian"
#endif
% if program.uses_float:
#if FLT_EVAL_METHOD == 1 || FLT_EVAL_METHOD == 2
#  error "float must be evaluated as float (on 32-bit x86: -msse2 -mfpmath=sse)"
#endif
_Static_assert(sizeof(float) == 4u, "float must have 32 bits");
% endif
_Static_assert((-1 >> 1) == -1, "right shift of negative numbers must be arithmetic");
% if program.team:
#if TW_RT_API_LEVEL < 1
#  error "${p}.c needs a tw_rt.h of API level 1 or later"
#endif
% for pool in program.pools:
% if limits[pool.base] is not None:
${asserted(f"{P}_POOL_{pool.base.upper()}_SIZE <= {limits[pool.base]}u", f"{pool.base} is larger than planned")}
% endif
% endfor
% endif
% for port in ports:
${asserted(f"{port.macro}_SIZE == ({port.macro}_ELEMENTS * sizeof({port.type}))", f"size of {port.member}")}
% endfor

#ifndef TW_STEP /* never inlined: a profiler sees every step, and stack frames do not add up */
#  if defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)
#    define TW_STEP static __attribute__((noipa)) /* gcc 12 for Arm takes copying loops for pure, and drops them */
#  elif defined(__GNUC__)
#    define TW_STEP static __attribute__((noinline))
#  else
#    define TW_STEP static
#  endif
#endif
% if sharing:
#ifndef TW_SHARED /* a function of several steps, or of the rows of one: never inlined, either */
#  define TW_SHARED TW_STEP
#endif
% endif
% if lifetimes:
#ifdef TW_LIFETIMES_HEADER /* a header that defines the two macros below */
#  include TW_LIFETIMES_HEADER
#endif
#ifndef TW_LIVE
#  define TW_LIVE(pointer, bytes) ((void)0)
#endif
#ifndef TW_DEAD
#  define TW_DEAD(pointer, bytes) ((void)0)
#endif
% endif
% if program.constants:

% if constants_linked:
#ifdef ${P}_NO_LINKED_CONSTANTS
% for pool in program.constants:
#  define ${P}_LINKED_${pool.base.upper()} NULL
% endfor
#else
% for pool in program.constants:
#  define ${P}_LINKED_${pool.base.upper()} ${p}_const_${pool.base}
% endfor
#endif
% else:
% for pool in program.constants:
#define ${P}_LINKED_${pool.base.upper()} NULL
% endfor
% endif
% endif
% if memory_map:

/* ---- where buffers begin, in bytes from the beginning of their memory ---- */

enum {
% for line in memory_map:
    ${line}
% endfor
};
% endif
% if kernels and not kernels_header:

/* ---- kernels ---- */

${kernels}
% endif
% if program.steps:

/* ---- steps ---- */
% for text in steps:

${text}
% endfor
% endif

/* ---- interface ---- */
% if hooked:

% if program.team:
/* Core 0 calls the hook; every core learns its answer, and none goes on before all have read it. */
static int tw_on_step(${p}_ctx *ctx, uint32_t step, tw_phase phase)
{
#ifdef TW_NO_HOOKS
    (void)ctx;
    (void)step;
    (void)phase;
    return 0;
#else
    const tw_hooks *const hooks = ctx->hooks;
    int answer;
    if ((hooks == NULL) || (hooks->on_step == NULL)) {
        return 0;
    }
    tw_rt_barrier();
    if (tw_rt_core() == 0u) {
        ctx->answer = hooks->on_step(hooks->user, step, phase);
    }
    tw_rt_barrier();
    answer = ctx->answer;
    tw_rt_barrier();
    return answer;
#endif
}
% else:
static int tw_on_step(const ${p}_ctx *ctx, uint32_t step, tw_phase phase)
{
#ifdef TW_NO_HOOKS
    (void)ctx;
    (void)step;
    (void)phase;
    return 0;
#else
    const tw_hooks *const hooks = ctx->hooks;
    return ((hooks != NULL) && (hooks->on_step != NULL)) ? hooks->on_step(hooks->user, step, phase) : 0;
#endif
}
% endif
% endif
% if copied:

% if program.team:
/* Every core copies its part. */
static void tw_copy_tensor(void *target, const void *source, size_t bytes)
{
    const size_t part = ((bytes / tw_rt_cores()) + 16u) / 16u * 16u;
    const size_t begin = tw_rt_core() * part;
    if ((target != NULL) && (source != NULL) && (target != source) && (begin < bytes)) {
        const size_t left = bytes - begin;
        (void)memcpy((uint8_t *)target + begin, (const uint8_t *)source + begin, (left < part) ? left : part);
    }
}
% else:
static void tw_copy_tensor(void *target, const void *source, size_t bytes)
{
    if ((target != NULL) && (source != NULL) && (target != source)) {
        (void)memcpy(target, source, bytes);
    }
}
% endif
% endif
% if unreachable:

/* Between the caller's memory and one that no core can read or write. */
static void tw_send_tensor(void *target, const void *source, uint32_t bytes)
{
    for (uint32_t at = 0; (target != NULL) && (source != NULL) && (target != source) && (at < bytes); at += ${most_bytes}u) {
        const uint32_t part = bytes - at < ${most_bytes}u ? bytes - at : ${most_bytes}u;
        tw_rt_wait(tw_rt_copy((uint8_t *)target + at, (const uint8_t *)source + at, part, 1u, part, part));
    }
}
% endif
% if aligned:

static int tw_misaligned(const void *pointer, uintptr_t align)
{
    return ((uintptr_t)pointer % align) != 0u;
}
% endif
% if any(pool.base not in unreachable_bases for pool in program.constants):

static tw_status tw_check_constants(const void *blob, uint32_t size_bytes, uintptr_t align)
{
    uint32_t header[2];
    if (blob == NULL) {
        return TW_ERR_ARG;
    }
    if (tw_misaligned(blob, align) != 0) {
        return TW_ERR_ALIGN;
    }
    (void)memcpy(header, blob, sizeof header);
    ${broken(1, f"return ((header[0] == {P}_PLAN_ID) && (header[1] == size_bytes))", "? TW_OK : TW_ERR_PLAN;")}
}
% endif

${head("tw_status", f"{p}_init", [f"{p}_ctx *ctx", f"const {p}_pools *pools", "void *state", f"const {p}_constants *constants", "const tw_hooks *hooks"])}
{
% if any(pool.base not in unreachable_bases for pool in program.constants):
    tw_status status;
% endif
    if (ctx == NULL) {
        return TW_ERR_ARG;
    }
    ctx->plan = 0u;
    ctx->state = state;
    ctx->hooks = hooks;
% if program.team:
    ctx->answer = 0;
% endif
% if program.pools:
    if (pools == NULL) {
        return TW_ERR_ARG;
    }
    ctx->pools = *pools;
% else:
    (void)pools;
    ctx->pools.none = NULL;
% endif
% for pool in program.pools:
    if (pools->${pool.base} == NULL) {
        return TW_ERR_ARG;
    }
    if (tw_misaligned(pools->${pool.base}, ${P}_POOL_${pool.base.upper()}_ALIGN) != 0) {
        return TW_ERR_ALIGN;
    }
% endfor
% if program.state_bytes:
    if (state == NULL) {
        return TW_ERR_ARG;
    }
    if (tw_misaligned(state, ${P}_STATE_ALIGN) != 0) {
        return TW_ERR_ALIGN;
    }
% endif
% for pool in program.constants:
    ctx->constants.${pool.base} = ${P}_LINKED_${pool.base.upper()};
    if ((constants != NULL) && (constants->${pool.base} != NULL)) {
        ctx->constants.${pool.base} = constants->${pool.base};
    }
% if pool.base in unreachable_bases:
    if (ctx->constants.${pool.base} == NULL) { /* no core can read them: whether they are of this plan is not checked */
        return TW_ERR_ARG;
    }
    if (tw_misaligned(ctx->constants.${pool.base}, ${P}_CONST_${pool.base.upper()}_ALIGN) != 0) {
        return TW_ERR_ALIGN;
    }
% else:
    status = tw_check_constants(ctx->constants.${pool.base}, ${P}_CONST_${pool.base.upper()}_SIZE,
                                ${P}_CONST_${pool.base.upper()}_ALIGN);
    if (status != TW_OK) {
        return status;
    }
% endif
% endfor
% if not program.constants:
    (void)constants;
    ctx->constants.none = NULL;
% endif
% if initial:
${initial}
% endif
% if streamed:
    ctx->phase = 0;
% endif
    ctx->plan = ${P}_PLAN_ID;
    return TW_OK;
}

${run}

tw_status ${p}_reset_state(${p}_ctx *ctx)
{
    if (ctx == NULL) {
        return TW_ERR_ARG;
    }
    if (ctx->plan != ${P}_PLAN_ID) {
        return TW_ERR_STATE;
    }
% if program.state_bytes:
    (void)memset(ctx->state, 0, ${P}_STATE_SIZE);
% for one in program.state_initialisers:
    (void)memcpy((uint8_t *)ctx->state + ${one.offset},
                 (const uint8_t *)ctx->constants.${one.pool} + ${one.source}, ${one.size_bytes}u);
% endfor
% endif
    return TW_OK;
}
% if mapped:

${head(f"{p}_mapped_inputs", f"{p}_map_inputs", [f"const {p}_pools *pools"])}
{
    ${p}_mapped_inputs mapped;
% if not placed_inputs:
    (void)pools;
% endif
% for port in inputs:
    mapped.${port.member} = NULL;
% if port.placed:
    if ((pools != NULL) && (pools->${port.pool} != NULL)) {
        ${assigned(2, f"mapped.{port.member}", port.mapped)}
    }
% endif
% endfor
% if not inputs:
    mapped.none = NULL;
% endif
    return mapped;
}

${head(f"{p}_outputs", f"{p}_map_outputs", [f"const {p}_pools *pools"])}
{
    ${p}_outputs mapped;
% if not placed_outputs:
    (void)pools;
% endif
% for port in outputs:
    mapped.${port.member} = NULL;
% if port.placed:
    if ((pools != NULL) && (pools->${port.pool} != NULL)) {
        ${assigned(2, f"mapped.{port.member}", port.mapped)}
    }
% endif
% endfor
% if not outputs:
    mapped.none = NULL;
% endif
    return mapped;
}
% endif
% if names_table:

${names_table}
% endif
