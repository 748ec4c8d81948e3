"""Knows how any text becomes a safe C identifier or a safe comment, and which words are reserved.
Does not know what is being named.

Nothing that a model's author wrote reaches C in any other way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tilewright.errors import typed, usage_error

_KEYWORDS = """
alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool break case catch
char char8_t char16_t char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
constinit continue decltype default delete do double dynamic_cast else enum explicit export extern false far final
float for fortran friend goto huge if import inline int interrupt long module mutable namespace near new noexcept not
not_eq nullptr operator or or_eq override private protected public reflexpr register reinterpret_cast requires
restrict return short signed sizeof static static_assert static_cast struct switch synchronized template this
thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
wchar_t while xor xor_eq
"""
_LIBRARY = """
abort abs acos acosh aligned_alloc alloca asctime asin asinh assert atan atan2 atanh atexit atof atoi atol atoll
bsearch bcmp bcopy bzero calloc cbrt ceil clearerr clock close connect copysign cos cosh creat ctime difftime div
double_t dup environ erf erfc errno exec exit exp exp2 expm1 fabs fclose fdim feof ferror fflush fgetc fgetpos fgets
fileno float_t floor fma fmax fmin fmod fopen fork fprintf fputc fputs fread free freopen frexp fscanf fseek fsetpos
ftell fwrite gamma getc getchar getenv gets gmtime hypot ilogb index int8_t int16_t int32_t int64_t intptr_t
isalnum isalpha isblank iscntrl isdigit isfinite isgraph isinf islower isnan isprint ispunct isspace isupper isxdigit
j0 j1 jn jmp_buf kill labs ldexp ldiv lgamma link listen llabs lldiv llrint llround localeconv localtime log log10
log1p log2 logb longjmp lrint lround lseek main malloc max_align_t mblen mbstowcs mbtowc memchr memcmp memcpy memmove
memset mktime modf nan nearbyint nextafter nexttoward offsetof open pause perror pipe poll pow printf ptrdiff_t putc
putchar puts qsort quick_exit raise rand random read realloc recv remainder remove remquo rename rewind rint round
scalb scalbln scalbn scanf select send setbuf setjmp setlocale setvbuf sigaction signal significand sin sinh size_t
sleep snprintf socket sprintf sqrt srand srandom sscanf stat stderr stdin stdout strcat strchr strcmp strcoll strcpy
strcspn strdup strerror strftime strlen strncat strncmp strncpy strpbrk strrchr strspn strstr strtod strtof strtok
strtol strtold strtoll strtoul strtoull strxfrm sync system tan tanh tgamma time time_t times tmpfile tmpnam tolower
toupper trunc tzset uint8_t uint16_t uint32_t uint64_t uintptr_t ungetc unlink va_arg va_copy va_end va_list va_start
vfprintf vprintf vsnprintf vsprintf wait wcslen wcstombs wctomb write y0 y1 yn
"""
_MACROS = """
big_endian little_endian bufsiz char_bit complex domain eof i imaginary infinity huge_val linux i386 arm mips sparc
null overflow underflow pascal cdecl stdcall fastcall unix vax win32 windows min max pi m_pi noreturn overflow sing
small big rand_max signgam assert ndebug true false
decimal_dig exit_failure exit_success filename_max flt_eval_method flt_radix flt_rounds fopen_max fp_fast_fma
fp_fast_fmaf fp_fast_fmal fp_ilogb0 fp_ilogbnan fp_infinite fp_nan fp_normal fp_subnormal fp_zero huge_valf huge_vall
flt_snan dbl_snan ldbl_snan
l_ctermid l_tmpnam m_1_pi m_2_pi m_2_sqrtpi m_e m_ln10 m_ln2 m_log10e m_log2e m_pi_2 m_pi_4 m_sqrt1_2 m_sqrt2
math_errexcept math_errhandling math_errno mb_cur_max mb_len_max seek_cur seek_end seek_set tmp_max
"""
_INTEGERS = """
char schar uchar shrt ushrt int uint long ulong llong ullong ptrdiff sig_atomic size wchar wint
"""
_OF_FLOATS = """
decimal_dig dig epsilon has_subnorm mant_dig max max_10_exp max_exp min min_10_exp min_exp norm_max true_min
"""
_SIZES = ("8", "16", "32", "64")
_WIDTHS = (*_SIZES, *(f"_{kind}{size}" for kind in ("least", "fast") for size in _SIZES), "max", "ptr")
_WITH_LIMITS = (*_INTEGERS.split(), *(f"{sign}int{width}" for sign in ("", "u") for width in _WIDTHS))
_LIMITS = (
    *(f"{kind}_{end}" for kind in _WITH_LIMITS for end in ("max", "min")),
    *(f"{kind}_{what}" for kind in ("flt", "dbl", "ldbl") for what in _OF_FLOATS.split()),
)

RESERVED = frozenset((*f"{_KEYWORDS} {_LIBRARY} {_MACROS}".split(), *_LIMITS))


MAX_IDENTIFIER = 40  # characters; C11 promises 63 for internal and 31 for external names
MAX_COMMENT_WORD = 64
MAX_COMMENT_NAME = 1000  # characters: longer lines than C promises to read would not be far

_NOT_IDENTIFIER = re.compile(r"[^A-Za-z0-9]+")
_NOT_COMMENT = re.compile(r"[^A-Za-z0-9_./:;,()\[\]=+<> -]+")


def safe_identifier(text: str, fallback: str = "t") -> str:
    """A C and C++ identifier that looks like `text`: ASCII letters, digits and single underscores.

    It starts with a letter, is at most MAX_IDENTIFIER long and, in any case of its letters, is no keyword, library
    function or common macro. `fallback` begins names that would not start with a letter. Not unique.
    """
    words = [word for word in _NOT_IDENTIFIER.split(text) if word]
    name = "_".join(words)
    if not name[:1].isalpha() or words[0].lower() == "tw":
        name = f"{fallback}_{name}".rstrip("_")
    name = name[:MAX_IDENTIFIER].rstrip("_")
    return f"{name}_x" if name.lower() in RESERVED else name


def unique_identifiers(texts: Iterable[str], taken: Iterable[str] = (), fallback: str = "t") -> dict[str, str]:
    """Each text -> its identifier; no two differ only in the case of their letters, and none is in `taken`."""
    used = {name.lower() for name in taken}
    names: dict[str, str] = {}
    for text in dict.fromkeys(texts):
        name = stem = safe_identifier(text, fallback)
        count = 1
        while name.lower() in used:
            count += 1
            name = f"{stem}_{count}"
        used.add(name.lower())
        names[text] = name
    return names


def prefix_from_file(stem: str) -> str:
    """The prefix of every external name of a model, from its file name without the suffix. Lower case."""
    return safe_identifier(stem, fallback="net").lower()


def prefix_problem(prefix: str) -> str | None:
    """None, or why a prefix that the user chose cannot be one."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*", prefix):
        return "it must be letters, digits and single underscores, and start with a letter"
    if len(prefix) > MAX_IDENTIFIER:
        return f"it must be at most {MAX_IDENTIFIER} characters long"
    if prefix.lower() in RESERVED:
        return "it is a word of C, C++ or the standard library"
    if prefix.lower().startswith("tw_") or prefix.lower() == "tw":
        return "names that start with tw belong to tilewright"
    return None


def demand_prefix(prefix: str) -> None:
    """TilewrightError TW1004 (exit 2) for a prefix that C or the linker would not take."""
    problem = prefix_problem(prefix)
    if problem:
        raise usage_error(
            "TW1004",
            f"'{comment_text(prefix)}' cannot begin the names of the generated C: {problem}",
            fix=(typed("--name", prefix_from_file(prefix)),),
        )


def comment_text(text: str, most: int = MAX_COMMENT_WORD) -> str:
    """`text` with nothing in it that could end or change a C comment; longer ones than `most` lose their middle."""
    clean = re.sub("/{2,}", "/", _NOT_COMMENT.sub("_", text))
    half = most // 2 - 2
    return clean if len(clean) <= most else f"{clean[:half]}...{clean[-half:]}"


def comment_name(text: str) -> str:
    """The same for a name from the model, which stays whole, so that it can be searched."""
    return comment_text(text, MAX_COMMENT_NAME)
