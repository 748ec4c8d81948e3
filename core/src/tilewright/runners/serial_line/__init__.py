"""A board at the end of a serial line: frames, the questions that firmware answers, and two runners that ask them."""
