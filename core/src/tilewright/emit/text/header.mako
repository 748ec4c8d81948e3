${banner(f"{p}.h", "sizes, types and functions")}
#ifndef ${P}_H
#define ${P}_H

#include "tw_runtime.h"

#if TW_API_LEVEL < ${api_level}
#  error "${p}.h needs a tw_runtime.h of API level ${api_level} or later"
#endif

#define ${P}_GENERATOR "${generator}"
#define ${P}_TARGET "${target}"
#define ${P}_PLAN_ID ${plan}
#define ${P}_STEP_COUNT ${len(program.steps)}u

/* Memory, in bytes, exact. */
% for pool in program.pools:
#define ${P}_POOL_${pool.base.upper()}_SIZE ${pool.size_bytes}u
#define ${P}_POOL_${pool.base.upper()}_ALIGN ${pool.align}u
% endfor
% for pool in program.constants:
#define ${P}_CONST_${pool.base.upper()}_SIZE ${pool.size_bytes}u
#define ${P}_CONST_${pool.base.upper()}_ALIGN ${max(pool.align, 16)}u
% endfor
#define ${P}_STATE_SIZE ${program.state_bytes}u
#define ${P}_STATE_ALIGN ${state_align}u

% for port in ports:
/* ${port.sentence} */
#define ${port.macro}_ELEMENTS ${port.elements}u
#define ${port.macro}_SIZE ${port.size_bytes}u
#define ${port.macro}_ALIGN ${port.align}u
#define ${port.macro}_NDIM ${len(port.shape)}u
% if port.shape:
#define ${port.macro}_SHAPE {${", ".join(map(str, port.shape))}}
% endif
% if port.rows:
#define ${port.macro}_ROWS ${port.rows.count}u
#define ${port.macro}_ROW_ELEMENTS ${port.elements // port.rows.count}u
#define ${port.macro}_ROW_SIZE ${port.rows.size_bytes}u
#define ${port.macro}_ROW_PIECES ${port.rows.blocks}u
% endif
% if port.scale:
#define ${port.macro}_SCALE ${port.scale}
#define ${port.macro}_ZERO_POINT ${port.zero_point}
% endif

% endfor
#ifdef __cplusplus
extern "C" {
#endif

/* Where each memory is. */
typedef struct {
% for pool in program.pools:
    void *${pool.base};
% endfor
% if not program.pools:
    void *none; /* ignored: no memory is needed */
% endif
} ${p}_pools;

/* Where the constants are. A NULL member means those that are linked into the program. */
typedef struct {
% for pool in program.constants:
    const void *${pool.base};
% endfor
% if not program.constants:
    const void *none; /* ignored: there are no constants */
% endif
} ${p}_constants;

typedef struct {
% for port in inputs:
    const ${port.type} *${port.member};
% endfor
% if not inputs:
    const void *none; /* ignored: there are no inputs */
% endif
} ${p}_inputs;

typedef struct {
% for port in outputs:
    ${port.type} *${port.member};
% endfor
% if not outputs:
    void *none; /* ignored: there are no outputs */
% endif
} ${p}_outputs;
% if mapped:

/* Where inputs that live in the pools can be written. */
typedef struct {
% for port in inputs:
    ${port.type} *${port.member};
% endfor
% if not inputs:
    void *none;
% endif
} ${p}_mapped_inputs;
% endif

/* One network ready to run. Members are private. */
typedef struct {
    ${p}_pools pools;
    ${p}_constants constants;
    void *state;
    const tw_hooks *hooks;
    uint32_t plan;
% if program.team:
    int answer;
% endif
% if streamed:
    ${p}_inputs inputs;
    ${p}_outputs outputs;
    tw_progress progress;
% if streamed_inputs:
    tw_arrival arrivals[${len(streamed_inputs)}];
% endif
% if streamed_outputs:
    tw_departure departures[${len(streamed_outputs)}];
% endif
    int phase;
% endif
} ${p}_ctx;

% if constants_linked:
% for pool in program.constants:
${array("extern const uint8_t", f"{p}_const_{pool.base}", f"{P}_CONST_{pool.base.upper()}_SIZE", ";")}
% endfor

% endif
% if program.team:
/* Cores: one core prepares the context, then every core of the team (DMA cores included) calls the function that runs
 * the network with the same arguments. Core 0 copies inputs and outputs and calls the hooks; the others only take part
 * in the work. Every core returns the same status. tw_rt.h says what the machine must provide.
 */
% endif
/* Threads: one context is used by one thread at a time. Contexts whose pools and states are disjoint may run at the
 * same time. Pools hold nothing between two runs, mapped inputs and outputs excepted, so networks that never run at
 * the same time may share them.
% for pool in program.pools:
% if pool.copies:
 * Not so `${pool.base}`: ${p}_init copies constants there, which stay.
% endif
% endfor
 */

/* Prepare a context. `state` may be NULL if its size is 0; `constants` NULL takes the linked ones; `hooks` may be NULL.
 * The structs are copied; the memory that they point to, and the hooks, must stay.
 */
${head("tw_status", f"{p}_init", [f"{p}_ctx *ctx", f"const {p}_pools *pools", "void *state", f"const {p}_constants *constants", "const tw_hooks *hooks"], ";")}

% if streamed:
/* One inference that passes in rows:
 *
% for port, how in (*((port, "arrives") for port in streamed_inputs), *((port, "is taken") for port in streamed_outputs)):
 *   `${port.member}` ${how} in ${port.rows.count} rows of ${port.rows.size_bytes} bytes\
% if port.rows.blocks > 1:
, each ${port.rows.blocks} pieces of ${port.rows.piece_bytes}, one of each plane, plane after plane\
% endif

% endfor
 *
 * ..._begin takes what ..._run takes, without these, and may be called at any time. It and the functions below compute
 * all that can be computed, and say what comes next: TW_MORE, push rows of an input; TW_READY, pull rows of an output;
 * TW_OK, all is done. TW_BLOCKED says that no row was moved, because that comes first. A call is done with the caller's
 * rows when it returns. Of several rows it moves as many as it can: the count since ..._begin is what
 * ${"..._pushed_... and ..._pulled_..." if several_streamed_inputs or several_streamed_outputs else "the last functions"} return.
% if several_streamed_inputs:
 *
 * Inputs come next in this order. Rows can be pushed as soon as there is room for them, and ..._room_... says for how
 * many of an input there is now:
 *
% for number, turn in enumerate(wanted, 1):
 *   ${number}. ${turn}
% endfor
% endif
% if several_streamed_outputs:
 *
 * TW_READY does not say of which output: ..._ready_... says how many rows of one can be pulled now.
% endif
% if several_streamed_inputs or several_streamed_outputs:
 *
% endif
 * Pools, other inputs and outputs must be left alone from ..._begin to TW_OK.
 */
${head("tw_status", f"{p}_begin", [f"{p}_ctx *ctx", f"const {p}_inputs *inputs", f"const {p}_outputs *outputs"], ";")}
% for port in streamed_inputs:
${head("tw_status", f"{p}_push_{port.member}", [f"{p}_ctx *ctx", f"const {port.type} *rows", "uint32_t count"], ";")}
% endfor
% for port in streamed_outputs:
${head("tw_status", f"{p}_pull_{port.member}", [f"{p}_ctx *ctx", f"{port.type} *rows", "uint32_t count"], ";")}
% endfor
% for port in streamed_inputs:
${head("uint32_t", f"{p}_pushed_{port.member}", [f"const {p}_ctx *ctx"], ";")}
% endfor
% for port in streamed_outputs:
${head("uint32_t", f"{p}_pulled_{port.member}", [f"const {p}_ctx *ctx"], ";")}
% endfor
% for port in streamed_inputs if several_streamed_inputs else ():
${head("uint32_t", f"{p}_room_{port.member}", [f"const {p}_ctx *ctx"], ";")}
% endfor
% for port in streamed_outputs if several_streamed_outputs else ():
${head("uint32_t", f"{p}_ready_{port.member}", [f"const {p}_ctx *ctx"], ";")}
% endfor

/* The same at once: all inputs are there whole, and there is room for all outputs. */
% elif mapped:
/* One inference. NULL, a NULL member or a mapped address: that tensor is already in place, nothing is copied. */
% else:
/* One inference. Every member must be set; no tensor may overlap another. */
% endif
${head("tw_status", f"{p}_run", [f"{p}_ctx *ctx", f"const {p}_inputs *inputs", f"const {p}_outputs *outputs"], ";")}

% if program.state_bytes:
/* Put the state to its beginning: before the first run, at the beginning of a stream, and after a run that failed. The
 * state's bytes are the network's alone.
 */
% else:
/* Put the state to its beginning; needed once before the first run if its size is not 0. */
% endif
tw_status ${p}_reset_state(${p}_ctx *ctx);
% if mapped:

/* Addresses of inputs and outputs inside the pools: NULL for those that stay with the caller, and where the pools or
 * the member that is needed are NULL. */
${head(f"{p}_mapped_inputs", f"{p}_map_inputs", [f"const {p}_pools *pools"], ";")}
${head(f"{p}_outputs", f"{p}_map_outputs", [f"const {p}_pools *pools"], ";")}
% endif
% if simple:

/* The whole network as one function with memory of its own, a source file beside this one. Not reentrant. */
${head("tw_status", p, simple_parameters, ";")}
% endif

#ifdef __cplusplus
}
#endif

#endif
