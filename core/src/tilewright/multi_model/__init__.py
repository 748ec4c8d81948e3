"""Several networks in one program. Does not know how any one of them is planned."""
