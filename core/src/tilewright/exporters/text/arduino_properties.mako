name=${called}
version=${package.version}
author=${package.vendor}
maintainer=${package.vendor}
sentence=The network ${p} as C.
paragraph=Generated C: no interpreter, no heap.
category=Data Processing
url=${package.url or "https://example.com"}
architectures=*
includes=${p}.h
% if library.libraries:
precompiled=true
ldflags=${" ".join(f"-l:{name}" for name in library.libraries)}
% endif
