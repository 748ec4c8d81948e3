"""What the user asks for: options, boards, pools, pins, patterns of names. Does not know what is made of it."""
