/* tw_tflm.h - the calls of TensorFlow Lite for Microcontrollers, for applications that were written for its interpreter.
 * The same for all networks; NETWORK_tflm.h includes it. C++11, header only, nothing of the C++ library.
 *
 * What tilewright wrote here is yours: use, change and ship it, without conditions and without warranty.
 */
#ifndef TW_TFLM_H
#define TW_TFLM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tw_runtime.h"

#define TFLITE_SCHEMA_VERSION (3)

enum TfLiteStatus { kTfLiteOk = 0, kTfLiteError = 1 };

enum TfLiteType {
    kTfLiteNoType = 0,
    kTfLiteFloat32 = 1,
    kTfLiteInt32 = 2,
    kTfLiteUInt8 = 3,
    kTfLiteInt64 = 4,
    kTfLiteBool = 6,
    kTfLiteInt16 = 7,
    kTfLiteInt8 = 9,
    kTfLiteFloat16 = 10,
    kTfLiteFloat64 = 11,
    kTfLiteUInt64 = 13,
    kTfLiteUInt32 = 16,
    kTfLiteUInt16 = 17
};

union TfLitePtrUnion {
    void *data;
    char *raw;
    bool *b;
    float *f;
    double *f64;
    int8_t *int8;
    uint8_t *uint8;
    int16_t *i16;
    uint16_t *ui16;
    int32_t *i32;
    uint32_t *u32;
    int64_t *i64;
    uint64_t *u64;
};

struct TfLiteIntArray {
    int size;
    const int *data;
};

struct TfLiteQuantizationParams {
    float scale; /* real = scale * (stored - zero_point); 0 where a tensor is not quantised as a whole */
    int32_t zero_point;
};

struct TfLiteTensor {
    TfLiteQuantizationParams params;
    TfLitePtrUnion data;
    TfLiteIntArray *dims;
    size_t bytes;
    TfLiteType type;
    bool is_variable;
};

/* What applications check and print with. */
inline void MicroPrintf(const char *format, ...)
{
    va_list words;

    va_start(words, format);
    vprintf(format, words);
    va_end(words);
    printf("\n");
}

#define TF_LITE_REPORT_ERROR(reporter, ...) MicroPrintf(__VA_ARGS__)
#define TF_LITE_ENSURE_STATUS(call)        \
    do {                                   \
        const TfLiteStatus tw_now = (call); \
        if (tw_now != kTfLiteOk) {         \
            return tw_now;                 \
        }                                  \
    } while (0)
#define TFLITE_CHECK(holds) ((holds) ? static_cast<void>(0) : abort())
#define TFLITE_CHECK_EQ(a, b) TFLITE_CHECK((a) == (b))
#define TFLITE_CHECK_NE(a, b) TFLITE_CHECK((a) != (b))
#define TFLITE_CHECK_GE(a, b) TFLITE_CHECK((a) >= (b))
#define TFLITE_CHECK_GT(a, b) TFLITE_CHECK((a) > (b))
#define TFLITE_CHECK_LE(a, b) TFLITE_CHECK((a) <= (b))
#define TFLITE_CHECK_LT(a, b) TFLITE_CHECK((a) < (b))

/* An input or output, as the plan has it. */
struct tw_tflm_row {
    TfLiteType type;
    int rank;
    const int *dims;
    size_t bytes;
    float scale;
    int32_t zero_point;
};

/* Where an interpreter keeps one. */
struct tw_tflm_tensor {
    TfLiteTensor tensor;
    TfLiteIntArray dims;
};

/* Bytes of an arena that is aligned to 16. */
#define TW_TFLM_UP(bytes) ((static_cast<size_t>(bytes) + 15u) & ~static_cast<size_t>(15u))
#define TW_TFLM_ARENA(pool, state, context, tensors) \
    (TW_TFLM_UP(pool) + TW_TFLM_UP(state) + TW_TFLM_UP(context) + TW_TFLM_UP((tensors) * sizeof(tw_tflm_tensor)))

namespace tflite {

/* A network: NETWORK_tflm.h has it in place of the bytes of a file. Members are private. */
struct Model {
    static constexpr uint32_t kMark = 0x7466776cu; /* no file of the format begins with it */

    uint32_t mark;
    size_t inputs, outputs; /* counts */
    const tw_tflm_row *rows;
    size_t pool_bytes, pool_align, state_bytes, state_align, context_bytes;
    tw_status (*prepare)(void *context, void *pool, void *state);
    tw_status (*run)(void *context);
    tw_status (*reset)(void *context);
    void *(*place)(void *pool, size_t index); /* of an input or output */

    uint32_t version() const { return mark == kMark ? TFLITE_SCHEMA_VERSION : 0; }
};

/* `data` is the network of NETWORK_tflm.h. Of the bytes of a file the version is 0. */
inline const Model *GetModel(const void *data) { return static_cast<const Model *>(data); }

inline void InitializeTarget() {}

/* Names that say which kernels an interpreter links. They change nothing: the plan has its kernels. */
struct TFLMRegistration {};

#define TW_TFLM_FOR_KERNELS(X)                                                                                        \
    X(ADD_INT8) X(ADD_INT16) X(AVERAGE_POOL_2D_INT8) X(AVERAGE_POOL_2D_INT16) X(BATCH_MATMUL_INT8) X(CONV_2D_INT4)    \
    X(CONV_2D_INT8) X(CONV_2D_INT16) X(DEPTHWISE_CONV_2D_INT4) X(DEPTHWISE_CONV_2D_INT8) X(DEPTHWISE_CONV_2D_INT16)   \
    X(FULLY_CONNECTED_INT4) X(FULLY_CONNECTED_INT8) X(FULLY_CONNECTED_INT16) X(MAX_POOL_2D_INT8)                      \
    X(MAX_POOL_2D_INT16) X(MUL_INT8) X(SOFTMAX_INT8) X(SOFTMAX_INT8_INT16) X(SOFTMAX_INT16) X(SVDF_INT8)              \
    X(TRANSPOSE_CONV_INT8) X(UNIDIRECTIONAL_SEQUENCE_LSTM_INT16)
#define TW_TFLM_KERNEL(name) \
    inline TFLMRegistration Register_##name() { return TFLMRegistration(); }
TW_TFLM_FOR_KERNELS(TW_TFLM_KERNEL)

struct MicroOpResolver {};
struct AllOpsResolver : MicroOpResolver {};

#define TW_TFLM_FOR_OPERATORS(X)                                                                                      \
    X(Abs) X(Add) X(AddN) X(ArgMax) X(ArgMin) X(AssignVariable) X(AveragePool2D) X(BatchMatMul) X(BatchToSpaceNd)     \
    X(BroadcastArgs) X(BroadcastTo) X(CallOnce) X(Cast) X(Ceil) X(CircularBuffer) X(Concatenation) X(Conv2D) X(Cos)   \
    X(CumSum) X(Custom) X(Decode) X(Delay) X(DepthToSpace) X(DepthwiseConv2D) X(Dequantize) X(DetectionPostprocess)   \
    X(Div) X(DynamicUpdateSlice) X(Elu) X(EmbeddingLookup) X(Energy) X(Equal) X(EthosU) X(Exp) X(ExpandDims)          \
    X(FftAutoScale) X(Fill) X(FilterBank) X(FilterBankLog) X(FilterBankSpectralSubtraction) X(FilterBankSquareRoot)   \
    X(Floor) X(FloorDiv) X(FloorMod) X(Framer) X(FullyConnected) X(Gather) X(GatherNd) X(Greater) X(GreaterEqual)     \
    X(HardSwish) X(If) X(Irfft) X(L2Normalization) X(L2Pool2D) X(LeakyRelu) X(Less) X(LessEqual) X(Log)               \
    X(LogSoftmax) X(LogicalAnd) X(LogicalNot) X(LogicalOr) X(Logistic) X(MaxPool2D) X(Maximum) X(Mean) X(Minimum)     \
    X(MirrorPad) X(Mul) X(Neg) X(NotEqual) X(OverlapAdd) X(PCAN) X(Pack) X(Pad) X(PadV2) X(Prelu) X(Quantize)         \
    X(ReadVariable) X(ReduceAll) X(ReduceMax) X(ReduceMin) X(Relu) X(Relu6) X(Reshape) X(ResizeBilinear)              \
    X(ResizeNearestNeighbor) X(ReverseV2) X(Rfft) X(Round) X(Rsqrt) X(SelectV2) X(Shape) X(Sin) X(Slice) X(Softmax)   \
    X(SpaceToBatchNd) X(SpaceToDepth) X(Split) X(SplitV) X(Sqrt) X(Square) X(SquaredDifference) X(Squeeze)            \
    X(Stacker) X(StridedSlice) X(Sub) X(Sum) X(Svdf) X(Tanh) X(Transpose) X(TransposeConv)                            \
    X(UnidirectionalSequenceLSTM) X(Unpack) X(VarHandle) X(While) X(Window) X(ZerosLike)
#define TW_TFLM_OPERATOR(name)             \
    template <typename... Registration>    \
    TfLiteStatus Add##name(Registration...) \
    {                                      \
        return kTfLiteOk;                  \
    }

/* Takes every operator: which of them the network has was settled when it was compiled. */
template <unsigned int Count>
struct MicroMutableOpResolver : MicroOpResolver {
    TW_TFLM_FOR_OPERATORS(TW_TFLM_OPERATOR)
};

/* Bytes for the interpreters of one arena, one after the other. */
class MicroAllocator {
public:
    MicroAllocator(uint8_t *arena, size_t size) : at_(arena), left_(size) {}

    /* It lives at the start of the arena. NULL: that is too small. */
    static MicroAllocator *Create(uint8_t *arena, size_t size)
    {
        MicroAllocator whole(arena, size);
        void *place = whole.Take(sizeof(MicroAllocator), 16);

        if (place != nullptr) {
            *static_cast<MicroAllocator *>(place) = whole;
        }
        return static_cast<MicroAllocator *>(place);
    }

    /* `align` is a power of 2. NULL: there are not so many bytes. */
    void *Take(size_t bytes, size_t align)
    {
        const size_t skipped = (align - reinterpret_cast<uintptr_t>(at_) % align) % align;
        void *found = at_ + skipped;

        if (bytes > left_ || skipped > left_ - bytes) {
            return nullptr;
        }
        at_ += skipped + bytes;
        left_ -= skipped + bytes;
        return found;
    }

private:
    uint8_t *at_;
    size_t left_;
};

/* Variables are in the state of the network, which is part of the interpreter's arena. */
struct MicroResourceVariables {
    static MicroResourceVariables *Create(MicroAllocator *allocator, int)
    {
        return static_cast<MicroResourceVariables *>(allocator->Take(sizeof(MicroResourceVariables), 16));
    }
};

template <typename Element>
Element *GetTensorData(TfLiteTensor *tensor)
{
    return tensor != nullptr ? static_cast<Element *>(tensor->data.data) : nullptr;
}

template <typename Element>
const Element *GetTensorData(const TfLiteTensor *tensor)
{
    return tensor != nullptr ? static_cast<const Element *>(tensor->data.data) : nullptr;
}

/* One network in an arena. The arena and the network must stay. */
class MicroInterpreter {
public:
    MicroInterpreter(const Model *model, const MicroOpResolver &, uint8_t *arena, size_t size,
                     const void * /* variables */ = nullptr, const void * /* profiler */ = nullptr, bool = false)
        : model_(model), own_(arena, size), allocator_(&own_)
    {
    }

    MicroInterpreter(const Model *model, const MicroOpResolver &, MicroAllocator *allocator,
                     const void * /* variables */ = nullptr, const void * /* profiler */ = nullptr)
        : model_(model), own_(nullptr, 0), allocator_(allocator)
    {
    }

    MicroInterpreter(const MicroInterpreter &) = delete;
    MicroInterpreter &operator=(const MicroInterpreter &) = delete;

    /* kTfLiteError: the arena is smaller than `arena_used_bytes`, or the model is the bytes of a file. */
    TfLiteStatus AllocateTensors()
    {
        if (tensors_ != nullptr) {
            return kTfLiteOk;
        }
        if (model_ == nullptr || model_->version() == 0) {
            return kTfLiteError;
        }
        const size_t count = model_->inputs + model_->outputs;
        void *pool = allocator_->Take(TW_TFLM_UP(model_->pool_bytes), model_->pool_align);
        void *state = allocator_->Take(TW_TFLM_UP(model_->state_bytes), model_->state_align);
        context_ = allocator_->Take(TW_TFLM_UP(model_->context_bytes), 16);
        void *tensors = allocator_->Take(TW_TFLM_UP(count * sizeof(tw_tflm_tensor)), 16);

        if (pool == nullptr || state == nullptr || context_ == nullptr || tensors == nullptr ||
            model_->prepare(context_, pool, state) != TW_OK || model_->reset(context_) != TW_OK) {
            return kTfLiteError;
        }
        tensors_ = static_cast<tw_tflm_tensor *>(tensors);
        Describe(pool, count);
        return kTfLiteOk;
    }

    TfLiteStatus Invoke() { return Done(tensors_ != nullptr ? model_->run(context_) : TW_ERR_STATE); }

    /* Variables and states are what they were at first. */
    TfLiteStatus Reset() { return Done(tensors_ != nullptr ? model_->reset(context_) : TW_ERR_STATE); }

    TfLiteStatus initialization_status() const
    {
        return model_ != nullptr && model_->version() != 0 ? kTfLiteOk : kTfLiteError;
    }

    size_t inputs_size() const { return model_->inputs; }
    size_t outputs_size() const { return model_->outputs; }

    /* NULL: there is none, or AllocateTensors comes first. */
    TfLiteTensor *input(size_t index) { return index < inputs_size() ? Tensor(index) : nullptr; }
    TfLiteTensor *output(size_t index) { return index < outputs_size() ? Tensor(inputs_size() + index) : nullptr; }
    TfLiteTensor *input_tensor(size_t index) { return input(index); }
    TfLiteTensor *output_tensor(size_t index) { return output(index); }

    template <typename Element>
    Element *typed_input_tensor(int index)
    {
        return GetTensorData<Element>(input(static_cast<size_t>(index)));
    }

    template <typename Element>
    Element *typed_output_tensor(int index)
    {
        return GetTensorData<Element>(output(static_cast<size_t>(index)));
    }

    /* Of an arena that is aligned to 16: what the network needs, also where the arena is too small. */
    size_t arena_used_bytes() const
    {
        const size_t tensors = model_->inputs + model_->outputs;
        return TW_TFLM_ARENA(model_->pool_bytes, model_->state_bytes, model_->context_bytes, tensors);
    }

private:
    static TfLiteStatus Done(tw_status status) { return status == TW_OK ? kTfLiteOk : kTfLiteError; }

    TfLiteTensor *Tensor(size_t index) { return tensors_ != nullptr ? &tensors_[index].tensor : nullptr; }

    void Describe(void *pool, size_t count)
    {
        for (size_t i = 0; i < count; ++i) {
            const tw_tflm_row &row = model_->rows[i];
            tw_tflm_tensor &made = tensors_[i];

            made.dims.size = row.rank;
            made.dims.data = row.dims;
            made.tensor.params.scale = row.scale;
            made.tensor.params.zero_point = row.zero_point;
            made.tensor.dims = &made.dims;
            made.tensor.bytes = row.bytes;
            made.tensor.type = row.type;
            made.tensor.is_variable = false;
            made.tensor.data.data = model_->place(pool, i);
        }
    }

    const Model *model_;
    MicroAllocator own_;
    MicroAllocator *allocator_;
    void *context_ = nullptr;
    tw_tflm_tensor *tensors_ = nullptr;
};

} /* namespace tflite */

#endif
