"""How kernels are called and compared on this machine."""
